// The page itself: the frame around each of its parts, which of them an address
// means, and what all of them use: words, the API, who is signed in, colours. It
// is one file because nothing is seen before all of it is there.
import { html, svg, render, nothing } from "./lit-html.js";
import en from "./en.js";

/** @typedef {keyof typeof en} Key */

/**
 * The words of a key, with values put in for {name}.
 * @param {Key} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const words = /** @type {string | ((values: any) => string)} */ (en[key]);
  if (typeof words === "function") return words(values);
  return !words.includes("{") ? words : words.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/**
 * The words of a key that the server chose, or what stands for unknown ones.
 * @param {string} prefix
 * @param {string | undefined} name
 * @param {string} [otherwise]
 */
export function say(prefix, name, otherwise) {
  const key = `${prefix}.${(name ?? "").replaceAll(" ", "_")}`;
  return key in en ? t(/** @type {Key} */ (key)) : (otherwise ?? name ?? "");
}

/** What the server has to say, which begins small and ends without a stop, as a sentence. @param {string} text */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");

// ---- the API

/** A refusal of the API, or of the network (status 0). */
export class Problem extends Error {
  /** @param {number} status @param {any} body @param {string} [retryAfter] */
  constructor(status, body, retryAfter) {
    super(sentence(body?.detail || body?.title || t("problem.offline")));
    this.status = status;
    /** @type {string} */ this.code = body?.code ?? "offline";
    /** @type {Violation[]} */ this.errors = body?.errors ?? [];
    this.retryAfter = Number(retryAfter ?? 0);
  }
}

/**
 * Asks the API. Cookies are the only credentials; a session that has run out
 * is renewed once, and the request is sent again.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {{ raw?: boolean, signal?: AbortSignal }} [how]
 * @returns {Promise<any>}
 */
export async function api(method, path, body, how = {}) {
  let response = await send(method, path, body, how.signal);
  if (response.status === 401 && known() && (await renew())) {
    response = await send(method, path, body, how.signal);
  }
  if (!response.ok) {
    const problem = new Problem(response.status, await response.json().catch(() => null), response.headers.get("Retry-After") ?? undefined);
    if (response.status === 401 && session.me) session.set(null);
    throw problem;
  }
  if (how.raw) return response;
  return response.status === 204 ? null : response.json();
}

