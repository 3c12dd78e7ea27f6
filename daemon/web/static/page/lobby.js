// The lobby, its cover for visitors, and the form for a new game.
import { html, nothing } from "./lit-html.js";
import { t, label, api, formatTime, inningName, season, managerOf, openSide, alertBox, sentence, problemOf, pennant, clubStyle, signInAddress, loading, wrongOf } from "./ui.js";

const pollInterval = 15000; // milliseconds, in case the event stream is silent
const pageSize = 100; // finished games in one answer

/** @typedef {{ pending: Game[], active: Game[], finished: Game[] }} Games */

/** @param {PageContext} page @returns {View} */
export function lobby({ update, me, go }) {
  /** @type {Games | null} */ let games = null;
  /** @type {import("./ui.js").Problem | null} */ let problem = null;
  let more = false;
  /** @type {EventSource | null} */ let stream = null;
  let timer = 0, soon = 0, closed = false;

  const load = async () => {
    try {
      const answer = /** @type {Games} */ (await api("GET", "/api/games"));
      more = answer.finished.length >= pageSize;
      [games, problem] = [answer, null];
    } catch (err) {
      problem = problemOf(err);
    }
    clearTimeout(timer);
    if (!closed) timer = window.setTimeout(load, pollInterval);
    update();
  };
  const older = async () => {
    const last = games?.finished.at(-1);
    if (!games || !last) return;
    try {
      const answer = /** @type {Games} */ (await api("GET", `/api/games?status=finished&before=${encodeURIComponent(last.id)}`));
      more = answer.finished.length >= pageSize;
      games.finished.push(...answer.finished);
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
  if (me) {
    void load();
    stream = new EventSource("/api/kiosk", { withCredentials: true });
    const refresh = () => {
      clearTimeout(soon);
      soon = window.setTimeout(load, 250);
    };
    stream.addEventListener("game", refresh);
    stream.addEventListener("play", refresh);
  }

  /** @param {Game} g */
  const card = (g) => html`<li class="game-stub">
    <a href=${g.status === "pending" && g.you ? `/games/${g.id}/lineup` : `/games/${g.id}`}>
      ${row(g, "away")}${row(g, "home")}
      <span class="game-state">${stateText(g)}${g.you && g.status !== "finished" ? html` <span class="tag live">${t("lobby.yours")}</span>` : nothing}</span>
    </a>
    ${g.status === "pending" && !g.you && (openSide(g)) ? html`<button class="primary" @click=${() => join(g)}>${t("lobby.joinlabel", { club: g[/** @type {Side} */ (openSide(g))].team.name })}</button>` : nothing}</li>`;

  /** @param {string} title @param {Game[]} list @param {string} empty */
  const section = (title, list, empty) => html`<section class="leaf"><h2>${title}</h2>
    ${list.length ? html`<ul class="game-stubs">${list.map(card)}</ul>` : html`<p class="empty">${empty}</p>`}</section>`;

  return {
    title: () => t("lobby.title"),
    render: () => (me ? html`
      <div class="row spread head"><h1>${t("lobby.title")}</h1><a class="button primary" href="/new">${t("lobby.new")}</a></div>
      ${alertBox(problem)}
      ${games === null ? loading() : html`
        <div class="columns">${section(t("lobby.active"), games.active, t("lobby.noactive"))} ${section(t("lobby.pending"), games.pending, t("lobby.nopending"))}</div>
        ${section(t("lobby.finished"), games.finished, t("lobby.nofinished"))}
        ${more ? html`<p><button @click=${older}>${t("lobby.older")}</button></p>` : nothing}`}` : cover()),
    close: () => {
      closed = true;
      stream?.close();
      clearTimeout(timer);
      clearTimeout(soon);
    },
  };
}

/** The cover that visitors see before they sign in. */
const cover = () => html`<section class="cover">
    <div class="cover-words">
      <p class="kicker">${t("cover.kicker")}</p>
      <h1>${t("cover.title")}</h1>
      <p>${t("cover.text")}</p>
      <p class="row"><a class="button primary" href=${signInAddress("/")}>${t("cover.enter")}</a> <a class="button" href="/announcements">${t("cover.announce")}</a></p>
    </div>
    <svg class="cover-field" viewBox="4 26 192 138" aria-hidden="true">
      <path d="M100 160 8 68a130 130 0 0 1 184 0z" class="grass"></path>
      <path d="M100 160 44 104a79 79 0 0 1 112 0z" class="dirt"></path>
      <path d="M100 148 64 112 100 76l36 36z" class="grass"></path>
      <path d="M8 68 100 160 192 68" class="chalk"></path>
      <circle cx="100" cy="112" r="7" class="dirt"></circle>
      <g class="bag"><path d="m136 107 5 5-5 5-5-5z"></path><path d="m100 71 5 5-5 5-5-5z"></path><path d="m64 107 5 5-5 5-5-5z"></path><path d="M96 146h8v4l-4 4-4-4z"></path></g>
    </svg>
  </section>
  <section class="columns">
    <div class="leaf"><h2>${t("cover.one")}</h2><p>${t("cover.one.text")}</p></div>
    <div class="leaf"><h2>${t("cover.two")}</h2><p>${t("cover.two.text")}</p></div>
    <div class="leaf"><h2>${t("cover.three")}</h2><p>${t("cover.three.text")}</p></div>
  </section>`;

/** @param {Game} g @param {Side} side */
const row = (g, side) => html`<span class="club-row">${pennant(g[side].team)}<span class="club-name">${g[side].team.name}
    <small>${managerOf(g[side])}</small></span>${g.score ? html`<b>${g.score[side]}</b>` : nothing}</span>`;

/** @param {Game} g */
function stateText(g) {
  if (g.status === "active") return g.inning ? inningName(g.half, g.inning) : t("lobby.active");
  if (g.status === "finished") return `${label("how", g.result?.how, t("how.final"))} · ${formatTime(g.finished_at)}`;
  if (openSide(g)) return t("lobby.seat");
  return t("lobby.cards");
}

/** @param {PageContext} page @returns {View} */
export function newGame({ update, go }) {
  /** @type {Club[] | null} */ let clubs = null;
  /** @type {import("./ui.js").Problem | null} */ let problem = null;
  let stale = false, sending = false;
  const form = {
    home_team: "", away_team: "",
    options: { opponent: "open", side: "home", innings: 9, dh: true, extra_innings: "runner", turn_seconds: 0, announce: "scoring", visibility: "listed" },
  };
  let chosen = season, notice = "";
  /** The rosters of the clubs that were chosen, by club. @type {Map<string, Player[]>} */
  const rosters = new Map();
  /** The imported seasons. @type {number[]} */
  let imported = [];
  const load = async () => {
    try {
      const answer = await api("GET", `/api/teams?season=${chosen}`);
      clubs = /** @type {Club[]} */ (answer.teams);
      ({ stale, notice = "", seasons: imported = [] } = answer);
      [form.home_team, form.away_team] = [clubs[0]?.id ?? "", clubs[1]?.id ?? ""];
      rosters.clear();
      void loadRoster(form.home_team);
      void loadRoster(form.away_team);
    } catch (err) {
      problem = problemOf(err);
    }
    update();
  };
  /** The season of the clubs, where more than one can be chosen. */
  const seasons = () => imported.length ? html`<p><label class="inline">${t("stats.season")} <select name="season"
    @change=${(/** @type {any} */ e) => { chosen = Number(e.target.value); void load(); }}>
    ${[season, ...imported.toReversed()].map((n) => html`<option value=${n} ?selected=${n === chosen}>${n}</option>`)}</select></label></p>` : nothing;

  /** @param {string} id */
  const loadRoster = async (id) => {
    if (!id || rosters.has(id)) return;
    rosters.set(id, []);
    try {
      rosters.set(id, (await api("GET", `/api/teams/${encodeURIComponent(id)}/roster?season=${chosen}`)).players);
    } catch {
      rosters.delete(id); // only a hint: creating the game reports the error
    }
    update();
  };
  void load();
  /** @param {string} id */
  const rosterHint = (id) => {
    const players = rosters.get(id) ?? [];
    const starter = (/** @type {string} */ at) => players.find((p) => p.positions[0] === at)?.name ?? "–";
    return players.length ? html`<p class="hint">${t("new.roster", { n: players.length, sp: starter("SP"), ss: starter("SS"), cf: starter("CF") })}</p>` : nothing;
  };

  /** @param {SubmitEvent} e */
  const submit = async (e) => {
    e.preventDefault();
    if (sending) return;
    sending = true;
    try {
      const game = await api("POST", "/api/games", { ...form, season: chosen });
      go(`/games/${game.id}/lineup`, true);
    } catch (err) {
      problem = problemOf(err);
    }
    sending = false;
    update();
  };
  /** @param {string} path */
  const violations = (path) => {
    const found = problem?.errors.filter((v) => v.path === path) ?? [];
    return found.length ? html`<span class="wrong">${sentence(found.map(wrongOf).join("; "))}</span>` : nothing;
  };
  /** @param {"home_team" | "away_team"} field */
  const club = (field) => html`<fieldset class="clubs"><legend>${t(`new.${field}`)}</legend>${clubs?.map((c) => html`
    <label class="club-pick" .style=${clubStyle(c)}><input type="radio" name=${field} value=${c.id} .checked=${form[field] === c.id} required
      @change=${() => { form[field] = c.id; void loadRoster(c.id); update(); }}><span>${c.name}</span></label>`)}${rosterHint(form[field])}${violations(`/${field}`)}</fieldset>`;
  /**
   * @param {keyof typeof form.options} name @param {(string | number | boolean)[]} values
   */
  const choice = (name, values) => html`<div><label for=${name}>${t(/** @type {any} */ (`new.${name}`))}</label>
    <select id=${name} @change=${(/** @type {any} */ e) => { /** @type {any} */ (form.options)[name] = values[e.target.selectedIndex]; update(); }}>
      ${values.map((v) => html`<option ?selected=${form.options[name] === v}>${label(`new.${name}`, String(v))}</option>`)}
    </select>${violations(`/options/${name}`)}</div>`;

  return {
    title: () => t("new.title"),
    render: () => html`<form class="leaf" @submit=${submit}>
      <p class="kicker">${t("new.kicker")}</p><h1>${t("new.title")}</h1>
      ${alertBox(problem)}
      ${stale ? html`<p class="hint">${t("new.stale")}</p>` : nothing}
      ${clubs === null ? (problem ? nothing : loading()) : html`
        ${seasons()}
        <div class="two">${club("away_team")}${club("home_team")}</div>
        ${notice ? html`<p class="hint">${notice}</p>` : nothing}
        <div class="two">${choice("opponent", ["open", "bot", "hotseat"])}${form.options.opponent === "hotseat" ? nothing : choice("side", ["home", "away"])}${choice("innings", [9, 7, 5, 3])}</div>
        <details class="fine"><summary>${t("new.fine")}</summary><div class="two">${choice("dh", [true, false])}${choice("extra_innings", ["runner", "standard"])}
          ${choice("turn_seconds", [0, 30, 60, 120, 300])}${choice("announce", ["scoring", "all", "off"])}${choice("visibility", ["listed", "private"])}</div></details>
        <p class="row"><button class="primary" ?disabled=${sending}>${t("new.create")}</button></p>`}
    </form>`,
  };
}
