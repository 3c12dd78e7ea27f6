// The root of the page: it maps addresses to views, renders the current view in
// its frame, and handles links, the history and the theme.
import { html, render, nothing, guard } from "./lit-html.js";
import {
  t, api, session, gate, signInAddress, problemOf, liveRegion, loading, imported, store,
  stored, meta, fullScreen, readOut, sides, notice, isTyped, answers,
} from "./ui.js";

const statistics = () => import("./stats.js");
const competitions = () => import("./leagues.js");
const account = () => import("./account.js");

/**
 * The views by path, and the link of the frame that each belongs to. page.go serves the document at the same paths.
 * The module exports the view as a function.
 * @type {[path: RegExp, load: () => Promise<any>, view: string, tab?: string][]}
 */
const routes = [
  [/^\/$/, () => import("./lobby.js"), "lobby", "/"],
  [/^\/new$/, () => import("./newgame.js"), "newGame", "/"],
  [/^\/games\/(?<id>[^/]+)$/, () => import("./game.js"), "game", "/"],
  [/^\/games\/(?<id>[^/]+)\/lineup$/, () => import("./lineup.js"), "lineup", "/"],
  [/^\/games\/(?<id>[^/]+)\/replay(\/(?<rev>\d+))?$/, () => import("./replay.js"), "replay", "/"],
  [/^\/join\/(?<code>[^/]+)$/, () => import("./guest.js"), "join", "/"],
  [/^\/standings$/, statistics, "standings", "/standings"],
  [/^\/players$/, statistics, "players", "/players"],
  [/^\/leaders$/, statistics, "leaders", "/standings"],
  [/^\/managers$/, statistics, "managers", "/standings"],
  [/^\/leagues$/, competitions, "leagues", "/standings"],
  [/^\/leagues\/(?<id>[^/]+)$/, competitions, "league", "/standings"],
  [/^\/series\/(?<id>[^/]+)$/, competitions, "series", "/standings"],
  [/^\/announcements$/, () => import("./announcements.js"), "announcements", "/announcements"],
  [/^\/account$/, () => (session.me?.guest ? import("./guest.js") : account()), "account", "/account"],
  [/^\/admin$/, () => import("./admin.js"), "admin", "/admin"],
  [/^\/auth\/callback$/, account, "callback"],
  [/^\/kiosk$/, () => import("./kiosk.js"), "kiosk"],
  [/^\/help$/, () => import("./help.js"), "help", "/help"],
  [/^\/about$/, account, "about", "/about"],
];
const needSession = ["newGame", "account"];

const root = /** @type {HTMLElement} */ (document.getElementById("app"));

/**
 * The current view. "turn" counts navigations: a module that arrives late is dropped.
 * @type {{ view: View | null, tab: string, turn: number }}
 */
const current = { view: null, tab: "", turn: 0 };
/** @type {Promise<void> | null} */
let pending = null;

/**
 * Renders the page before the next frame, once for all calls until then.
 * @returns {Promise<void>} resolves after rendering
 */
function update() {
  pending ??= new Promise((resolve) => {
    const now = () => {
      pending = null;
      draw();
      resolve();
    };
    if (document.hidden)
      setTimeout(now, 50); // a hidden page gets no animation frames
    else requestAnimationFrame(now);
  });
  return pending;
}

const retryInterval = 3000; // milliseconds; of a view that could not be loaded

let shownTitle = "";

function draw() {
  const view = current.view;
  const title = view ? `${view.title()} · Pressbox` : "Pressbox";
  if (title !== shownTitle) document.title = shownTitle = title;
  render(view?.bare ? view.render() : frame(view), root);
  view?.updated?.();
  findPlace();
}

// ---- the frame

/** @param {View | null} view */
const frame = (view) =>
  html`<a class="skip" href="#main">${t("skip")}</a>
    ${masthead()} ${notices()}
    <main id="main" tabindex="-1">${view ? view.render() : loading()}</main>
    ${footer()} ${liveRegion}`;

