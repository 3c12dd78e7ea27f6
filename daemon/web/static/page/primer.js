// Baseball in six pictures, for who has never seen it.
import { html, svg } from "./lit-html.js";
import { t } from "./ui.js";

/** The diamond of all pictures: the plate below, first base to the right. */
const diamond = svg`<path class="grass" d="M60 84 8 32a73 73 0 0 1 104 0z"></path>
  <path class="infield" d="M60 82 34 56 60 30 86 56z"></path>
  ${[
    [60, 80],
    [84, 56],
    [60, 32],
    [36, 56],
  ].map(([x, y]) => svg`<rect class="bag" x=${x - 2.5} y=${y - 2.5} width="5" height="5"></rect>`)}`;

/** @param {number} x @param {number} y @param {string} [side] */
const player = (x, y, side = "field") => svg`<circle class=${side} cx=${x} cy=${y} r="3.6"></circle>`;
/** @param {string} d */
const way = (d) => svg`<path class="way" d=${d} marker-end="url(#primer-arrow)"></path>`;
/** @param {string} d */
const ball = (d) => svg`<path class="flight" d=${d}></path>`;
/** @param {number} x @param {number} y @param {number} of @param {number} lit */
const lamps = (x, y, of, lit) =>
  Array.from({ length: of }, (_, i) => {
    const kind = i < lit ? "on" : "off";
    return svg`<circle class=${kind} cx=${x + 13 * i} cy=${y} r="5"></circle>`;
  });

const fielders = [
  [60, 58],
  [60, 88],
  [90, 50],
  [74, 38],
  [46, 38],
  [30, 50],
  [26, 26],
  [60, 16],
  [94, 26],
];

/** The pictures, in the order of the texts. */
const pictures = [
  svg`${diamond}${fielders.map(([x, y]) => player(x, y))}${player(52, 80, "bat")}`,
  svg`${diamond}${player(60, 56)}${ball("M60 56V78")}${player(52, 80, "bat")}${ball("M56 78Q70 40 98 30")}`,
  svg`${diamond}${way("M64 78 83 60")}${way("M82 52 64 34")}${way("M56 34 38 52")}${way("M38 60 55 77")}
    ${player(60, 80, "bat")}`,
  svg`${diamond}${ball("M56 78Q60 10 94 26")}${player(94, 26)}${ball("M46 38 83 55")}${player(88, 52)}
    ${player(74, 68, "bat")}`,
  svg`<g class="lamps">${lamps(40, 26, 4, 3)}${lamps(40, 48, 3, 2)}${lamps(40, 70, 3, 1)}</g>
    ${["B", "S", "O"].map((letter, i) => svg`<text x="18" y=${31 + 22 * i}>${letter}</text>`)}`,
  svg`${[0, 1].map(
    (row) =>
      svg`${[0, 1, 2, 3, 4].map(
        (inning) =>
          svg`<rect class="cell" x=${8 + 21 * inning} y=${28 + 24 * row} width="19" height="20"></rect>
            <text class="figure" x=${17.5 + 21 * inning} y=${43 + 24 * row}>${[
              [0, 2, 0, 1, 3],
              [1, 0, 0, 1, 2],
            ][row][inning]}</text>`,
      )}`,
  )}`,
];

/** The pictures with their texts. */
export const primer = () =>
  html`<svg class="unseen" aria-hidden="true">
      <marker id="primer-arrow" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="4" markerHeight="4" orient="auto">
        <path d="M0 0 6 3 0 6z"></path>
      </marker>
    </svg>
    <ol class="cards primer">
      ${pictures.map(
        (picture, i) =>
          html`<li>
            <svg viewBox="0 0 120 96" aria-hidden="true">${picture}</svg>
            <h3>${t(/** @type {any} */ (`primer.${i + 1}.title`))}</h3>
            <p>${t(/** @type {any} */ (`primer.${i + 1}.text`))}</p>
          </li>`,
      )}
    </ol>`;
