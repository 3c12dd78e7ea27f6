// The form for a new game.
import { html, nothing } from "./lit-html.js";
import {
  t, label, api, season, alertBox, requests, clubStyle, loading, violationsAt, url, valued, submitted,
} from "./ui.js";

/** A first game: short, and against a bot that can be beaten. */
const friendly = { opponent: "bot", innings: 3, bot_level: 2 };

/**
 * Starts a friendly game of two clubs by chance, with the suggested line-ups.
 * @returns {Promise<string>} its address, which shows the line-up if that could not be handed in
 */
export async function startFriendly() {
  const clubs = /** @type {Club[]} */ ((await api("GET", `/api/teams?season=${season}`)).teams);
  const [home] = clubs.splice(Math.random() * clubs.length, 1);
  const away = clubs[Math.floor(Math.random() * clubs.length)];
  const game = await api("POST", "/api/games", { home_team: home.id, away_team: away.id, season, options: friendly });
  const card = `/api/games/${game.id}/lineups/home`;
  await api("POST", `${card}/suggest`)
    .then((lineup) => api("PUT", card, lineup))
    .catch(() => undefined);
  return `/games/${game.id}`;
}

/** @type {Page} */
export function newGame({ update, go }) {
  /** @type {Club[] | null} */ let clubs = null;
  const requested = requests(update);
  let stale = false;
  let sending = false;
  const form = {
    home_team: "",
    away_team: "",
    options: {
      ...friendly,
      side: "home",
      dh: true,
      extra_innings: "runner",
      rest: true,
      disengagements: "unlimited",
      turn_seconds: /** @type {number | undefined} */ (undefined), // which depends on the opponent
      announce: "scoring",
      call_turn: false,
      visibility: "listed",
      mercy: /** @type {string | undefined} */ (undefined), // the server's default, which depends on the visibility
    },
  };
  let chosen = season;
  let notice = "";
  /** The rosters of the clubs that were chosen, by club. @type {Map<string, Player[]>} */
  const rosters = new Map();
  /** @type {number[]} */
  let imported = [];
  const load = () =>
    requested.run(async () => {
      const answer = await api("GET", `/api/teams?season=${chosen}`);
      clubs = /** @type {Club[]} */ (answer.teams);
      ({ stale, notice = "", seasons: imported = [] } = answer);
      [form.home_team, form.away_team] = [clubs[0]?.id ?? "", clubs[1]?.id ?? ""];
      rosters.clear();
      void loadRoster(form.home_team);
      void loadRoster(form.away_team);
    });
  /** The season of the clubs, where more than one can be chosen. */
  const seasons = () =>
    imported.length
      ? html`<p>
          <label class="inline">
            ${t("season")}
            <select
              name="season"
              @change=${valued((value) => {
                chosen = Number(value);
                void load();
              })}
            >
              ${[season, ...imported.toReversed()].map(
                (n) => html`<option value=${n} ?selected=${n === chosen}>${n}</option>`,
              )}
            </select>
          </label>
        </p>`
      : nothing;

  /** @param {string} id */
  const loadRoster = async (id) => {
    if (!id || rosters.has(id)) return;
    rosters.set(id, []);
    try {
      rosters.set(id, (await api("GET", url`/api/teams/${id}/roster?season=${chosen}`)).players);
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
    return players.length
      ? html`<p class="hint">
          ${t("new.roster", { n: players.length, sp: starter("SP"), ss: starter("SS"), cf: starter("CF") })}
        </p>`
      : nothing;
  };

  const submit = submitted(async () => {
    if (sending) return;
    sending = true;
    await requested.run(async () => {
      const game = await api("POST", "/api/games", { ...form, season: chosen });
      go(`/games/${game.id}/lineup`, true);
    });
    sending = false;
    update();
  });
  /** @param {string} path */
  const violations = (path) => violationsAt(requested.problem, path);
  /**
   * Chooses a club; one that the other side has changes places.
   * @param {"home_team" | "away_team"} field
   * @param {string} id
   */
  const choose = (field, id) => {
    const other = field === "home_team" ? "away_team" : "home_team";
    if (form[other] === id) form[other] = form[field];
    form[field] = id;
    void loadRoster(id);
    update();
  };
  /** @param {"home_team" | "away_team"} field */
  const club = (field) =>
    html`<fieldset class="clubs">
      <legend>${t(`new.${field}`)}</legend>
      ${clubs?.map(
        (c) =>
          html`<label class="club-pick" .style=${clubStyle(c)}>
            <input
              type="radio"
              name=${field}
              value=${c.id}
              .checked=${form[field] === c.id}
              required
              @change=${() => choose(field, c.id)}
            /><span>${c.name}</span>
          </label>`,
      )}${rosterHint(form[field])}${violations(`/${field}`)}
    </fieldset>`;
  /** The server's defaults of what depends on other options. */
  const usual = () => ({
    mercy: form.options.visibility === "private" ? "on" : "off",
    turn_seconds: form.options.opponent === "open" ? 86_400 : 0,
  });
  /**
   * @param {keyof typeof form.options} name @param {(string | number | boolean)[]} values
   */
  const choice = (name, values) =>
    html`<div>
      <label for=${name}>${label("new", name)}</label>
      <select
        id=${name}
        @change=${valued((_, { selectedIndex }) => {
          /** @type {any} */ (form.options)[name] = values[selectedIndex];
          update();
        })}
      >
        ${values.map(
          (v) =>
            html`<option ?selected=${(form.options[name] ?? /** @type {any} */ (usual())[name]) === v}>
              ${label(`new.${name}`, String(v))}
            </option>`,
        )}
      </select>
      ${violations(`/options/${name}`)}
    </div>`;

  return {
    title: () => t("new.title"),
    render: () =>
      html`<form class="leaf" @submit=${submit}>
        <p class="kicker">${t("new.kicker")}</p>
        <h1>${t("new.title")}</h1>
        ${alertBox(requested.problem)} ${stale ? html`<p class="hint">${t("new.stale")}</p>` : nothing}
        ${clubs === null
          ? requested.problem
            ? nothing
            : loading()
          : html` ${seasons()}
              <div class="two">${club("away_team")}${club("home_team")}</div>
              ${notice ? html`<p class="hint">${notice}</p>` : nothing}
              <div class="two">
                ${choice("opponent", ["bot", "open", "hotseat"])}
                ${form.options.opponent === "bot" ? choice("bot_level", [1, 2, 3]) : nothing}
                ${form.options.opponent === "hotseat" ? nothing : choice("side", ["home", "away"])}
                ${choice("innings", [3, 5, 7, 9])}
              </div>
              <details class="fine">
                <summary>${t("new.fine")}</summary>
                <div class="two">
                  ${choice("dh", [true, false])}${choice("extra_innings", ["runner", "standard"])}
                  ${choice("rest", [true, false])}${choice("mercy", ["off", "on"])}
                  ${choice("disengagements", ["unlimited", "2023"])}
                  ${choice("turn_seconds", [0, 30, 60, 120, 300, 86_400])}
                  ${choice("announce", ["scoring", "all", "off"])}
                  ${choice("call_turn", [false, true])}
                  ${choice("visibility", ["listed", "private"])}
                </div>
              </details>
              <p class="row"><button class="primary" ?disabled=${sending}>${t("new.create")}</button></p>`}
      </form>`,
  };
}