const masthead = () =>
  html`<header class="masthead">${guard(
    [current.tab, session.me, session.me === null && location.href],
    () =>
      html`<div class="masthead-in">
        <a class="wordmark" href="/"><span class="ball" aria-hidden="true"></span>Pressbox</a>
        <nav aria-label=${t("nav.label")}>
          ${link("/", t("nav.games"))} ${link("/standings", t("standings.title"))}
          ${link("/players", t("players.title"))} ${link("/announcements", t("nav.announcements"))}
        </nav>
        <div class="who">
          ${session.me?.admin ? link("/admin", t("nav.admin")) : nothing}
          ${session.me
            ? link("/account", session.me.name, "account")
            : session.me === null
              ? html`<a class="signin" href=${signInAddress()}>${t("signin")}</a>`
              : nothing}
        </div>
      </div>`,
  )}</header>`;

const footer = () =>
  html`<footer class="colophon">${guard(
    [current.tab, theme, current.view?.awake, document.fullscreenElement],
    () =>
      html`<p>${t("footer.motto")}</p>
        <p>
          ${current.view?.awake ? fullScreen() : nothing} ${link("/help", t("help.title"))}
          ${link("/about", t("nav.about"))} <a href="/docs">${t("nav.api")}</a> <a href="/kiosk">${t("nav.kiosk")}</a>
          <label class="theme">
            ${t("theme")}
            <select @change=${chooseTheme} .value=${theme}>
              <option value="auto">${t("theme.auto")}</option>
              <option value="light">${t("theme.light")}</option>
              <option value="dark">${t("theme.dark")}</option>
            </select>
          </label>
          ${languages.length > 1
            ? html`<label class="theme">
                ${t("language")}
                <select @change=${chooseLanguage}>
                  <option value="">${t("language.auto")}</option>
                  ${languages.map(
                    (l) =>
                      html`<option value=${l} lang=${l} ?selected=${l === chosenLanguage}>
                        ${new Intl.DisplayNames(l, { type: "language" }).of(l)}
                      </option>`,
                  )}
                </select>
              </label>`
            : nothing}
        </p>`,
  )}</footer>`;

/** @param {string} href @param {string} text @param {string} [cls] */
const link = (href, text, cls = "") =>
  html`<a class=${cls || nothing} href=${href} aria-current=${current.tab === href ? "page" : nothing}>${text}</a>`;

// ---- rematches

const restsAfter = 5000; // milliseconds; offers are received once the first load is over
let resting = 0;

/** The rematches that are offered to this account, by id. @type {Map<string, Game>} */
const offered = new Map();
let answer = ""; // to an offer of this account, or why its own answer failed
/** @type {{ close: () => void } | null} */ let offers = null;

/** Receives the offers to the account that is signed in, on every page. */
async function receiveOffers() {
  offers?.close();
  offers = null;
  offered.clear();
  if (!session.me) return;
  const account = session.me.id;
  const { openStream } = await imported(import("./streams.js"));
  if (offers || session.me?.id !== account) return;
  offers = openStream("/api/rematches", {
    account,
    on: {
      rematch: (/** @type {Game} */ g) => {
        if (!offered.has(g.id)) readOut(offerText(g));
        offered.set(g.id, g);
        update();
      },
      gone: ({ id }) => {
        offered.delete(id);
        update();
      },
      declined: ({ who }) => notify(t("rematch.declined", { name: who })),
    },
    kept: ["rematch"],
    state: (state) => {
      if (state === "open") offered.clear();
      if (state === "refused") void session.load(); // it may have to be renewed
      update();
    },
  });
}

/** @param {string} text */
function notify(text) {
  answer = text;
  if (text) readOut(text);
  update();
}

/** @param {unknown} err */
const fail = (err) => notify(problemOf(err).message);

/** @param {Game} g */
const offerText = (g) =>
  t("rematch.offer", {
    name: sides.map((side) => g[side].manager?.name).find(Boolean) ?? "",
    away: g.away.team.name,
    home: g.home.team.name,
    innings: g.options.innings,
  });

