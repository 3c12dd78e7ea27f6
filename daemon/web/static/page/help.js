// How to play: five cards, the glossary and the keys, as a page and in a dialog,
// which app.js opens with the key ? or a button with data-help.
import { html } from "./lit-html.js";
import { primer } from "./primer.js";
import { t, label, openDialog, closeButton } from "./ui.js";

/** The terms of the glossary by section. */
const sections = /** @type {const} */ ([
  ["help.figures", ["runs", "win", "coach", "skip"]],
  [
    "help.atbat",
    [
      "swing",
      "take",
      "sacrifice",
      "bunt_for_hit",
      "squeeze",
      "hit_and_run",
      "steal_second",
      "steal_third",
      "steal_home",
      "double_steal",
    ],
  ],
  [
    "help.field",
    [
      "pitch_to",
      "pitch_around",
      "intentional_walk",
      "pitch-out",
      "pick-off_throw",
      "infield.in",
      "infield.corners_in",
      "infield.double-play_depth",
      "outfield.shallow",
      "outfield.deep",
      "behind",
      "lines",
    ],
  ],
  ["help.contact", ["bold", "safe"]],
  ["help.bench", ["PH", "PR", "P", "double"]],
]);

const cards = /** @type {const} */ ([1, 2, 3, 4, 5]);
/** @type {readonly (readonly [string, Parameters<typeof t>[0]])[]} */
const keys = [
  ["1–9", "help.key.calls"],
  ["S B C L", "help.key.read"],
  ["?", "help.key.help"],
];

/** @param {boolean} page whether it is the page of its own */
const content = (page) =>
  html`${page ? html`<h1>${t("help.title")}</h1>` : html`<h2>${t("help.title")}</h2>`}
    <ol class="cards">
      ${cards.map(
        (n) =>
          html`<li>
            ${page ? html`<h2>${t(`help.${n}.title`)}</h2>` : html`<h3>${t(`help.${n}.title`)}</h3>`}
            <p>${t(`help.${n}.text`)}</p>
          </li>`,
      )}
    </ol>
    <h2>${t("primer.title")}</h2>
    ${primer()}
    <h2>${t("help.glossary")}</h2>
    ${sections.map(
      ([title, terms]) =>
        html`<h3>${t(title)}</h3>
          <dl class="terms">
            ${terms.map(
              (term) =>
                html`<dt tabindex="-1" data-term=${term}>${label("name", term, label("term", term))}</dt>
                  <dd>${label("does", term)}</dd>`,
            )}
          </dl>`,
    )}
    <h2>${t("help.keys")}</h2>
    <dl class="terms">
      ${keys.map(
        ([key, text]) =>
          html`<dt>${key.split(" ").map((k) => html`<kbd>${k}</kbd> `)}</dt>
            <dd>${t(text)}</dd>`,
      )}
    </dl>`;

/** @returns {View} */
export const help = () => ({
  title: () => t("help.title"),
  render: () => html`<section class="leaf prose">${content(true)}</section>`,
});

/**
 * Opens the dialog, once, at a term of the glossary if it is given.
 * @param {string} [term]
 */
export function openHelp(term) {
  if (document.querySelector("dialog[open]")) return;
  const dialog = openDialog("help", t("help.title"), html`${closeButton()} ${content(false)}`);
  if (term)
    /** @type {HTMLElement | null} */ (
      dialog.querySelector(`[data-term="${CSS.escape(term.replaceAll(" ", "_"))}"]`)
    )?.focus();
}
