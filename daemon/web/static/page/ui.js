// The library of the page: texts, the API, the session, screen reader messages,
// club colors, rendering and the small pieces that all views share. It imports
// no view, and every view imports it.
import { html, svg, render, nothing } from "./lit-html.js";
import { t, label, language, ordinal, problemText, sentence, wrongOf } from "./ui.texts.js";
import { clubStyle } from "./ui.clubs.js";
export * from "./ui.texts.js";
export * from "./ui.clubs.js";

/** @typedef {import("./ui.texts.js").Key} Key */

// ---- the API

/** An error response of the API, or a network error (status 0). */
export class Problem extends Error {
  /** @param {number} status @param {any} body */
  constructor(status, body) {
    const code = body?.code ?? "offline";
    super(problemText({ code, detail: body?.detail || body?.title }));
    /** In the server's words, "" if the message says it. @type {string} */
    this.detail = label("problem", code, "") ? (body?.detail ?? "") : "";
    this.status = status;
    this.at = performance.now();
    /** @type {string} */ this.code = code;
    /** @type {Violation[]} */ this.errors = body?.errors ?? [];
  }
}

/** Encodes the values of an address. @param {TemplateStringsArray} raw @param {(string | number)[]} values */
export const url = (raw, ...values) => String.raw({ raw }, ...values.map(encodeURIComponent));

/** @param {unknown} err */
export const problemOf = (err) =>
  err instanceof Problem
    ? err
    : new Problem(-1, { detail: err instanceof Error ? err.message : String(err), code: "page" });

/**
 * Sends a request to the API with cookies as its only credentials. After a 401
 * it renews the session once and sends the request again.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {{ raw?: boolean }} [options] raw returns the Response instead of its JSON
 * @returns {Promise<any>}
 */
export async function api(method, path, body, options = {}) {
  let response = await send(method, path, body);
  if (response.status === 401 && mayHaveSession() && (await renewSession())) {
    response = await send(method, path, body);
  }
  if (!response.ok) {
    const problem = new Problem(response.status, await response.json().catch(() => null));
    if (response.status === 401 && session.me) session.set(null);
    throw problem;
  }
  if (options.raw) return response;
  return response.status === 204 ? null : response.json();
}

/** @param {string} method @param {string} path @param {unknown} [body] */
async function send(method, path, body) {
  try {
    const response = await fetch(path, {
      method,
      credentials: "include",
      headers: {
        ...(body !== undefined && { "Content-Type": body instanceof Blob ? body.type : "application/json" }),
        ...(session.me && !session.me.guest && { "Pressbox-Session": "required" }),
      }, // not a visitor's view
      body: body === undefined || body instanceof Blob ? body : JSON.stringify(body),
    });
    answered();
    return response;
  } catch {
    throw new Problem(0, null);
  }
}

let lastAnswer = 0;
/** The server has answered: what says that it does not, from before, is shown no longer. */
export const answered = () => {
  lastAnswer = performance.now();
};

/** Reports whether the server answers. */
export const answers = () =>
  send("HEAD", "/health").then(
    () => true,
    () => false,
  );

/**
 * Returns an object that runs requests and has the problem of the last one.
 * @param {() => void} update
 */
export function requests(update) {
  const state = {
    /** @type {Problem | null} */ problem: null,
    /**
     * Returns what send returns, undefined if it fails.
     * @template T
     * @param {() => Promise<T>} send
     * @returns {Promise<T | undefined>}
     */
    async run(send) {
      try {
        const result = await send();
        state.problem = null;
        return result;
      } catch (err) {
        state.problem = problemOf(err);
        return undefined;
      } finally {
        update();
      }
    },
  };
  return state;
}

/** Focuses a heading if the element that had the focus is gone. @param {string} id */
export const refocus = (id) =>
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) document.getElementById(id)?.focus();
  });

// ---- the session

/** @type {Promise<boolean> | null} */
let renewing = null;

