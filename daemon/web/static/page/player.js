// The card of a player, in a dialog. app.js opens it when a name is pressed that
// playerName of ui.js rendered.
import { html, render, nothing } from "./lit-html.js";
import {
  t, api, figure, percent, label, alertBox, problemOf, loading, pennant, clubStyle, tiredness, restOf, pitches, table,
  openDialog, closeButton,
} from "./ui.js";

/** @typedef {keyof Ratings} Grade */

/** @type {readonly Grade[]} */
const atThePlate = ["contact", "power", "eye", "speed", "arm", "glove"];
/** @type {readonly Grade[]} */
const onTheMound = ["control", "stuff", "stamina"];

/** Opens the card of a player. @param {DOMStringMap} of */
export async function openCard({ player = "", game, season, team }) {
  const card = (/** @type {unknown} */ content) => html`${content} ${closeButton()}`;
  const dialog = openDialog("player-card", t("player.title"), card(loading()));
  const where = new URLSearchParams(Object.entries({ game, season, team }).flatMap(([k, v]) => (v ? [[k, v]] : [])));
  try {
    const shown = await api("GET", `/api/players/${encodeURIComponent(player)}?${where}`);
    render(card(details(shown, Boolean(game))), dialog);
  } catch (err) {
    render(card(alertBox(problemOf(err))), dialog);
  }
}

/** @param {Player & { team: Club }} p @param {boolean} playing whether it is a card of a game */
function details(p, playing) {
  const throwing = pitches(p);
  const batting = p.positions.some((r) => !["SP", "RP", "CP", "P"].includes(r));
  return html`<h2>${p.name} ${p.number ? html`<small>${t("player.number", { n: p.number })}</small>` : nothing}</h2>
    <p class="row">
      ${pennant(p.team)} <span>${p.team.name}</span> <span>${p.positions.join(" ")}</span>
      <small>
        ${label("bats", p.bats)},
        ${label("throws", p.throws)}${p.age ? `, ${t("player.age", { n: p.age })}` : ""}
      </small>
    </p>
    <div class="grades" .style=${clubStyle(p.team)}>
      ${throwing ? grades(p, "player.pitching", onTheMound) : nothing}
      ${batting ? grades(p, "player.hitting", atThePlate) : nothing}
    </div>
    <p class="hint">${t("player.scale")} ${label("player.source", p.source)}</p>
    ${throwing ? html`<p>${condition(p, playing)}</p>` : nothing}
    ${batting || p.today?.batting
      ? lines(t("player.hitting"), battingColumns, p.season?.batting, p.today?.batting)
      : nothing}
    ${throwing || p.today?.pitching
      ? lines(t("player.pitching"), pitchingColumns, p.season?.pitching, p.today?.pitching)
      : nothing}`;
}

/** @param {Player} p @param {"player.hitting" | "player.pitching"} title @param {readonly Grade[]} which */
const grades = (p, title, which) =>
  html`<section>
    <h3>${t(title)}</h3>
    <dl>
      ${which.map(
        (g) =>
          html`<div>
            <dt>${t(`rating.${g}`)}</dt>
            <dd>
              <span class="grade" aria-hidden="true">
                <span .style=${`width:${((p.ratings[g] - 20) / 60) * 100}%`}></span>
              </span>
              ${p.ratings[g]}
            </dd>
          </div>`,
      )}
    </dl>
  </section>`;

/** Describes what a pitcher has left. @param {Player} p @param {boolean} playing */
function condition(p, playing) {
  return [
    restOf(p),
    ...(playing
      ? [
          t("player.pitches", { n: p.pitches }),
          t("player.fatigue", { word: t(tiredness(p.fatigue)), share: percent(Math.min(p.fatigue, 1)) }),
        ]
      : []),
  ].join(" · ");
}

/** @typedef {Record<string, any> | null | undefined} Totals */

/** The columns of a line: a head, and the field or what it shows. @type {readonly (readonly [string, string])[]} */
const battingColumns = [
  ["G", "g"],
  ["AB", "ab"],
  ["R", "r"],
  ["H", "h"],
  ["2B", "doubles"],
  ["3B", "triples"],
  ["HR", "hr"],
  ["RBI", "rbi"],
  ["BB", "bb"],
  ["SO", "so"],
  ["SB", "sb"],
  ["AVG", "avg"],
  ["OPS", "ops"],
];
/** @type {readonly (readonly [string, string])[]} */
const pitchingColumns = [
  ["G", "g"],
  ["W", "w"],
  ["L", "l"],
  ["SV", "sv"],
  ["IP", "outs"],
  ["H", "h"],
  ["R", "r"],
  ["ER", "er"],
  ["BB", "bb"],
  ["SO", "so"],
  ["HR", "hr"],
  ["ERA", "era"],
];

/** The statistics that a line of one day does not have. */
const ofSeason = new Set(["g", "w", "l", "sv", "avg", "ops", "era"]);

/**
 * @param {string} title
 * @param {readonly (readonly [string, string])[]} columns
 * @param {Totals} season
 * @param {Totals} today
 */
function lines(title, columns, season, today) {
  if (!season && !today) return html`<p class="empty">${t("player.nolines")}</p>`;
  const row = (/** @type {string} */ head, /** @type {Totals} */ line, /** @type {boolean} */ day) =>
    line
      ? html`<tr>
          <th scope="row">${head}</th>
          ${columns.map(
            ([, field]) => html`<td>${day && ofSeason.has(field) ? "" : figure(field, line[field] ?? 0)}</td>`,
          )}
        </tr>`
      : nothing;
  return table(title, [title, ...columns.map(([head]) => head)], [
    row(t("season"), season, false),
    row(t("player.today"), today, true),
  ]);
}
