// What every part of the page uses: words, the API, who is signed in, colours.
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
  return words.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
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

// ---- the API

/** A refusal of the API, or of the network (status 0). */
export class Problem extends Error {
  /** @param {number} status @param {any} body @param {string} [retryAfter] */
  constructor(status, body, retryAfter) {
    super(body?.detail || body?.title || t("problem.offline"));
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

let said = 0;

/**
 * Tells a screen reader something, without hurry. The lines are written over in
 * turn: to put elements in and take them out would cost more than the play.
 * @param {string} text
 */
export function announce(text) {
  const lines = document.getElementById("polite")?.children;
  const line = lines?.[said++ % lines.length];
  if (line) line.textContent = text;
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
 * @param {T} tag @param {Record<string, string>} [attributes] "style" is CSS
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, attributes = {}) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") made.style.cssText = value; // as an attribute it would be forbidden
    else made.setAttribute(name, value);
  }
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

/** Words for how long ago. @param {number} seconds */
export function ago(seconds) {
  const format = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "auto" });
  for (const [unit, size] of /** @type {const} */ ([["day", 86400], ["hour", 3600], ["minute", 60]])) {
    if (seconds >= size) return format.format(-Math.floor(seconds / size), unit);
  }
  return t("time.now");
}

const ordinals = new Intl.PluralRules("en", { type: "ordinal" });

/** 1 → 1st. @param {number} n */
export const ordinal = (n) => t("ordinal", { n, end: { one: "st", two: "nd", few: "rd", other: "th", many: "th", zero: "th" }[ordinals.select(n)] });

/** @param {Problem | Error | null} problem */
export const alertBox = (problem) => (problem ? html`<p class="alert" role="alert">${problem.message}</p>` : nothing);

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