/** Renews the session. Returns false if there is none. */
export function renewSession() {
  renewing ??= send("POST", "/api/auth/refresh")
    .then(
      (r) => r.ok,
      () => false,
    )
    .finally(() => {
      renewing = null;
    });
  return renewing;
}

/**
 * Reports whether this browser may have a session. Scripts cannot read the
 * cookies, so local storage remembers it; without local storage, it may.
 */
function mayHaveSession() {
  store("works", "yes");
  return stored("known", "no") === "yes" || stored("works", "no") === "no";
}

/**
 * Returns the account in the document, which the server knows by a cookie until
 * the access token expires; otherwise null.
 * @returns {Account | null}
 */
function accountInDocument() {
  try {
    return JSON.parse(meta("account"));
  } catch {
    return null;
  }
}

/** The account that is signed in: null if none is, undefined until that is known. */
export const session = {
  /** @type {Account | null | undefined} */ me: undefined,
  /** @type {Set<() => void>} */ listeners: new Set(),
  /** Begins with the account in the document; asks the server if the session may have to be renewed. */
  start() {
    const me = accountInDocument();
    if (me || !mayHaveSession()) this.set(me);
    else void this.load();
  },
  /** @param {Account | null} me */
  set(me) {
    if (this.me !== undefined && JSON.stringify(this.me) === JSON.stringify(me)) return;
    this.me = me;
    store("known", me ? "yes" : "no");
    for (const notify of this.listeners) notify();
  },
  /** Ends the session of a guest whose game is over. The view stays as it is. */
  forget() {
    this.me = null;
    store("known", "no");
  },
  async load() {
    try {
      this.set(await api("GET", "/api/auth/me"));
    } catch (err) {
      if (err instanceof Problem && err.status === 0 && this.me !== undefined) return;
      this.set(null);
    }
  },
};

/**
 * Returns the address that starts a sign-in and leads back to the given path.
 * @param {string} [to] @param {string} [invite]
 */
export const signInAddress = (to = location.pathname + location.search, invite = "") => {
  const back = encodeURIComponent(to.startsWith("/auth/") ? "/" : to);
  return `/api/auth/idp/login?return=${back}${invite && `&invite=${encodeURIComponent(invite)}`}`;
};

// ---- the document

/**
 * Returns a value that the server wrote into the document.
 * @param {"version" | "join" | "season" | "control" | "account" | "languages"} name
 */
export const meta = (name) => document.querySelector(`meta[name="pressbox-${name}"]`)?.getAttribute("content") ?? "";

/** Returns the address of a path for other people on this network. @param {string} path */
export const joinAddress = (path) => new URL(path, meta("join") || location.origin).href;

/** The season of clubs, rosters and statistics. */
export const season = Number(meta("season")) || 3;

/**
 * Returns a value that this browser has stored, or this tab.
 * @param {string} name @param {string} fallback @param {"localStorage" | "sessionStorage"} [where]
 */
export function stored(name, fallback, where = "localStorage") {
  try {
    return globalThis[where].getItem(`pressbox.${name}`) ?? fallback;
  } catch {
    return fallback;
  }
}

/** @param {string} name @param {string} value @param {"localStorage" | "sessionStorage"} [where] */
export function store(name, value, where = "localStorage") {
  try {
    globalThis[where].setItem(`pressbox.${name}`, value);
  } catch {
    /* a private window may have no storage */
  }
}

/**
 * Returns a module of the page. If it cannot be imported, either the server does not answer, a problem as that of a
 * request; or it was updated while the page was open and has newer files: the page is loaded again.
 * @template T
 * @param {Promise<T>} module
 * @returns {Promise<T>}
 */
export const imported = (module) =>
  module.catch(async (err) => {
    if (!(err instanceof TypeError)) throw err;
    if ((await answers()) && reloadPage() === 0) return new Promise(() => {});
    throw new Problem(0, null);
  });

// ---- screen reader messages

