// The frame around every part of the page: which one an address means, the
// header, the footer, and what is said when one cannot be shown.
import { html, render, nothing } from "./lit-html.js";
import { t, session, signInAddress, element, island, remember, remembered, problemOf } from "./kit.js";

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
}

/** @param {View | null} view */
const frame = (view) => html`
  <a class="skip" href="#main">${t("skip")}</a>
  ${masthead()}
  <main id="main" tabindex="-1">${view ? view.render() : html`<p class="waiting">${t("loading")}</p>`}</main>
  ${colophon()}
  <div id="polite" class="unseen" role="status" aria-atomic="false" aria-label=${t("polite")}><p></p><p></p><p></p></div>`;

const above = island(element("header", { class: "masthead" })), below = island(element("footer", { class: "colophon" }));

const masthead = () => above([shown.tab, session.me, location.href], () => html`<div class="masthead-in">
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
function outdated(err) {
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
