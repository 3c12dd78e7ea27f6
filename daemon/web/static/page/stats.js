// Standings, batting and pitching lines of a season.
import { html, nothing } from "./lit-html.js";
import {
  t, label, api, session, season as defaultSeason, alertBox, requests, pennant, loading, rate, figure, number,
  playerName, cells, table, listed, url, valued,
} from "./ui.js";

const maxSeasons = 5;

/** @param {Api["Record"]} r */
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

/**
 * Returns what a page shows of a season: loaded now, and again when another season is chosen.
 * @template T
 * @param {() => void} update
 * @param {(season: number) => Promise<T>} load
 */
function seasonal(update, load) {
  const requested = requests(update);
  const page = {
    season: defaultSeason,
    /** @type {T | null} */ found: null,
    /** @type {Map<string, Club>} */ clubs: new Map(),
    problem: () => requested.problem,
    load: () =>
      requested.run(async () => {
        [page.found, page.clubs] = await Promise.all([load(page.season), clubsOf(page.season)]);
      }),
    choice: () =>
      html`<label class="inline">
        ${t("season")}
        <select
          @change=${valued((value) => {
            page.season = Number(value);
            void page.load();
          })}
        >
          ${Array.from({ length: Math.min(defaultSeason, maxSeasons) }, (_, i) => defaultSeason - i)
            .concat(imported.toReversed())
            .map((n) => html`<option value=${n} ?selected=${n === page.season}>${n}</option>`)}
        </select>
      </label>`,
  };
  void page.load();
  return page;
}

/** @param {string} here */
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

/** @type {Page} */
export function standings({ update }) {
  /** @param {number} season @returns {Promise<Api["Standing"][]>} */
  const load = async (season) => (await api("GET", `/api/stats/standings?season=${season}`)).standings;
  const page = seasonal(update, load);
  return {
    title: () => t("standings.title"),
    render: () =>
      html`<section class="leaf">
        <p class="kicker">${t("stats.kicker")}</p>
        <div class="row spread">
          <h1>${t("standings.title")}</h1>
          ${page.choice()}
        </div>
        ${tabs("/standings")} ${alertBox(page.problem())}
        ${listed(page.found, t("standings.none"), (rows) =>
          table(
            t("standings.title"),
            [
              t("board.club"), "W", "L", "T", "Pct", "GB", "RS", "RA", t("standings.home"), t("standings.away"),
              t("standings.streak"),
            ],
            rows.map(
              (r) =>
                html`<tr>
                  <th scope="row">
                    <span class="club-row">
                      ${pennant(page.clubs.get(r.team.id) ?? r.team)}
                      <span class="full">${r.team.name}</span>
                    </span>
                  </th>
                  ${cells([
                    r.w, r.l, r.t, rate(r.pct), r.gb ? number(r.gb) : "–", r.rs, r.ra, record(r.home),
                    record(r.away), r.streak,
                  ])}
                </tr>`,
            ),
          ), page.problem())}
      </section>`,
  };
}

const short = new Map([["doubles", "2B"], ["triples", "3B"]]);
/** Returns the fields of columns with their heads. @param {string} fields */
const heads = (fields) => fields.split(" ").map((field) => [field, short.get(field) ?? field.toUpperCase()]);
const batting = heads("g pa ab r h doubles triples hr rbi bb so sb lob avg obp slg ops");
const pitching = heads("g gs w l sv hld bs qs ip h r er bb so hr era whip");

