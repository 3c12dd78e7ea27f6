// Series and leagues: the list, the form for a new one, and one with its calendar and standings.
import { html, nothing } from "./lit-html.js";
import {
  t, label, api, season, formatTime, number, alertBox, problemOf, problemView, requests, pennant, loading, cells,
  table, violationsAt, valued, submitted, upTo,
} from "./ui.js";
import { tabs } from "./stats.js";

const pollInterval = 5000; // milliseconds; nothing is sent when a league advances
const mostSeats = 8;

/** @typedef {Api["LeagueSeat"]} Seat */
/** @typedef {Api["League"]} League */

/** @param {Seat} s */
const nameOf = (s) =>
  s.left ? t("leagues.left", { name: s.left }) : s.bot ? t("game.bot") : (s.manager?.name ?? t("game.open"));

/** @param {Seat} s */
const clubOf = (s) =>
  html`<span class="club-row">
    ${pennant(s.team)}<span><span class="full">${s.team.name}</span> <small>${nameOf(s)}</small></span>
  </span>`;

/** @param {{ kind: string, id: string }} l */
const addressOf = (l) => `/${l.kind === "series" ? "series" : "leagues"}/${l.id}`;

/** The rules of a league in one line. @param {League} l */
function rulesOf(l) {
  const rules = [
    l.kind === "series" ? t("leagues.bestof", { n: l.best_of }) : t("leagues.meets", { n: l.meetings ?? 1 }),
  ];
  if (l.kind === "league" && l.best_of) rules.push(t("leagues.final", { n: l.best_of }));
  rules.push(t("leagues.innings", { n: l.options.innings }), t("leagues.covered", { n: l.cover_hours }));
  if (l.play_at) rules.push(t("leagues.botsat", { time: l.play_at }));
  return rules.join(" · ");
}

/** @type {Page} */
export function leagues({ update, me, go }) {
  /** @type {League[] | null} */ let all = null;
  const requested = requests(update);
  void requested.run(async () => {
    const [some, others] = await Promise.all([api("GET", "/api/leagues"), api("GET", "/api/series")]);
    all = [...some.leagues, ...others.series].sort((a, b) => b.created_at.localeCompare(a.created_at));
  });
  const form = me ? newLeague(update, go) : null;
  /** @param {string} title @param {(l: League) => boolean} of */
  const list = (title, of) => {
    const some = all?.filter(of) ?? [];
    return some.length
      ? html`<section class="leaf">
          <h2>${title}</h2>
          <ul class="stubs">
            ${some.map(
              (l) =>
                html`<li>
                  <div>
                    <strong><a href=${addressOf(l)}>${l.name}</a></strong>
                    <span class="tag">${t(l.kind === "series" ? "leagues.series" : "leagues.league")}</span>
                    <p class="hint">
                      ${l.status === "finished" && l.champion !== undefined
                        ? t("leagues.champion", {
                            name: nameOf(l.seats[l.champion]),
                            club: l.seats[l.champion].team.name,
                          })
                        : `${l.seats.map(nameOf).join(", ")} · ${rulesOf(l)}`}
                    </p>
                  </div>
                </li>`,
            )}
          </ul>
        </section>`
      : nothing;
  };
  return {
    title: () => t("leagues.title"),
    render: () =>
      html`<section class="leaf">
          <p class="kicker">${t("stats.kicker")}</p>
          <h1>${t("leagues.title")}</h1>
          ${me ? tabs("/leagues") : nothing}${alertBox(requested.problem)}
          ${all === null
            ? requested.problem
              ? nothing
              : loading()
            : !all.length
              ? html`<p class="empty">${t("leagues.none")}</p>`
              : nothing}
          ${form?.() ?? html`<p class="hint">${t("leagues.signin")}</p>`}
        </section>
        ${list(t("leagues.pending"), (l) => l.status === "pending")}
        ${list(t("leagues.active"), (l) => l.status === "active")}
        ${list(t("leagues.finished"), (l) => l.status === "finished")}`,
  };
}