/** The live region that screen readers read out. */
export const liveRegion = element(
  "div",
  { id: "polite", class: "unseen", role: "status", "aria-atomic": "false", "aria-label": t("polite") },
  element("p"),
  element("p"),
  element("p"),
);

let nextMessage = 0;

/**
 * Has screen readers read out a text when they are idle. The region shows the
 * last two texts and an empty line, so that a repeated text is a change as well.
 * @param {string} text @param {string} [lang] of the text
 */
export function readOut(text, lang = language) {
  liveRegion.children[nextMessage].textContent = text;
  if (liveRegion.children[nextMessage].getAttribute("lang") !== lang)
    liveRegion.children[nextMessage].setAttribute("lang", lang);
  nextMessage = (nextMessage + 1) % liveRegion.children.length;
  liveRegion.children[nextMessage].textContent = "";
}

// ---- rendering

/** @param {unknown[]} names */
export const columns = (names) => names.map((name) => html`<th scope="col">${name}</th>`);

/**
 * Renders a table that can be scrolled sideways.
 * @param {string} name
 * @param {unknown[]} heads
 * @param {unknown} rows
 * @param {unknown} [foot]
 */
export const table = (name, heads, rows, foot) =>
  html`<div class="scroll" tabindex="0" role="region" aria-label=${name}>
    <table>
      <thead>
        <tr>
          ${columns(heads)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
      ${foot}
    </table>
  </div>`;

/**
 * Renders a list once it is known, and a text if it is empty; nothing if it cannot be loaded.
 * @template T
 * @param {T[] | null} all
 * @param {string} none
 * @param {(all: T[]) => unknown} draw
 * @param {unknown} [problem]
 */
export const listed = (all, none, draw, problem) => {
  if (!all) return problem ? nothing : loading();
  return all.length ? draw(all) : html`<p class="empty">${none}</p>`;
};

/** Renders the violations of a field. @param {Problem | null} problem @param {string} path */
export const violationsAt = (problem, path) => {
  const found = problem?.errors.filter((v) => v.path === path) ?? [];
  return found.length ? html`<span class="wrong">${sentence(found.map(wrongOf).join("; "))}</span>` : nothing;
};

/** @param {unknown[]} values */
export const cells = (values) => values.map((value) => html`<td>${value}</td>`);

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Record<string, string>} [attributes] "style" is CSS @param {(Node | string)[]} content
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, attributes = {}, ...content) {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style")
      created.style.cssText = value; // the Content-Security-Policy forbids the attribute
    else created.setAttribute(name, value);
  }
  created.append(...content);
  return created;
}

// ---- forms and keys

/** Reports whether a key is the browser's, or of a field with text. @param {KeyboardEvent} e */
export const isTyped = (e) =>
  e.ctrlKey ||
  e.metaKey ||
  e.altKey ||
  /** @type {Element} */ (e.target).matches?.("input:not([type=radio], [type=checkbox]), select, textarea");

/**
 * Returns a listener that receives the value of a field, and the field.
 * @param {(value: string, field: any) => unknown} use
 */
export const valued = (use) => (/** @type {any} */ { target }) => use(target.value, target);

/**
 * Returns a listener that sends a form in place of the browser.
 * @param {(fields: FormData, form: HTMLFormElement) => unknown} send
 */
export const submitted = (send) => (/** @type {any} */ e) => {
  e.preventDefault();
  return send(new FormData(e.target), e.target);
};

// ---- shared pieces

/** Renders a section, to which the focus can move. @param {string} id @param {string} title @param {unknown} content */
export const leaf = (id, title, content) =>
  html`<section class="leaf" aria-labelledby=${id}>
    <h2 id=${id} tabindex="-1">${title}</h2>
    ${content}
  </section>`;

/** @param {Club} club */
export const pennant = (club) =>
  html`<span class="pennant" .style=${clubStyle(club)} aria-hidden="true">${club.abbrev}</span>`;