/** @param {Game} g @param {"join" | "decline"} how */
async function answerOffer(g, how) {
  try {
    offered.delete(g.id);
    await api("POST", `/api/games/${g.id}/${how}`);
    if (how === "join") go(`/games/${g.id}/lineup`);
  } catch (err) {
    fail(err);
  }
  update();
}

/** What reaches an account on every page: rematches, and answers to its own offers. */
const notices = () =>
  !offered.size && !answer
    ? nothing
    : html`<aside class="notices" aria-label=${t("rematch.title")}>
        ${[...offered.values()].map(
          (g) =>
            html`<div>
              <p>${offerText(g)}</p>
              <p class="row">
                <button class="primary" @click=${() => answerOffer(g, "join")}>${t("rematch.accept")}</button>
                <button @click=${() => answerOffer(g, "decline")}>${t("rematch.decline")}</button>
              </p>
            </div>`,
        )}
        ${answer
          ? html`<div>
              <p>${answer}</p>
              <p class="row"><button @click=${() => notify("")}>${t("close")}</button></p>
            </div>`
          : nothing}
      </aside>`;

const languages = meta("languages").split(" ");

/** The language that was chosen by hand, "" if the browser's settings decide: a cookie, as the server reads it. */
const chosenLanguage = /(?:^|; )pressbox_language=([^;]*)/.exec(document.cookie)?.[1] ?? "";

/** @param {Event} e */
function chooseLanguage(e) {
  const chosen = /** @type {HTMLSelectElement} */ (e.target).value;
  document.cookie = `pressbox_language=${chosen}; path=/; samesite=lax; max-age=${chosen ? 400 * 86400 : 0}`;
  location.reload();
}

let theme = stored("theme", "auto");

/** @param {Event} e */
function chooseTheme(e) {
  theme = /** @type {HTMLSelectElement} */ (e.target).value;
  store("theme", theme);
  applyTheme();
}

