// The texts of the page, and how it writes times, numbers and weekdays.

/** @typedef {import("./en.js").Texts} Texts */
/** @typedef {keyof Texts} Key */

/** The language of the page, which the server chose among its files: see languages/en.js. */
export const language = document.documentElement.lang;

/** @type {Texts} */
const texts = (await import(`./${language}.js`)).default;

/** Texts that were shown, split at their names: every second part is one. @type {Map<string, string[]>} */
const split = new Map();

/**
 * Returns the text of a key with {name} replaced by values.name.
 * @param {Key} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const text = /** @type {string | ((values: any) => string)} */ (texts[key] ?? key);
  if (typeof text === "function") return text(values);
  let parts = split.get(text);
  if (!parts) split.set(text, (parts = text.split(/\{(\w+)\}/)));
  let filled = parts[0];
  for (let i = 1; i < parts.length; i += 2) filled += (values[parts[i]] ?? `{${parts[i]}}`) + parts[i + 1];
  return filled;
}

/**
 * Returns the text of prefix.name, where the server chose name; fallback, or
 * the name itself, if there is no such text.
 * @param {string} prefix
 * @param {string | undefined} name
 * @param {string} [fallback]
 */
export function label(prefix, name, fallback) {
  const key = `${prefix}.${(name ?? "").replaceAll(" ", "_")}`;
  return key in texts ? t(/** @type {Key} */ (key)) : (fallback ?? name ?? "");
}

/**
 * Returns what is wrong with a value: the server's words in English, which have
 * the limit and the value, otherwise the text of the code.
 * @param {Violation} v
 */
export const wrongOf = (v) => (language === "en" ? v.detail : label("violation", v.code, v.detail));

/** Returns the text of a refusal's code. @param {{ code: string, detail?: string }} refusal */
export const problemText = ({ code, detail }) => sentence(label("problem", code, detail));

/** Returns a number in the language of the page. @param {number} value @param {Intl.NumberFormatOptions} [options] */
export const number = (value, options) => value.toLocaleString(language, options);

/** Returns a size in megabytes. @param {number} bytes */
export const megabytes = (bytes) => `${number(bytes / 1e6, { maximumFractionDigits: bytes < 1e6 ? 2 : 1 })} MB`;

/** @param {number} share between 0 and 1 */
export const percent = (share) => number(share, { style: "percent", maximumFractionDigits: 0 });

/**
 * Formats a rate: .300 with three digits, 0.89 with two.
 * @param {number | null | undefined} v
 * @param {number} [digits]
 */
export const rate = (v, digits = 3) =>
  v === null || v === undefined
    ? "–"
    : number(v, { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace(
        digits === 3 ? /^0(?=\D)/ : "",
        "",
      );

/** Returns innings as 5.2 for 17 outs. @param {number} outs */
export const innings = (outs) => `${Math.floor(outs / 3)}.${outs % 3}`;

/** Formats the value of a statistic. @param {string} name @param {number} value */
export function figure(name, value) {
  if (["avg", "obp", "slg", "ops"].includes(name)) return rate(value);
  if (["era", "whip"].includes(name)) return rate(value, 2);
  return name.endsWith("outs") ? innings(value) : value;
}

/** Makes a sentence of a server message, which has no capital and no full stop. @param {string} text */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");

/** Returns the local date and time, or only the time if it is today. @param {string | undefined} at */
export function formatTime(at) {
  if (!at) return "";
  const date = new Date(at);
  const today = new Date().toDateString() === date.toDateString();
  return date.toLocaleString(language, today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" });
}

/** Returns when something is: the time today, the weekday within a week, otherwise the date. @param {string} at */
export function when(at) {
  const date = new Date(at);
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  const days = (date.getTime() - midnight.getTime()) / 864e5;
  if (days < 1 || days >= 7) return formatTime(at);
  return date.toLocaleString(language, { weekday: "short", hour: "numeric", minute: "2-digit" });
}

/** Returns the next moment at which a clock shows a time. @param {number} hour @param {number} minute */
export function nextTime(hour, minute) {
  const date = new Date();
  date.setHours(hour, minute, 0, 0);
  if (date.getTime() <= Date.now()) date.setDate(date.getDate() + 1);
  return date.toISOString();
}

/** Returns the numbers from 1. @param {number} n */
export const upTo = (n) => Array.from({ length: n }, (_, i) => i + 1);

/** Returns 1st for 1. @param {number} n */
export const ordinal = (n) => t("ordinal", { n });

// ---- weekly times

export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The days of the week as cron counts them: Sunday is 0. */
export const weekdays = [1, 2, 3, 4, 5, 6, 0];

/** @param {number} day @param {"short" | "long"} style */
// 2023 began on a Sunday
export const dayName = (day, style) => new Date(2023, 0, 1 + day).toLocaleString(language, { weekday: style });

/**
 * Returns the cron expression of a time on some weekdays.
 * @param {Set<number>} days
 * @param {string} time such as 06:30
 */
export function cronOf(days, time) {
  const [hour, minute] = time.split(":").map(Number);
  return `${minute} ${hour} * * ${days.size === weekdays.length ? "*" : [...days].sort().join()}`;
}

const cronNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/**
 * Returns the time and the weekdays of a cron expression, null if it is not one
 * time on some weekdays.
 * @param {string} cron
 */
export function parseCron(cron) {
  const [minute, hour, date, month, on, ...more] = cron.trim().toLowerCase().split(/\s+/);
  if (
    !on ||
    more.length ||
    date !== "*" ||
    month !== "*" ||
    !/^[0-5]?\d$/.test(minute) ||
    !/^([01]?\d|2[0-3])$/.test(hour)
  )
    return null;
  /** @type {Set<number>} */ const days = new Set();
  for (const part of on === "*" ? ["0-6"] : on.split(",")) {
    const [first, last = first, ...rest] = part
      .split("-")
      .map((day) => (/^[0-7]$/.test(day) ? Number(day) : cronNames.indexOf(day)));
    if (rest.length || first < 0 || last < first) return null;
    for (let day = first; day <= last; day++) days.add(day % 7);
  }
  return { days, hour: Number(hour), minute: Number(minute) };
}
