// Standings, batting and pitching lines of a season.
import { html, nothing } from "./lit-html.js";
import {
  t, api, session, season as defaultSeason, alertBox, problemOf, pennant, loading, rate, number, playerName, cells,
  columns, listed,
} from "./ui.js";

const maxSeasons = 5;

/**
 * @typedef {{ w: number, l: number, t: number }} WonLost
 * @typedef {WonLost & { team: Club, g: number, pct: number | null, gb: number, rs: number, ra: number, streak:
 *   string, home: WonLost, away: WonLost }} Standing
 * @typedef {Record<string, any> & { player_id: string, name: string, team: Club }} Line
 */

/** @param {WonLost} r */
const record = (r) => `${r.w}–${r.l}${r.t ? `–${r.t}` : ""}`;

/** The imported seasons, which stand beside the league's. @type {number[]} */
let imported = [];

/**
 * Returns the clubs of a season by id, with their colors.
 * @param {number} season
 * @returns {Promise<Map<string, Club>>}
 */
async function clubsOf(season) {
  if (!session.me) return new Map(); // visitors see games, not the clubs of a season
  const answer = await api("GET", `/api/teams?season=${season}`);
  imported = answer.seasons ?? [];
  return new Map(answer.teams.map((/** @type {Club} */ c) => [c.id, c]));
}

/** @param {number} season @param {(season: number) => void} choose */
const seasons = (season, choose) =>
  html`<label class="inline">
    ${t("stats.season")}
    <select @change=${(/** @type {any} */ e) => choose(Number(e.target.value))}>
      ${Array.from({ length: Math.min(defaultSeason, maxSeasons) }, (_, i) => defaultSeason - i)
        .concat(imported.toReversed())
        .map((n) => html`<option value=${n} ?selected=${n === season}>${n}</option>`)}
    </select>
  </label>`;

/** Links the pages of statistics. @param {string} here */
export const tabs = (here) =>
  html`<p class="row">
    ${/** @type {const} */ ([
      ["/standings", "standings.title"],
      ["/players", "players.title"],
      ["/leaders", "leaders.title"],
      ["/managers", "managers.title"],
      ["/leagues", "leagues.title"],
    ]).map(([to, name]) => html`<a href=${to} aria-current=${to === here ? "page" : nothing}>${t(name)}</a>`)}
  </p>`;