/**
 * Renders a player's name, which opens the card: as in a game, or in a season.
 * @param {string} id
 * @param {unknown} name
 * @param {{ game?: string, season?: number, team?: string }} where
 */
export const playerName = (id, name, { game, season, team }) =>
  html`<button
    type="button"
    class="player-name"
    aria-haspopup="dialog"
    data-player=${id}
    data-game=${game ?? nothing}
    data-season=${season ?? nothing}
    data-team=${team ?? nothing}
  >
    ${name}
  </button>`;

/** @param {Player} p */
export const pitches = (p) => p.positions.some((r) => ["SP", "RP", "CP", "P"].includes(r));

/** Returns the grades that matter most, in a line. @param {Player} p */
export const gradesOf = (p) =>
  /** @type {const} */ (["contact", "power", "eye", "speed", "control", "stuff", "stamina"])
    .filter((_, i) => pitches(p) === i > 3)
    .map((g) => `${t(`rating.${g}`)} ${p.ratings[g]}`)
    .join(" · ");

/** What managers show each other. @type {Record<Api["Reaction"]["name"], string>} */
export const reactions = {
  clap: "👏", cheer: "🎉", groan: "😩", laugh: "😄", wow: "😮", hat: "🧢", ball: "⚾", heart: "❤️",
};

/** For how long it is shown, in milliseconds. */
export const reactionShown = 4e3;

/** Returns since when a pitcher has rested. @param {{ rest_days: number }} p */
export const restOf = ({ rest_days: n }) =>
  n >= 5 ? t("player.rested") : n ? t("player.rest", { n }) : t("player.norest");

/** Returns the text for a pitcher's fatigue. @param {number} fatigue @returns {Key} */
export const tiredness = (fatigue) =>
  fatigue < 0.35 ? "tired.fresh" : fatigue < 0.75 ? "tired.working" : fatigue < 1 ? "tired.tiring" : "tired.tired";

/**
 * Renders what a problem's code says, and in a disclosure the server's words, which alone say what is invalid.
 * @param {Problem | null} problem
 */
export const alertBox = (problem) =>
  problem && !(problem.code === "offline" && problem.at < lastAnswer)
    ? html`<div class="alert" role="alert">
        <p>${problem.message}</p>
        ${problem.detail
          ? html`<details ?open=${problem.code === "invalid"}>
              <summary>${t("details")}</summary>
              <p lang="en">${sentence(problem.detail)}</p>
            </details>`
          : nothing}
      </div>`
    : nothing;

/** Renders a command for the host, with a button that copies it. @param {string} text */
export const command = (text) =>
  html`<p class="command">
    <code>${text}</code>
    <button
      type="button"
      aria-label=${t("admin.copylabel", { text })}
      @click=${() => copy(text)}
    >
      ${t("copy")}
    </button>
  </p>`;

/**
 * Copies a text. Without https there is no clipboard: it is selected in a field, and copied as browsers did before.
 * @param {string} text
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const pressed = /** @type {HTMLElement | null} */ (document.activeElement);
    const field = document.createElement("textarea");
    field.value = text;
    field.style.position = "fixed"; // where the page does not scroll to it
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    pressed?.focus();
  }
  readOut(t("admin.copied"));
}

export const loading = () => html`<p class="waiting">${t("loading")}</p>`;

/** Renders a button that shows the page on the full screen, where browsers can. */
export const fullScreen = () =>
  document.fullscreenEnabled
    ? html`<button
        class="screen"
        @click=${() =>
          document.fullscreenElement
            ? document.exitFullscreen()
            : document.documentElement.requestFullscreen()}
      >
        ${t(document.fullscreenElement ? "screen.exit" : "screen.full")}
      </button>`
    : nothing;

/** Renders a message in place of a view, and the way out. @param {string} title @param {unknown} content */
export const notice = (title, content, out = html`<a class="button" href="/">${t("lost.out")}</a>`) =>
  html`<section class="leaf narrow">
    <h1>${title}</h1>
    ${content}
    <p>${out}</p>
  </section>`;