/** @param {() => void} update @param {(path: string) => void} go */
function newLeague(update, go) {
  /** @type {Club[] | null} */ let clubs = null;
  const requested = requests(update);
  let sending = false;
  const rules = { kind: "league", name: "", seats: 4, meetings: 2, best_of: 3, cover_hours: 48, play_at: "" };
  const options = { innings: 9, bot_level: 3, visibility: "listed" };
  /** @type {{ team: string, manager: string }[]} */ let seats = []; // the most that there can be
  const load = () =>
    requested.run(async () => {
      const found = /** @type {Club[]} */ ((await api("GET", `/api/teams?season=${season}`)).teams);
      seats = Array.from({ length: mostSeats }, (_, i) => ({ team: found[i]?.id ?? "", manager: i ? "bot" : "me" }));
      clubs = found;
    });
  const isSeries = () => rules.kind === "series";
  const taken = () => seats.slice(0, isSeries() ? 2 : rules.seats);
  const submit = submitted(async () => {
    if (sending) return;
    sending = true;
    await requested.run(async () => {
      const { kind, meetings, play_at, ...rest } = rules;
      const created = await api("POST", kind === "series" ? "/api/series" : "/api/leagues", {
        ...rest,
        season,
        seats: taken(),
        meetings: kind === "league" ? meetings : undefined,
        play_at: play_at || undefined,
        options,
      });
      go(addressOf(created));
    });
    sending = false;
    update();
  });
  /** @param {string} path */
  const violations = (path) => violationsAt(requested.problem, path);
  /**
   * A list of values of a member of an object.
   * @template {string | number} V
   * @template {string} K
   * @param {string} id
   * @param {string} text
   * @param {V[]} values
   * @param {Record<K, V>} of
   * @param {K} key
   * @param {(v: V) => string} [name]
   */
  const choice = (id, text, values, of, key, name = (v) => number(Number(v))) =>
    html`<div>
      <label for=${id}>${text}</label>
      <select
        id=${id}
        @change=${valued((_, { selectedIndex }) => {
          of[key] = values[selectedIndex];
          if (key === "kind") rules.best_of = isSeries() ? 7 : 3;
          update();
        })}
      >
        ${values.map((v) => html`<option ?selected=${v === of[key]}>${name(v)}</option>`)}
      </select>
    </div>`;
  /** @param {{ team: string, manager: string }} of @param {number} i */
  const seat = (of, i) =>
    html`<div class="two">
      ${choice(
        `team-${i}`,
        t("leagues.club", { n: i + 1 }),
        (clubs ?? []).map((c) => c.id),
        of,
        "team",
        (id) => clubs?.find((c) => c.id === id)?.name ?? id,
      )}
      ${choice(`manager-${i}`, t("leagues.manager", { n: i + 1 }), ["me", "open", "bot"], of, "manager", (v) =>
        label("leagues.manager", v),
      )}
      ${violations(`/seats/${i}/team`)}${violations(`/seats/${i}/manager`)}
    </div>`;
  return () =>
    html`<details
      class="fine"
      @toggle=${() => {
        if (clubs === null) void load();
      }}
    >
      <summary>${t("leagues.new")}</summary>
      <form @submit=${submit}>
        ${requested.problem?.errors.length ? nothing : alertBox(requested.problem)}
        ${clubs === null
          ? requested.problem
            ? nothing
            : loading()
          : html`<div class="two">
                ${choice("kind", t("leagues.kind"), ["league", "series"], rules, "kind", (v) =>
                  t(v === "series" ? "leagues.series" : "leagues.league"),
                )}
                <div>
                  <label for="league-name">${t("name")}</label>
                  <input
                    id="league-name"
                    required
                    maxlength="60"
                    .value=${rules.name}
                    @input=${valued((value) => {
                      rules.name = value;
                    })}
                  />${violations("/name")}
                </div>
                ${isSeries()
                  ? nothing
                  : choice("seats", t("leagues.seats"), upTo(mostSeats).slice(1), rules, "seats")}
              </div>
              <fieldset>
                <legend>${t("leagues.managers")}</legend>
                ${taken().map(seat)}
              </fieldset>
              <div class="two">
                ${isSeries()
                  ? nothing
                  : choice("meetings", t("leagues.meetings"), upTo(6), rules, "meetings")}
                ${choice(
                  "best_of",
                  t(isSeries() ? "leagues.length" : "leagues.playoff"),
                  isSeries() ? [1, 3, 5, 7] : [0, 1, 3, 5, 7],
                  rules,
                  "best_of",
                  (v) => (v ? t("leagues.bestof", { n: v }) : t("leagues.noplayoff")),
                )}
                ${choice("innings", t("new.innings"), [9, 7, 5, 3], options, "innings")}
                ${choice("level", t("leagues.level"), [1, 2, 3], options, "bot_level", (v) =>
                  label("leagues.level", String(v)),
                )}
                ${choice("cover", t("leagues.cover"), [12, 24, 48, 72, 144], rules, "cover_hours", (v) =>
                  t("leagues.hours", { n: v }),
                )}
                <div>
                  <label for="play_at">${t("leagues.playat")}</label>
                  <input
                    id="play_at"
                    type="time"
                    .value=${rules.play_at}
                    @input=${valued((value) => {
                      rules.play_at = value;
                    })}
                  />
                  <p class="hint">${t("leagues.playat.hint")}</p>
                  ${violations("/play_at")}
                </div>
                ${choice("visibility", t("new.visibility"), ["listed", "private"], options, "visibility", (v) =>
                  label("leagues.visibility", String(v)),
                )}
              </div>
              <p class="row">
                <button class="primary" ?disabled=${sending}>
                  ${t(isSeries() ? "leagues.create.series" : "leagues.create.league")}
                </button>
              </p>`}
      </form>
    </details>`;
}