/** @type {Page} */
export function players({ update, query }) {
  /** @type {Record<"batting" | "pitching", string>} */ const by = { batting: "pa", pitching: "outs" };
  let team = query.get("team") ?? "";
  const page = seasonal(
    update,
    /** @returns {Promise<Record<"batting" | "pitching", any[]>>} */
    (season) => api("GET", `/api/stats/players?season=${season}${team ? url`&team=${team}` : ""}`),
  );
  /** The columns that sort from low to high. */
  const ascending = new Set(["era", "whip"]);
  /** @param {"batting" | "pitching"} kind @param {string[][]} columns */
  const lines = (kind, columns) => {
    const rows = [...(page.found?.[kind] ?? [])].sort((a, b) => {
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
                        ${playerName(p.player_id, p.name, { season: page.season, team: p.team.id })}
                        <small>${p.team.abbrev}</small>
                      </th>
                      ${cells(columns.map(([field]) => figure(field, p[field])))}
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
                @change=${valued((id) => {
                  team = id;
                  void page.load();
                })}
              >
                <option value="">${t("players.all")}</option>
                ${[...page.clubs.values()].map(
                  (c) => html`<option value=${c.id} ?selected=${c.id === team}>${c.name}</option>`,
                )}
              </select>
            </label>
            ${page.choice()}
          </p>
          ${alertBox(page.problem())}
        </section>
        ${page.found
          ? html`${lines("batting", batting)}${lines("pitching", pitching)}`
          : page.problem()
            ? nothing
            : loading()}`,
  };
}

/** @param {Api["LadderManager"]} m */
const nameOf = (m) =>
  m.bot
    ? `${t("new.opponent.bot")} (${label("new.bot_level", String(m.level))})`
    : m.name || t("managers.former");

/** @type {Page} */
export function managers({ update }) {
  /** @type {Api["ManagerRecord"][] | null} */ let rows = null;
  const requested = requests(update);
  void requested.run(async () => {
    rows = (await api("GET", "/api/stats/managers")).managers;
  });
  return {
    title: () => t("managers.title"),
    render: () =>
      html`<section class="leaf">
        <p class="kicker">${t("stats.kicker")}</p>
        <h1>${t("managers.title")}</h1>
        ${tabs("/managers")}${alertBox(requested.problem)}
        ${listed(rows, t("managers.none"), (rows) =>
          html`${table(
              t("managers.title"),
              [t("managers.manager"), "G", "W", "L", "T", "Pct", t("managers.rating"), t("managers.against")],
              rows.map(
                (r) =>
                  html`<tr>
                    <th scope="row">${nameOf(r.manager)}</th>
                    ${cells([r.g, r.w, r.l, r.t, rate(r.pct), `${r.rating} ± ${r.rating_error}`])}
                    <td>
                      ${r.opponents.map((o) => html`<span class="full">${nameOf(o.manager)} ${record(o)}</span> `)}
                    </td>
                  </tr>`,
              ),
            )}
            <p class="hint">${t("managers.rating.text")}</p>`, requested.problem)}
      </section>`,
  };
}

/** Lists the leaders of a season and the most that was done in one game. @type {Page} */
export function leaders({ update }) {
  const page = seasonal(
    update,
    /** @returns {Promise<Api["Leaders"]>} */
    (season) => api("GET", `/api/stats/leaders?season=${season}`),
  );
  /** @param {string} id @param {string} name @param {Club} team */
  const player = (id, name, team) => playerName(id, name, { season: page.season, team: team.id });
  /** @param {Api["Category"][]} all */
  const lists = (all) =>
    html`<div class="columns">
      ${all
        .filter((c) => c.leaders.length)
        .map(
          (c) =>
            html`<div>
              <h3>${label("leaders", c.statistic)}</h3>
              <ol>
                ${c.leaders.map(
                  (l) =>
                    html`<li>
                      ${player(l.player_id, l.name, l.team)}
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
            ${page.choice()}
          </div>
          ${tabs("/leaders")}${alertBox(page.problem())}
          ${page.found && !page.found.records.length ? html`<p class="empty">${t("standings.none")}</p>` : nothing}
        </section>
        ${!page.found
          ? page.problem()
            ? nothing
            : loading()
          : !page.found.records.length
            ? nothing
            : html`<section class="leaf">
                  <h2>${t("players.batting")}</h2>
                  ${lists(page.found.batting)}
                </section>
                <section class="leaf">
                  <h2>${t("players.pitching")}</h2>
                  ${lists(page.found.pitching)}
                </section>
                <section class="leaf">
                  <h2>${t("leaders.records")}</h2>
                  <div class="scroll" tabindex="0" role="region" aria-label=${t("leaders.records")}>
                    <table class="records">
                      <tbody>
                        ${page.found.records.map(
                          (r) =>
                            html`<tr>
                              <th scope="row">${label("record", r.statistic)}</th>
                              <td>${figure(r.statistic, r.value)}</td>
                              <td>
                                ${r.name
                                  ? html`${player(r.player_id ?? "", r.name, r.team)}
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
