// The lobby: the games, as they change, and its cover for visitors.
import { html, nothing, guard, repeat } from "./lit-html.js";
import {
  t, label, api, session, formatTime, inningName, managerOf, openSide, sides, alertBox, imported,
  problemOf, pennant, signInAddress, loading, url,
} from "./ui.js";
import { openStream } from "./streams.js";

const pollInterval = 60000; // milliseconds; the stream does not have the changes of private games
const pageSize = 24; // games of one list in one answer

/** @type {readonly Game["status"][]} */
const statuses = ["active", "pending", "finished"];
/** @typedef {Record<Game["status"], Game[]>} Games newest first */

/**
 * Returns the time by which a list is ordered, without the Z: its fraction has no zeros at the end, and .1 is
 * before .12.
 * @param {Game} g
 */
const placeOf = (g) =>
  ((g.status === "pending" ? g.created_at : g.status === "active" ? g.started_at : g.finished_at) ?? "").slice(0, -1);
/** @param {Game} a @param {Game} b */
const newestFirst = (a, b) => placeOf(b).localeCompare(placeOf(a)) || b.id.localeCompare(a.id);

/** Returns the side that this account, or a visitor who signs in, may take. @param {Game} g */
function freeSide(g) {
  const side = openSide(g);
  const reserved = side && g[side].reserved;
  return g.status === "pending" && !g.you && (!reserved || (session.me && reserved.id === session.me.id))
    ? side
    : undefined;
}

/** @type {Page} */
export function lobby({ update, me, go }) {
  /** @type {Games | null} */ let games = null;
  /** @type {Set<Game["status"]>} the lists that have earlier games */ const more = new Set();
  /** @type {Problem | null} */ let problem = null;
  let timer = 0;
  let closed = false;
  let starting = false;

  /** Puts games into their lists, in place of what is known of them. @param {Game[]} changed */
  const put = (changed) => {
    const known = games ?? { pending: [], active: [], finished: [] };
    const ids = new Set(changed.map((g) => g.id));
    games = /** @type {Games} */ (
      Object.fromEntries(
        statuses.map((status) => [
          status,
          [...known[status].filter((g) => !ids.has(g.id)), ...changed.filter((g) => g.status === status)].sort(
            newestFirst,
          ),
        ]),
      )
    );
  };
  /**
   * Reports whether a game belongs to a part of its list that was not loaded yet: it comes with that part.
   * @param {Game} g
   */
  const unloaded = (g) => {
    const last = games?.[g.status].at(-1);
    return more.has(g.status) && last && newestFirst(last, g) < 0;
  };
  /** Reports whether a game may be this account's, by the names that visitors see. @param {Game} g */
  const mayBeMine = (g) =>
    me && sides.some((side) => [g[side].manager?.name, g[side].reserved?.name].includes(me.name));
  /** @param {string} id */
  const find = (id) => games && statuses.flatMap((status) => games?.[status] ?? []).find((g) => g.id === id);
  const load = async () => {
    try {
      const answer = /** @type {Games} */ (await api("GET", `/api/games?people=true&limit=${pageSize}`));
      const shown = games;
      games = answer;
      for (const status of statuses) {
        // what was loaded beyond the first page stays
        const last = answer[status].at(-1);
        const beyond =
          answer[status].length < pageSize || !last
            ? []
            : (shown?.[status] ?? []).filter((g) => newestFirst(last, g) < 0);
        if (answer[status].length < pageSize) more.delete(status);
        else if (!beyond.length) more.add(status);
        put(beyond);
      }
      problem = null;
    } catch (err) {
      if (me) problem = problemOf(err); // the cover does without the games
    }
    clearTimeout(timer);
    if (!closed) timer = window.setTimeout(load, pollInterval);
    update();
  };
  /** @param {Game["status"]} status */
  const older = async (status) => {
    const last = games?.[status].at(-1);
    if (!last) return load();
    try {
      const found = (
        await api(
          "GET",
          url`/api/games?people=true&status=${status}&limit=${pageSize}&before=${last.id}`,
        )
      )[status];
      if (found.length < pageSize) more.delete(status);
      put(found);
    } catch (err) {
      problem = problemOf(err);
    }
    update();
  };
  /** @param {Game} game */
  const join = async (game) => {
    try {
      await api("POST", `/api/games/${game.id}/join`);
      go(`/games/${game.id}/lineup`);
    } catch (err) {
      problem = problemOf(err);
      await load();
    }
  };
  const playBot = async () => {
    if (starting) return; // one press, one game
    starting = true;
    update();
    try {
      go(await (await imported(import("./newgame.js"))).startFriendly());
    } catch (err) {
      [starting, problem] = [false, problemOf(err)];
    }
    update();
  };
  const stream = openStream("/api/lobby", {
    on: {
      game: (/** @type {Game} */ g) => {
        const known = find(g.id);
        if (!known && ((g.away.bot && g.home.bot) || unloaded(g))) return; // their league has the bots'
        put([{ ...g, you: known?.you ?? "" }]);
        if (!known && mayBeMine(g)) void load();
        else update();
      },
      score: (/** @type {{ id: string } & Partial<Game>} */ now) => {
        const known = find(now.id);
        if (known) put([{ ...known, ...now }]);
        update();
      },
      gone: ({ id }) => {
        for (const status of statuses) if (games) games[status] = games[status].filter((g) => g.id !== id);
        update();
      },
    },
    state: (state) => {
      if (state === "open" || !games) void load();
    },
  });

  /** @param {Game} g */
  const card = (g) =>
    html`<a href=${g.status === "pending" && g.you ? `/games/${g.id}/lineup` : `/games/${g.id}`}>
        ${row(g, "away")}${row(g, "home")}
        <span class="game-state">
          ${stateText(g)}
          ${g.you && g.status !== "finished" ? html` <span class="tag live">${t("lobby.yours")}</span>` : nothing}
        </span>
      </a>
      ${freeSide(g)
        ? html`<button class="primary" @click=${() => (me ? join(g) : go(`/games/${g.id}/lineup`))}>
            ${t("lobby.joinlabel", { club: g[/** @type {Side} */ (openSide(g))].team.name })}
          </button>`
        : nothing}`;
  // each game has one element as long as it is listed, so that the browser keeps the place of what is on the screen
  const cards = (/** @type {Game[]} */ listed) =>
    repeat(
      listed,
      (g) => g.id,
      (g) => html`<li class="game-stub">${guard([g], () => card(g))}</li>`,
    );

  /** @param {Game["status"]} status @param {Games} all */
  const section = (status, all) =>
    html`<section class="leaf">
      <h2>${t(`lobby.${status}`)}</h2>
      ${all[status].length
        ? html`<ul class="game-stubs">
            ${cards(all[status])}
          </ul>`
        : html`<p class="empty">${t(`lobby.no${status}`)}</p>`}
      ${more.has(status)
        ? html`<p class="row"><button @click=${() => older(status)}>${t(`lobby.older.${status}`)}</button></p>`
        : nothing}
    </section>`;

  const actions = () =>
    html`<button class="primary" ?disabled=${starting} @click=${playBot}>${t("lobby.bot")}</button>
      <a class="button" href="/new">${t("new.title")}</a>`;
  /** What to do while there are no games. */
  const welcome = () =>
    html`<section class="leaf">
      <h2>${t("lobby.empty")}</h2>
      <p>${t("lobby.empty.bot")}</p>
      <p>${t("lobby.empty.new")}</p>
      <p class="row">${actions()}</p>
    </section>`;
  /** @param {Games} all */
  const lists = (all) =>
    statuses.some((status) => all[status].length)
      ? html`<div class="columns lists">${section("active", all)} ${section("pending", all)}</div>
          ${section("finished", all)}`
      : me
        ? welcome()
        : nothing;

  return {
    title: () => t("lobby.title"),
    render: () =>
      html` ${me
        ? html`<div class="row spread head">
            <h1>${t("lobby.title")}</h1>
            <p class="row">
              <a href="/leagues">${t("leagues.title")}</a>
              ${games && !statuses.some((status) => games?.[status].length) ? nothing : actions()}
            </p>
          </div>`
        : cover()}
      ${alertBox(problem)} ${games === null ? (me ? loading() : nothing) : lists(games)}`,
    close: () => {
      closed = true;
      stream.close();
      clearTimeout(timer);
    },
  };
}