function applyTheme() {
  if (theme === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset.theme = theme;
}

/** @type {Promise<WakeLockSentinel | null> | null} */
let awake = null;

/**
 * Keeps the screen on while the view asks for it and the page is visible.
 * Browsers allow it to secure origins, and may refuse it to save power.
 */
async function keepAwake() {
  const lock = awake;
  const wanted = Boolean(current.view?.awake) && !document.hidden;
  if (wanted === Boolean(lock) || !navigator.wakeLock) return;
  awake = wanted ? navigator.wakeLock.request("screen").catch(() => null) : null;
  await (await lock)?.release();
}

// ---- navigation

const settles = 250; // milliseconds without scrolling

/** How far to scroll once that much is rendered: where the view was before Back or a reload, 0 for nowhere. */
let place = history.state?.y ?? 0;
let scrolled = 0; // the timer

/** Scrolls to the place, when there is that much of the view. */
function findPlace() {
  if (!place || document.documentElement.scrollHeight - innerHeight < place) return;
  scrollTo(0, place);
  place = 0;
}

history.scrollRestoration = "manual"; // browsers scroll before a view has loaded what it shows
addEventListener("scroll", () => {
  clearTimeout(scrolled);
  scrolled = setTimeout(() => {
    if (!place) history.replaceState({ y: scrollY }, "");
  }, settles);
});
for (const by of ["wheel", "touchstart", "pointerdown", "keydown"])
  addEventListener(by, () => (place = 0), { passive: true });

/** @param {string} path @param {boolean} [replace] replaces the current history entry */
function go(path, replace = false) {
  clearTimeout(scrolled);
  if (replace) history.replaceState(null, "", path);
  else {
    history.replaceState({ y: scrollY }, "");
    history.pushState(null, "", path);
  }
  void open(true);
}

/** @param {boolean} [navigated] moves the focus to it @param {number} [y] how far to scroll */
async function open(navigated = false, y = 0) {
  const turn = ++current.turn;
  const url = new URL(location.href);
  const [path, load, name = "", tab = ""] = routes.find(([path]) => path.test(url.pathname)) ?? [];
  let view;
  if (!path || !load) view = message(t("lost.title"), t("lost.text"));
  else if (needSession.includes(name) && !session.me) view = { title: () => t("signin"), render: gate };
  else {
    try {
      const module = await imported(load());
      if (turn !== current.turn) return;
      close();
      const params = Object.fromEntries(
        Object.entries(path.exec(url.pathname)?.groups ?? {}).map(([k, v]) => [k, decodeURIComponent(v ?? "")]),
      );
      view = module[name]({ params, query: url.searchParams, me: session.me ?? null, update, go });
    } catch (err) {
      if (turn !== current.turn) return;
      const problem = problemOf(err);
      view = message(t("broken.title"), problem.message);
      if (problem.status === 0) view = { ...view, close: retry() };
    }
  }
  close();
  current.view = view;
  current.tab = tab;
  void keepAwake();
  document.body.dataset.view = name;
  if (navigated) {
    scrollTo(0, 0);
    place = y;
  }
  draw();
  if (navigated) {
    document.getElementById("main")?.focus({ preventScroll: true });
  }
}

/** Loads the page again once the server answers. Returns what ends that. */
function retry() {
  const timer = setInterval(async () => {
    if (await answers()) location.reload();
  }, retryInterval);
  return () => clearInterval(timer);
}

function close() {
  const view = current.view;
  current.view = null;
  view?.close?.();
}

/** @param {string} title @param {string} text @returns {View} */
const message = (title, text) => ({ title: () => title, render: () => notice(title, html`<p>${text}</p>`) });

document.addEventListener("visibilitychange", () => void keepAwake());
document.addEventListener("fullscreenchange", () => void update());
addEventListener("popstate", ({ state }) => {
  clearTimeout(scrolled);
  void open(true, state?.y);
});
document.addEventListener("click", (e) => {
  const a = /** @type {Element} */ (e.target).closest?.("a[href]");
  if (
    !(a instanceof HTMLAnchorElement) ||
    e.defaultPrevented ||
    e.button !== 0 ||
    e.metaKey ||
    e.ctrlKey ||
    e.shiftKey ||
    e.altKey
  )
    return;
  const url = new URL(a.href);
  if (
    a.target ||
    a.hasAttribute("download") ||
    url.origin !== location.origin ||
    !routes.some(([path]) => path.test(url.pathname))
  )
    return;
  if (url.pathname === location.pathname && url.hash) return;
  e.preventDefault();
  go(url.pathname + url.search);
});
document.addEventListener("click", (e) => {
  const name = /** @type {Element} */ (e.target).closest?.("[data-player]");
  if (name instanceof HTMLElement || name instanceof SVGElement)
    void imported(import("./player.js")).then(({ openCard }) => openCard(name.dataset), fail);
});
/**
 * Returns the closest element with data-help, whose value is a term of the glossary or empty.
 * @param {EventTarget | null} from
 * @returns {HTMLElement | null}
 */
const helped = (from) => /** @type {Element} */ (from).closest?.("[data-help]");
/** @param {string} [term] */
const openHelp = (term) => void imported(import("./help.js")).then((module) => module.openHelp(term), fail);
document.addEventListener("click", (e) => {
  if (helped(e.target)?.dataset.help === "") openHelp();
});
document.addEventListener("contextmenu", (e) => {
  // or a long touch
  const term = helped(e.target)?.dataset.help;
  if (!term) return;
  e.preventDefault();
  openHelp(term);
});
addEventListener("keydown", (e) => {
  if (e.key !== "?" || isTyped(e)) return;
  e.preventDefault();
  openHelp(helped(e.target)?.dataset.help);
});
session.listeners.add(() => {
  if (session.me !== undefined) void open();
  clearTimeout(resting);
  resting = window.setTimeout(receiveOffers, session.me ? restsAfter : 0);
});
applyTheme();
// the masthead depends on it
document.body.dataset.view = routes.find(([path]) => path.test(location.pathname))?.[2] ?? "";
draw();
session.start();