/** @param {string} method @param {string} path @param {unknown} body @param {AbortSignal} [signal] */
async function send(method, path, body, signal) {
  try {
    return await fetch(path, {
      method, signal, credentials: "include",
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (err) {
    if (signal?.aborted) throw err;
    throw new Problem(0, null);
  }
}

/** @type {Promise<boolean> | null} */
let renewing = null;

/** Renews the session; says whether there is one. */
export function renew() {
  renewing ??= send("POST", "/api/auth/refresh", undefined)
    .then((r) => r.ok, () => false)
    .finally(() => { renewing = null; });
  return renewing;
}

/**
 * Whether somebody may have a session in this browser: no script can see the
 * cookies, so that is remembered. Where nothing is remembered, it is maybe.
 */
function known() {
  remember("works", "yes");
  return remembered("known", "no") === "yes" || remembered("works", "no") === "no";
}

/** Who is signed in: undefined until that is known. */
export const session = {
  /** @type {Account | null | undefined} */ me: undefined,
  /** @type {Set<() => void>} */ listeners: new Set(),
  /** @param {Account | null} me */
  set(me) {
    this.me = me;
    remember("known", me ? "yes" : "no");
    for (const told of this.listeners) told();
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

/** Where signing in begins, and leads back from. @param {string} [to] */
export const signInAddress = (to = location.pathname + location.search) =>
  `/api/auth/idp/login?return=${encodeURIComponent(to.startsWith("/auth/") ? "/" : to)}`;

// ---- words that are spoken by screen readers

/** The last two, and an empty line for the next: what is said twice is another text each time. */
const said = ["", "", ""];
let line = 0;

/** Tells a screen reader something, without hurry. @param {string} text */
export function announce(text) {
  said[line] = text;
  line = (line + 1) % said.length;
  said[line] = "";
  void update();
}

// ---- colours of clubs

/** @param {string} hex @returns {number[]} */
const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

/** Relative luminance (WCAG 2.2). @param {number[]} c */
function luminance(c) {
  const [r, g, b] = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Contrast ratio (WCAG 2.2). @param {number[]} a @param {number[]} b */
export function contrast(a, b) {
  const [hi, lo] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (hi + 0.05) / (lo + 0.05);
}

/** A colour moved towards another until it can be read on a ground. @param {number[]} c @param {number[]} to @param {number[]} ground */
function readable(c, to, ground) {
  for (let i = 0; i <= 20; i++) {
    const mixed = c.map((v, j) => Math.round(v + ((to[j] - v) * i) / 20));
    if (contrast(mixed, ground) >= 4.5) return mixed;
  }
  return to;
}

const css = (/** @type {number[]} */ c) => `rgb(${c.join(" ")})`;
const paper = rgb("#efe6d0"), night = rgb("#203447"), black = [0, 0, 0], white = [255, 255, 255];
/** @type {Map<string, string>} */
const styles = new Map();

/**
 * The style by which an element wears a club's colours: --club and, readable
 * on it, --club-ink; --club-mark, readable on the page.
 * @param {Club | undefined} club
 */
export function clubStyle(club) {
  const given = club?.color ?? club?.colors?.[0] ?? "";
  const hex = /^#[0-9a-f]{6}$/i.test(given) ? given : `#${given}`;
  const colour = /^#[0-9a-f]{6}$/i.test(hex) ? hex : "#4a5a68";
  let style = styles.get(colour);
  if (!style) {
    const c = rgb(colour);
    const ink = contrast(c, white) >= contrast(c, black) ? white : black;
    style = `--club:${css(c)};--club-ink:${css(ink)};--club-mark:light-dark(${css(readable(c, black, paper))},${css(readable(c, white, night))})`;
    styles.set(colour, style);
  }
  return style;
}

// ---- drawing

/**
 * An element that stays while what is in it changes.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Record<string, string>} [attributes] "style" is CSS @param {(Node | string)[]} content
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, attributes = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") made.style.cssText = value; // as an attribute it would be forbidden
    else made.setAttribute(name, value);
  }
  made.append(...content);
  return made;
}

/**
 * Makes an element a part of the page that is drawn again only when one of the
 * values that it shows is another one.
 * @template {HTMLElement | SVGElement} E
 * @param {E} root
 * @returns {(shown: readonly unknown[], make: () => unknown) => E}
 */
export function island(root) {
  /** @type {readonly unknown[] | null} */ let known = null;
  return (shown, make) => {
    if (known?.length !== shown.length || shown.some((value, i) => value !== known?.[i])) {
      known = shown;
      render(make(), /** @type {HTMLElement} */ (root)); // into SVG too, whatever lit-html's type says
    }
    return root;
  };
}

// ---- small pieces

/** @param {Club} club */
export const pennant = (club) => html`<span class="pennant" .style=${clubStyle(club)} aria-hidden="true">${club.abbrev}</span>`;

/** Words for when. @param {string | undefined} at */
export function when(at) {
  if (!at) return "";
  const date = new Date(at);
  const today = new Date().toDateString() === date.toDateString();
  return date.toLocaleString(document.documentElement.lang, today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" });
}

const ordinals = new Intl.PluralRules("en", { type: "ordinal" });

/** 1 → 1st. @param {number} n */
export const ordinal = (n) => t("ordinal", { n, end: { one: "st", two: "nd", few: "rd", other: "th", many: "th", zero: "th" }[ordinals.select(n)] });

/** @param {Problem | Error | null} problem */
export const alertBox = (problem) => (problem ? html`<p class="alert" role="alert">${problem.message}</p>` : nothing);

/** What is shown in place of something that cannot be, and the way out. @param {Problem} problem */
export const instead = (problem) => html`<section class="leaf narrow"><h1>${t(problem.status === 404 ? "lost.title" : "broken.title")}</h1>
  ${problem.status === 404 ? html`<p role="alert">${t("lost.text")}</p>` : alertBox(problem)}<p><a class="button" href="/">${t("lost.out")}</a></p></section>`;

/** What an error says, as a problem. @param {unknown} err */
export const problemOf = (err) => (err instanceof Problem ? err : new Problem(-1, { detail: err instanceof Error ? err.message : String(err), code: "page" }));

/** A QR code as a drawing; the text stands beside it for who cannot see it. @param {string} text */
export async function qr(text) {
  const { generate } = await import("./lean-qr.js");
  const code = generate(text);
  let path = "";
  for (let y = 0; y < code.size; y++) for (let x = 0; x < code.size; x++) if (code.get(x, y)) path += `M${x} ${y}h1v1h-1z`;
  const size = code.size + 8;
  return html`<svg class="qr" viewBox="-4 -4 ${size} ${size}" role="img" aria-label=${t("qr.label", { text })}>${svg`<rect x="-4" y="-4" width=${size} height=${size} fill="#fff"></rect><path d=${path} fill="#000"></path>`}</svg>`;
}

/** What the document says of the appliance. @param {"version" | "join" | "season"} name */
export const meta = (name) => document.querySelector(`meta[name="pressbox-${name}"]`)?.getAttribute("content") ?? "";

/** The address of the page for other people in the house. @param {string} path */
export const joinAddress = (path) => new URL(path, meta("join") || location.origin).href;

/** The season that clubs, rosters and figures are asked for. */
export const season = Number(meta("season")) || 3;

/** @param {GameSide} side */
export const managerOf = (side) => (side.bot ? t("game.bot") : (side.manager?.name ?? t("game.nobody")));

/** The side that nobody has taken. @param {Game} g @returns {Side | undefined} */
export const openSide = (g) => /** @type {Side[]} */ (["away", "home"]).find((s) => !g[s].manager && !g[s].bot);

/** A value kept in this browser. @param {string} name @param {string} otherwise */
export function remembered(name, otherwise) {
  try { return localStorage.getItem(`pressbox.${name}`) ?? otherwise; } catch { return otherwise; }
}

/** @param {string} name @param {string} value */
export function remember(name, value) {
  try { localStorage.setItem(`pressbox.${name}`, value); } catch { /* a private window may keep nothing */ }
}

// ---- the frame

/**
 * A route: what its address looks like, the module and the function that make
 * it, and whether one has to be signed in. The daemon answers these same
 * addresses with the page: see page.go.
 * @type {{ path: RegExp, load: () => Promise<any>, make: string, people?: boolean, tab?: string }[]}
 */
const routes = [
  { path: /^\/$/, load: () => import("./lobby.js"), make: "lobby", tab: "/" },
  { path: /^\/new$/, load: () => import("./lobby.js"), make: "newGame", people: true, tab: "/" },
  { path: /^\/games\/(?<id>[^/]+)$/, load: () => import("./game.js"), make: "game", people: true, tab: "/" },
  { path: /^\/games\/(?<id>[^/]+)\/lineup$/, load: () => import("./lineup.js"), make: "lineup", people: true, tab: "/" },
  { path: /^\/games\/(?<id>[^/]+)\/replay(\/(?<rev>\d+))?$/, load: () => import("./replay.js"), make: "replay", people: true, tab: "/" },
  { path: /^\/standings$/, load: () => import("./stats.js"), make: "standings", people: true, tab: "/standings" },
  { path: /^\/players$/, load: () => import("./stats.js"), make: "players", people: true, tab: "/players" },
  { path: /^\/announcements$/, load: () => import("./announcements.js"), make: "announcements", tab: "/announcements" },
  { path: /^\/account$/, load: () => import("./account.js"), make: "account", people: true, tab: "/account" },
  { path: /^\/auth\/callback$/, load: () => import("./account.js"), make: "callback" },
  { path: /^\/kiosk$/, load: () => import("./kiosk.js"), make: "kiosk" },
  { path: /^\/about$/, load: () => import("./account.js"), make: "about", tab: "/about" },
];

const app = /** @type {HTMLElement} */ (document.getElementById("app"));

/** What is shown. @type {{ view: View | null, tab: string, turn: number }} */
const shown = { view: null, tab: "", turn: 0 };
/** @type {Promise<void> | null} */
let pending = null;

/**
 * Draws again, once for all that happens before the next picture.
 * @returns {Promise<void>} when it is drawn
 */
function update() {
  pending ??= new Promise((drawn) => {
    const now = () => {
      pending = null;
      draw();
      drawn();
    };
    if (document.hidden) setTimeout(now, 50); // a page that nobody sees has no next picture
    else requestAnimationFrame(now);
  });
  return pending;
}

function draw() {
  const view = shown.view;
  const title = view ? `${view.title()} · Pressbox` : "Pressbox";
  if (title !== document.title) document.title = title;
  render(view?.bare ? view.render() : frame(view), app);
  view?.drawn?.();
}

/** @param {View | null} view */
const frame = (view) => html`
  <a class="skip" href="#main">${t("skip")}</a>
  ${masthead()}
  <main id="main" tabindex="-1">${view ? view.render() : html`<p class="waiting">${t("loading")}</p>`}</main>
  ${colophon()}
  ${aloud([...said], () => said.map((text) => html`<p>${text}</p>`))}`;

const above = island(element("header", { class: "masthead" })), below = island(element("footer", { class: "colophon" }));
const aloud = island(element("div", { id: "polite", class: "unseen", role: "status", "aria-atomic": "false", "aria-label": t("polite") }));

const masthead = () => above([shown.tab, session.me, session.me === null && location.href], () => html`<div class="masthead-in">
    <a class="wordmark" href="/"><span class="ball" aria-hidden="true"></span>Pressbox</a>
    <nav aria-label=${t("nav.label")}>
      ${link("/", t("nav.games"))} ${link("/standings", t("nav.standings"))} ${link("/players", t("nav.players"))}
      ${link("/announcements", t("nav.announcements"))}
    </nav>
    <div class="who">
      ${session.me ? link("/account", session.me.name, "account") : session.me === null
        ? html`<a class="signin" href=${signInAddress()}>${t("signin")}</a>` : nothing}
    </div>
  </div>`);

const colophon = () => below([shown.tab, theme], () => html`
  <p>${t("footer.motto")}</p>
  <p>${link("/about", t("nav.about"))} <a href="/docs">${t("nav.api")}</a> <a href="/kiosk">${t("nav.kiosk")}</a>
    <label class="theme">${t("theme")} <select @change=${chooseTheme} .value=${theme}>
      <option value="auto">${t("theme.auto")}</option><option value="light">${t("theme.light")}</option><option value="dark">${t("theme.dark")}</option>
    </select></label>
  </p>`);

/** @param {string} href @param {string} words @param {string} [cls] */
const link = (href, words, cls = "") =>
  html`<a class=${cls || nothing} href=${href} aria-current=${shown.tab === href ? "page" : nothing}>${words}</a>`;

let theme = remembered("theme", "auto");

/** @param {Event} e */
function chooseTheme(e) {
  theme = /** @type {HTMLSelectElement} */ (e.target).value;
  remember("theme", theme);
  wearTheme();
}

function wearTheme() {
  if (theme === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset.theme = theme;
}

/**
 * Goes to another part of the page.
 * @param {string} path
 * @param {boolean} [replace] whether going back skips where we are
 */
function go(path, replace = false) {
  if (replace) history.replaceState(null, "", path);
  else history.pushState(null, "", path);
  void open(true);
}

/** Shows what the address means. @param {boolean} [moved] by a person, whose focus goes along */
async function open(moved = false) {
  const turn = ++shown.turn;
  const url = new URL(location.href);
  const found = routes.map((r) => ({ r, match: r.path.exec(url.pathname) })).find((f) => f.match);
  let view;
  if (!found) view = message(t("lost.title"), t("lost.text"));
  else if (found.r.people && !session.me) view = signInFirst();
  else {
    try {
      const module = await found.r.load();
      if (turn !== shown.turn) return;
      close();
      const params = Object.fromEntries(Object.entries(found.match?.groups ?? {}).map(([k, v]) => [k, decodeURIComponent(v ?? "")]));
      view = module[found.r.make]({ params, query: url.searchParams, me: session.me ?? null, update, go });
      sessionStorage.removeItem("pressbox.renewed");
    } catch (err) {
      if (turn !== shown.turn) return;
      if (outdated(err)) return;
      view = message(t("broken.title"), problemOf(err).message);
    }
  }
  close();
  shown.view = view;
  shown.tab = found?.r.tab ?? "";
  draw();
  if (moved) {
    scrollTo(0, 0);
    document.getElementById("main")?.focus({ preventScroll: true });
  }
}

function close() {
  const view = shown.view;
  shown.view = null;
  view?.close?.();
}

/**
 * The daemon was renewed while the page stood open, and this version's files
 * are gone: the page loads itself again, once.
 * @param {unknown} err
 */
export function outdated(err) {
  if (!(err instanceof TypeError) || sessionStorage.getItem("pressbox.renewed")) return false;
  sessionStorage.setItem("pressbox.renewed", "1");
  location.reload();
  return true;
}

/** @param {string} title @param {string} text @returns {View} */
const message = (title, text) => ({
  title: () => title,
  render: () => html`<section class="leaf narrow"><h1>${title}</h1><p>${text}</p><p><a class="button" href="/">${t("lost.out")}</a></p></section>`,
});

/** @returns {View} */
const signInFirst = () => ({
  title: () => t("signin"),
  render: () => html`<section class="leaf narrow"><h1>${t("gate.title")}</h1><p>${t("gate.text")}</p>
    <p><a class="button primary" href=${signInAddress()}>${t("signin")}</a></p></section>`,
});

addEventListener("popstate", () => void open(true));
document.addEventListener("click", (e) => {
  const a = /** @type {Element} */ (e.target).closest?.("a[href]");
  if (!(a instanceof HTMLAnchorElement) || e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  const url = new URL(a.href);
  if (a.target || a.hasAttribute("download") || url.origin !== location.origin || !routes.some((r) => r.path.test(url.pathname))) return;
  if (url.pathname === location.pathname && url.hash) return;
  e.preventDefault();
  go(url.pathname + url.search);
});
session.listeners.add(() => {
  if (session.me !== undefined) void open();
});
wearTheme();
draw();
void session.load();