/** The cover that visitors see before they sign in. */
const cover = () =>
  html`<section class="cover">
      <div class="cover-words">
        <p class="kicker">${t("cover.kicker")}</p>
        <h1>${t("cover.title")}</h1>
        <p>${t("cover.text")}</p>
        <p class="row">
          <a class="button primary" href=${signInAddress("/")}>${t("cover.enter")}</a>
          <a class="button" href="/announcements">${t("cover.announce")}</a>
        </p>
      </div>
      <svg class="cover-field" viewBox="4 26 192 138" aria-hidden="true">
        <path d="M100 160 8 68a130 130 0 0 1 184 0z" class="grass"></path>
        <path d="M100 160 44 104a79 79 0 0 1 112 0z" class="dirt"></path>
        <path d="M100 148 64 112 100 76l36 36z" class="grass"></path>
        <path d="M8 68 100 160 192 68" class="chalk"></path>
        <circle cx="100" cy="112" r="7" class="dirt"></circle>
        <g class="bag">
          <path d="m136 107 5 5-5 5-5-5z"></path>
          <path d="m100 71 5 5-5 5-5-5z"></path>
          <path d="m64 107 5 5-5 5-5-5z"></path>
          <path d="M96 146h8v4l-4 4-4-4z"></path>
        </g>
      </svg>
    </section>
    <section class="columns">
      <div class="leaf">
        <h2>${t("cover.one")}</h2>
        <p>${t("cover.one.text")}</p>
      </div>
      <div class="leaf">
        <h2>${t("cover.two")}</h2>
        <p>${t("cover.two.text")}</p>
      </div>
      <div class="leaf">
        <h2>${t("cover.three")}</h2>
        <p>${t("cover.three.text")}</p>
      </div>
    </section>`;

/** @param {Game} g @param {Side} side */
const row = (g, side) =>
  html`<span class=${g.result?.winner && g.result.winner !== side ? "club-row beaten" : "club-row"}>
    ${pennant(g[side].team)}<span class="club-name">${g[side].team.name} <small>${managerOf(g[side])}</small></span>
    ${g.score ? html`<b>${g.score[side]}</b>` : nothing}
  </span>`;

/** @param {Game} g */
function stateText(g) {
  if (g.status === "active") return g.inning ? inningName(g.half, g.inning) : t("lobby.active");
  if (g.status === "finished") return `${label("how", g.result?.how, t("how.final"))} · ${formatTime(g.finished_at)}`;
  const open = openSide(g);
  const reserved = open && g[open].reserved;
  if (reserved) return t("lobby.reserved", reserved);
  if (open) return t("lobby.seat");
  return t("lobby.cards");
}