/** Asks to sign in, in place of a view. @param {string} [text] why */
export const gate = (text = t("gate.text")) =>
  notice(
    t("gate.title"),
    html`<p>${text}</p>`,
    html`<a class="button primary" href=${signInAddress()}>${t("signin")}</a>`,
  );

/** Renders a problem in place of a view; visitors may see more once they have signed in. @param {Problem} problem */
export function problemView(problem) {
  const missing = problem.status === 404;
  if (!session.me && (missing || problem.status === 401)) return gate(missing ? t("gate.private") : undefined);
  return missing
    ? notice(t("lost.title"), html`<p role="alert">${t("lost.text")}</p>`)
    : notice(t("broken.title"), alertBox(problem));
}

/**
 * Opens a dialog. It closes with Esc or a click beside it, and the focus goes back.
 * @param {string} name its class
 * @param {string} title
 * @param {unknown} content
 */
export function openDialog(name, title, content) {
  const dialog = element("dialog", { class: `${name} leaf`, "aria-label": title });
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (e) => {
    if (e.target === dialog) dialog.close();
  });
  render(content, dialog);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** The button that closes the dialog that it is in. */
export const closeButton = () => html`<form method="dialog"><button autofocus>${t("close")}</button></form>`;

/**
 * Renders a text as a QR code. What it is for must stand beside it as well.
 * @param {string} text
 * @param {string} [name] if the text itself must not be read out
 */
export async function qr(text, name = t("qr.label", { text })) {
  const { generate } = await imported(import("./lean-qr.js"));
  const code = generate(text);
  let path = "";
  for (let y = 0; y < code.size; y++)
    for (let x = 0; x < code.size; x++) if (code.get(x, y)) path += `M${x} ${y}h1v1h-1z`;
  const size = code.size + 8;
  return html`<svg class="qr" viewBox="-4 -4 ${size} ${size}" role="img" aria-label=${name}>
    ${svg`<rect x="-4" y="-4" width=${size} height=${size} fill="white"></rect><path d=${path} fill="black"></path>`}
  </svg>`;
}

// ---- games

export const sides = /** @type {readonly Side[]} */ (["away", "home"]);

/** @param {GameSide} side */
export const managerOf = (side) => (side.bot ? t("game.bot") : (side.manager?.name ?? t("game.open")));

/** Returns the side without a manager. @param {Game} g @returns {Side | undefined} */
export const openSide = (g) => sides.find((s) => !g[s].manager && !g[s].bot);

const lights = { live: "on", joining: "", lost: "off", over: "off" };
/** Renders the state of the connection to a game. @param {keyof typeof lights} link */
export const linkState = (link) => html`<span class=${`link-state ${lights[link]}`}>${t(`link.${link}`)}</span>`;

/** Renders the heading of a game's page, with the league that it belongs to. @param {Game} g */
export const gameTitle = (g) =>
  html`<h1>${g.away.team.name} <small>${t("game.at")}</small> ${g.home.team.name}</h1>
    ${g.competition
      ? html`<p class="league-link">
          <a href=${`/${g.competition.kind === "series" ? "series" : "leagues"}/${g.competition.id}`}>
            ${g.competition.name}
          </a>
        </p>`
      : nothing}`;

/**
 * Returns a text of a play in which no line breaks between a club and its runs, as in BWH 2, CPR 0.
 * @param {string} text
 */
export const unbroken = (text) => text.replace(/([A-Z]) (?=\d)/g, "$1\u00a0");

/**
 * Returns the name of a half-inning, as in Top 9th.
 * @param {"top" | "bottom" | undefined} half
 * @param {number} inning
 */
export const inningName = (half, inning) =>
  t("game.inning", { half: t(half === "top" ? "half.top" : "half.bottom"), inning: ordinal(inning) });