/** @param {Club} club @param {string} size "tight" on a small screen */
const clubName = (club, size) => (size === "tight" ? club.abbrev : club.name);

/** @type {Page} */
export const league = (page) => competition(page, "/api/leagues/");

/** @type {Page} */
export const series = (page) => competition(page, "/api/series/");

/** @param {PageContext} page @param {string} base path of the kind in the API @returns {View} */
function competition({ update, me, go, params }, base) {
  const path = base + encodeURIComponent(params.id);
  /** @type {{ league: League, games: Api["LeagueGame"][], standings: Api["LeagueStandings"] } | null} */
  let now = null;
  /** @type {Problem | null} */ let missing = null;
  const requested = requests(update);
  let timer = 0;
  let closed = false;
  const load = async () => {
    try {
      const [found, schedule, standings] = await Promise.all([
        api("GET", path),
        api("GET", `${path}/schedule`),
        api("GET", `${path}/standings`),
      ]);
      now = { league: found, games: schedule.games, standings };
    } catch (err) {
      if (!now) missing = problemOf(err);
    }
    clearTimeout(timer);
    if (!closed && now?.league.status !== "finished") timer = window.setTimeout(load, pollInterval);
    update();
  };
  void load();
  /** @param {string} action */
  const act = async (action) => {
    await requested.run(() => api("POST", `${path}/${action}`));
    await load();
  };
  const leave = () => {
    if (confirm(t("leagues.leave.ask"))) void act("leave");
  };
  const remove = async () => {
    if (!confirm(t("leagues.delete.ask"))) return;
    await requested.run(async () => {
      await api("DELETE", path);
      go("/leagues");
    });
  };
  /** @param {League} l */
  const actions = (l) => {
    const free = l.seats.find((s) => !s.bot && !s.manager);
    const quit =
      l.you === undefined || l.status === "finished"
        ? nothing
        : html`<button @click=${leave}>${t("leagues.leave")}</button>`;
    return l.status !== "pending"
      ? html`<p class="row">${quit}</p>`
      : html`<p class="hint">${t("leagues.invite")}</p>
          <p class="row">
            ${me && l.you === undefined && free
              ? html`<button class="primary" @click=${() => act("join")}>
                  ${t("leagues.join", { club: free.team.name })}
                </button>`
              : nothing}
            ${l.yours
              ? html`<button @click=${() => act("start")}>${t("leagues.start")}</button>
                  <button @click=${remove}>${t("delete")}</button>`
              : nothing}
            ${quit}
          </p>`;
  };
  /** @param {Api["LeagueGame"]} g @param {League} l */
  const result = (g, l) => {
    if (g.score)
      return html`${g.game
        ? html`<a href="/games/${g.game}">${g.score.away}–${g.score.home}</a>`
        : `${g.score.away}–${g.score.home}`}${g.conceded ? html` <small>${t("how.conceded")}</small>` : nothing}`;
    if (g.game && g.status !== "scheduled") {
      const own = l.you !== undefined && (g.away === l.you || g.home === l.you);
      return html`<a href=${g.status === "pending" && own ? `/games/${g.game}/lineup` : `/games/${g.game}`}>
        ${t(g.status === "pending" ? "card.title" : "leagues.playing")}
      </a>`;
    }
    return g.plays_at ? formatTime(g.plays_at) : t("leagues.scheduled");
  };
  /** @param {NonNullable<typeof now>} n */
  const ranking = ({ league: l, standings: { standings, playoff } }) =>
    html`<section class="leaf">
      <h2>${t("standings.title")}</h2>
      ${table(
        t("standings.title"),
        [t("board.club"), "W", "L", "T", "GB", "RS", "RA", t("leagues.tiebreak")],
        standings.map(
          (r) =>
            html`<tr>
              <th scope="row">${clubOf(l.seats[r.entrant])}</th>
              ${cells([
                r.w, r.l, r.t, r.gb ? number(r.gb) : "–", r.rs, r.ra,
                r.tie_break ? label("leagues.tiebreak", r.tie_break) : "–",
              ])}
            </tr>`,
        ),
      )}
      ${playoff
        ? html`<p>
            ${t("leagues.playoff")}: ${playoff.map((p) => `${l.seats[p.seat].team.name} ${p.w}`).join(" – ")}
          </p>`
        : nothing}
    </section>`;
  /** @param {NonNullable<typeof now>} n */
  const calendar = ({ league: l, games }) =>
    !games.length
      ? nothing
      : html`<section class="leaf">
          <h2>${t("leagues.schedule")}</h2>
          ${table(
            t("leagues.schedule"),
            [t("game.title"), t("leagues.day"), t("leagues.result"), t("leagues.scorecard")],
            games.map(
                  (g) =>
                    html`<tr>
                      <th scope="row">
                        ${["roomy", "tight"].map(
                          (size) =>
                            html`<span class=${size === "tight" ? "tight one-line" : size}>
                              ${t("leagues.at", {
                                away: clubName(l.seats[g.away].team, size),
                                home: clubName(l.seats[g.home].team, size),
                              })}
                            </span>`,
                        )}
                        <small>${g.playoff ? t("leagues.playoff") : nothing}</small>
                      </th>
                      <td>${g.day}</td>
                      <td>${result(g, l)}</td>
                      <td>
                        ${g.game && g.score
                          ? html`<a href="/games/${g.game}/replay">${t("replay.name")}</a>
                              <a href="/api/games/${g.game}/scorecard" download="${g.game}.eve">
                                ${t("leagues.eventfile")}
                              </a>`
                          : "–"}
                      </td>
                    </tr>`,
            ),
          )}
        </section>`;
  return {
    title: () => now?.league.name ?? t("leagues.title"),
    render: () => {
      if (missing) return problemView(missing);
      if (!now) return loading();
      const l = now.league;
      const champion = l.champion === undefined ? null : l.seats[l.champion];
      return html`<section class="leaf">
          <p class="kicker">${t(l.kind === "series" ? "leagues.series" : "leagues.league")}</p>
          <div class="row spread">
            <h1>${l.name}</h1>
            <a href="/leagues">${t("leagues.all")}</a>
          </div>
          ${alertBox(requested.problem)}
          ${l.stalled ? html`<p class="alert" role="alert">${t("leagues.stalled", { why: l.stalled })}</p>` : nothing}
          ${champion
            ? html`<p>
                <strong>${t("leagues.champion", { name: nameOf(champion), club: champion.team.name })}</strong>
              </p>`
            : nothing}
          <p>${rulesOf(l)}</p>
          ${l.status === "active" && l.cover_at && now.games.some((g) => g.day === l.day && g.game && !g.score)
            ? html`<p class="hint">${t("leagues.coverat", { at: formatTime(l.cover_at) })}</p>`
            : nothing}
          ${actions(l)}
        </section>
        ${ranking(now)}${calendar(now)}`;
    },
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}