/** @param {PageContext} page @returns {View} */
export function standings({ update }) {
  /** @type {Standing[] | null} */ let rows = null;
  /** @type {Map<string, Club>} */ let clubs = new Map();
  /** @type {import("./ui.js").Problem | null} */ let problem = null;
  let season = defaultSeason;
  const load = async () => {
    try {
      const [answer, known] = await Promise.all([api("GET", `/api/stats/standings?season=${season}`), clubsOf(season)]);
      [rows, clubs, problem] = [answer.standings, known, null];
    } catch (err) {
      problem = problemOf(err);
    }
    update();
  };
  void load();
  return {
    title: () => t("standings.title"),
    render: () =>
      html`<section class="leaf">
        <p class="kicker">${t("stats.kicker")}</p>
        <div class="row spread">
          <h1>${t("standings.title")}</h1>
          ${seasons(season, (n) => {
            season = n;
            void load();
          })}
        </div>
        ${tabs("/standings")} ${alertBox(problem)}
        ${listed(rows, t("standings.none"), (rows) =>
          html`<div class="scroll" tabindex="0" role="region" aria-label=${t("standings.title")}>
              <table>
                <thead>
                  <tr>
                    <th scope="col">${t("board.club")}</th>
                    ${columns(["W", "L", "T", "Pct", "GB", "RS", "RA"])}
                    <th scope="col">${t("standings.home")}</th>
                    <th scope="col">${t("standings.away")}</th>
                    <th scope="col">${t("standings.streak")}</th>
                  </tr>
                </thead>
                <tbody>
                  ${rows.map(
                    (r) =>
                      html`<tr>
                        <th scope="row">
                          <span class="club-row">
                            ${pennant(clubs.get(r.team.id) ?? r.team)}
                            <span class="full">${r.team.name}</span>
                          </span>
                        </th>
                        ${cells([
                          r.w, r.l, r.t, rate(r.pct), r.gb ? number(r.gb) : "–", r.rs, r.ra, record(r.home),
                          record(r.away), r.streak,
                        ])}
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`, problem)}
      </section>`,
  };
}

const batting = /** @type {const} */ ([
  ["g", "G"],
  ["pa", "PA"],
  ["ab", "AB"],
  ["r", "R"],
  ["h", "H"],
  ["doubles", "2B"],
  ["triples", "3B"],
  ["hr", "HR"],
  ["rbi", "RBI"],
  ["bb", "BB"],
  ["so", "SO"],
  ["sb", "SB"],
  ["lob", "LOB"],
  ["avg", "AVG"],
  ["obp", "OBP"],
  ["slg", "SLG"],
  ["ops", "OPS"],
]);
const pitching = /** @type {const} */ ([
  ["g", "G"],
  ["gs", "GS"],
  ["w", "W"],
  ["l", "L"],
  ["sv", "SV"],
  ["hld", "HLD"],
  ["bs", "BS"],
  ["qs", "QS"],
  ["ip", "IP"],
  ["h", "H"],
  ["r", "R"],
  ["er", "ER"],
  ["bb", "BB"],
  ["so", "SO"],
  ["hr", "HR"],
  ["era", "ERA"],
  ["whip", "WHIP"],
]);

/** @param {PageContext} page @returns {View} */
export function players({ update, query }) {
  /** @type {{ batting: Line[], pitching: Line[] } | null} */ let lines = null;
  /** @type {Map<string, Club>} */ let clubs = new Map();
  /** @type {import("./ui.js").Problem | null} */ let problem = null;
  /** @type {Record<"batting" | "pitching", string>} */ const by = { batting: "pa", pitching: "outs" };
  let season = defaultSeason;
  let team = query.get("team") ?? "";
  const load = async () => {
    try {
      const [answer, known] = await Promise.all([
        api("GET", `/api/stats/players?season=${season}${team ? `&team=${encodeURIComponent(team)}` : ""}`),
        clubsOf(season),
      ]);
      [lines, clubs, problem] = [answer, known, null];
    } catch (err) {
      problem = problemOf(err);
    }
    update();
  };
  void load();
  /** The columns that sort from low to high. */
  const ascending = new Set(["era", "whip"]);
  /** @param {"batting" | "pitching"} kind @param {readonly (readonly [string, string])[]} columns */
  const table = (kind, columns) => {
    const rows = [...(lines?.[kind] ?? [])].sort((a, b) => {
      const [x, y] = [Number(a[by[kind]] ?? NaN), Number(b[by[kind]] ?? NaN)];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
      return ascending.has(by[kind]) ? x - y : y - x;
    });
    return html`<section class="leaf">
      <h2>${t(`players.${kind}`)}</h2>
      ${!rows.length
        ? html`<p class="empty">${t("players.none")}</p>`
        : html`<div class="scroll" tabindex="0" role="region" aria-label=${t(`players.${kind}`)}>
            <table>
              <thead>
                <tr>
                  <th scope="col">${t("players.player")}</th>
                  ${columns.map(
                    ([field, head]) =>
                      html`<th
                        scope="col"
                        aria-sort=${by[kind] === field
                          ? ascending.has(field)
                            ? "ascending"
                            : "descending"
                          : nothing}
                      >
                        <button
                          class="sort"
                          @click=${() => {
                            by[kind] = field;
                            update();
                          }}
                        >
                          ${head}
                        </button>
                      </th>`,
                  )}
                </tr>
              </thead>
              <tbody>
                ${rows.map(
                  (p) =>
                    html`<tr>
                      <th scope="row">
                        ${playerName(p.player_id, p.name, { season, team: p.team.id })}
                        <small>${p.team.abbrev}</small>
                      </th>
                      ${columns.map(
                        ([field]) =>
                          html`<td>
                            ${["avg", "obp", "slg", "ops"].includes(field)
                              ? rate(p[field])
                              : ["era", "whip"].includes(field)
                                ? rate(p[field], 2)
                                : p[field]}
                          </td>`,
                      )}
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`}
    </section>`;
  };
  return {
    title: () => t("players.title"),
    render: () =>
      html`<section class="leaf">
          <p class="kicker">${t("stats.kicker")}</p>
          <h1>${t("players.title")}</h1>
          ${tabs("/players")}
          <p class="row">
            <label class="inline">
              ${t("board.club")}
              <select
                @change=${(/** @type {any} */ e) => {
                  team = e.target.value;
                  void load();
                }}
              >
                <option value="">${t("players.all")}</option>
                ${[...clubs.values()].map(
                  (c) => html`<option value=${c.id} ?selected=${c.id === team}>${c.name}</option>`,
                )}
              </select>
            </label>
            ${seasons(season, (n) => {
              season = n;
              void load();
            })}
          </p>
          ${alertBox(problem)}
        </section>
        ${lines === null
          ? problem
            ? nothing
            : loading()
          : html`${table("batting", batting)}${table("pitching", pitching)}`}`,
  };
}

/**
 * @typedef {{ id?: string, name?: string, bot?: boolean }} Ranked
 * @typedef {WonLost & { manager: Ranked, g: number, pct: number | null, rating: number, opponents: (WonLost & {
 *   manager: Ranked })[] }} Rank
 * @typedef {{ statistic: string, leaders: { player_id: string, name: string, team: Club, value: number }[] }} Category
 * @typedef {{ statistic: string, value: number, player_id?: string, name?: string, team: Club, opponent: Club,
 *   game?: string }} Feat
 */

/** @param {Ranked} m */
const nameOf = (m) => (m.bot ? t("new.opponent.bot") : m.name || t("managers.former"));

/** Ranks managers, each with the record against the others. @param {PageContext} page @returns {View} */
export function managers({ update }) {
  /** @type {Rank[] | null} */ let rows = null;
  /** @type {import("./ui.js").Problem | null} */ let problem = null;
  void api("GET", "/api/stats/managers").then(
    (answer) => {
      rows = answer.managers;
      update();
    },
    (err) => {
      problem = problemOf(err);
      update();
    },
  );
  return {
    title: () => t("managers.title"),
    render: () =>
      html`<section class="leaf">
        <p class="kicker">${t("stats.kicker")}</p>
        <h1>${t("managers.title")}</h1>
        ${tabs("/managers")}${alertBox(problem)}
        ${listed(rows, t("managers.none"), (rows) =>
          html`<div class="scroll" tabindex="0" role="region" aria-label=${t("managers.title")}>
                <table>
                  <thead>
                    <tr>
                      <th scope="col">${t("managers.manager")}</th>
                      ${columns(["G", "W", "L", "T", "Pct"])}
                      <th scope="col">${t("managers.rating")}</th>
                      <th scope="col">${t("managers.against")}</th>
                    </tr>
                  </thead>
                  <tbody>
                    ${rows.map(
                      (r) =>
                        html`<tr>
                          <th scope="row">${nameOf(r.manager)}</th>
                          ${cells([r.g, r.w, r.l, r.t, rate(r.pct), r.rating])}
                          <td>
                            ${r.opponents.map(
                              (o) => html`<span class="full">${nameOf(o.manager)} ${record(o)}</span> `,
                            )}
                          </td>
                        </tr>`,
                    )}
                  </tbody>
                </table>
              </div>
              <p class="hint">${t("managers.rating.text")}</p>`, problem)}
      </section>`,
  };
}

/** Formats the value of a statistic. @param {string} statistic @param {number} value */
const figure = (statistic, value) =>
  ["avg", "ops"].includes(statistic)
    ? rate(value)
    : ["era", "whip"].includes(statistic)
      ? rate(value, 2)
      : statistic === "pitcher_outs"
        ? `${Math.floor(value / 3)}.${value % 3}`
        : String(value);

/** Lists the leaders of a season and the most that was done in one game. @param {PageContext} page @returns {View} */
export function leaders({ update }) {
  /** @type {{ batting: Category[], pitching: Category[], records: Feat[] } | null} */ let found = null;
  /** @type {import("./ui.js").Problem | null} */ let problem = null;
  let season = defaultSeason;
  const load = async () => {
    try {
      const [answer] = await Promise.all([api("GET", `/api/stats/leaders?season=${season}`), clubsOf(season)]);
      [found, problem] = [answer, null];
    } catch (err) {
      problem = problemOf(err);
    }
    update();
  };
  void load();
  /** @param {Category[]} all */
  const lists = (all) =>
    html`<div class="columns">
      ${all
        .filter((c) => c.leaders.length)
        .map(
          (c) =>
            html`<div>
              <h3>${t(/** @type {any} */ (`leaders.${c.statistic}`))}</h3>
              <ol>
                ${c.leaders.map(
                  (l) =>
                    html`<li>
                      ${playerName(l.player_id, l.name, { season, team: l.team.id })}
                      <span class="one-line">
                        <small>${l.team.abbrev}</small> <b>${figure(c.statistic, l.value)}</b>
                      </span>
                    </li>`,
                )}
              </ol>
            </div>`,
        )}
    </div>`;
  return {
    title: () => t("leaders.title"),
    render: () =>
      html`<section class="leaf">
          <p class="kicker">${t("stats.kicker")}</p>
          <div class="row spread">
            <h1>${t("leaders.title")}</h1>
            ${seasons(season, (n) => {
              season = n;
              void load();
            })}
          </div>
          ${tabs("/leaders")}${alertBox(problem)}
          ${found && !found.records.length ? html`<p class="empty">${t("standings.none")}</p>` : nothing}
        </section>
        ${found === null
          ? problem
            ? nothing
            : loading()
          : !found.records.length
            ? nothing
            : html`<section class="leaf">
                  <h2>${t("players.batting")}</h2>
                  ${lists(found.batting)}
                </section>
                <section class="leaf">
                  <h2>${t("players.pitching")}</h2>
                  ${lists(found.pitching)}
                </section>
                <section class="leaf">
                  <h2>${t("leaders.records")}</h2>
                  <div class="scroll" tabindex="0" role="region" aria-label=${t("leaders.records")}>
                    <table class="records">
                      <tbody>
                        ${found.records.map(
                          (r) =>
                            html`<tr>
                              <th scope="row">${t(/** @type {any} */ (`record.${r.statistic}`))}</th>
                              <td>${figure(r.statistic, r.value)}</td>
                              <td>
                                ${r.name
                                  ? html`${playerName(r.player_id ?? "", r.name, { season, team: r.team.id })}
                                      <small>${r.team.abbrev}</small>`
                                  : r.team.name}
                              </td>
                              <td class="text">
                                ${r.game
                                  ? html`<a href="/games/${r.game}">
                                      ${t("record.against", { club: r.opponent.name })}
                                    </a>`
                                  : t("record.against", { club: r.opponent.name })}
                              </td>
                            </tr>`,
                        )}
                      </tbody>
                    </table>
                  </div>
                </section>`}`,
  };
}
