// The clubs' colors, readable on each other and on the page.

/** @param {string} hex @returns {number[]} */
const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

/** Returns the relative luminance (WCAG 2.2). @param {number[]} c */
function luminance(c) {
  const [r, g, b] = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Returns the contrast ratio (WCAG 2.2). @param {number[]} a @param {number[]} b */
function contrast(a, b) {
  const [hi, lo] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (hi + 0.05) / (lo + 0.05);
}

/**
 * Mixes a color with another one until its contrast to the background is at least 4.5.
 * @param {number[]} c
 * @param {number[]} to
 * @param {number[]} background
 */
function readable(c, to, background) {
  for (let i = 0; i <= 20; i++) {
    const mixed = c.map((v, j) => Math.round(v + ((to[j] - v) * i) / 20));
    if (contrast(mixed, background) >= 4.5) return mixed;
  }
  return to;
}

const css = (/** @type {number[]} */ c) => `rgb(${c.join(" ")})`;
const black = [0, 0, 0];
const white = [255, 255, 255];
/** Returns the colors of a variable of 0-colors.css. @param {string} name */
const colorsOf = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).match(/#[0-9a-f]{6}/g) ?? [];
/** @type {Map<string, string>} */
const styles = new Map();

/**
 * Returns the style that gives an element a club's colors: --club; --club-ink,
 * readable on --club; and --club-mark, readable on the page.
 * @param {Club | undefined} club
 */
export function clubStyle(club) {
  const given = club?.color ?? "";
  const hex = /^#[0-9a-f]{6}$/i.test(given) ? given : `#${given}`;
  const color = /^#[0-9a-f]{6}$/i.test(hex) ? hex : (colorsOf("--clubless")[0] ?? "");
  let style = styles.get(color);
  if (!style) {
    const c = rgb(color);
    const [day = white, night = black] = colorsOf("--club-page").map(rgb);
    const ink = contrast(c, white) >= contrast(c, black) ? white : black;
    const mark = `light-dark(${css(readable(c, black, day))},${css(readable(c, white, night))})`;
    style = `--club:${css(c)};--club-ink:${css(ink)};--club-mark:${mark}`;
    styles.set(color, style);
  }
  return style;
}
