// The line-up card of one side of a game.
import { html, svg, nothing } from "./lit-html.js";
import {
  t, label, api, session, stored, store, sentence, problemOf, readOut, clubStyle, pennant, wrongOf, playerName,
  gradesOf, pitches, url, valued, submitted,
} from "./ui.js";

const fielders = ["C", "1B", "2B", "3B", "SS", "LF", "CF", "RF"];
const maxDrafts = 4; // a hot seat has two

/**
 * Cards that are not handed in, newest first: a reload does not lose them.
 * @returns {{ of: string, slots: Slot[], pitcher: string }[]}
 */
function drafts() {
  try {
    return JSON.parse(stored("drafts", "[]"));
  } catch {
    return [];
  }
}

/** The line-up card of one side, as its manager fills it out. */
export class Card {
  /**
   * @param {Game} game
   * @param {Side} side
   * @param {() => Promise<void>} update
   * @param {(game: Game) => void} submitted
   */
  constructor(game, side, update, submitted) {
    this.game = game.id;
    this.side = side;
    this.update = update;
    this.submitted = submitted;
    this.path = url`/api/games/${game.id}/lineups/${side}`;
    this.players = game.rosters?.[side].players ?? [];
    this.opposingStarters = (game.rosters?.[side === "home" ? "away" : "home"].players ?? []).filter((p) =>
      p.positions.includes("SP"),
    );
    this.dh = game.options.dh;
    this.facing =
      this.opposingStarters.filter((p) => p.throws === "L").length * 2 > this.opposingStarters.length ? "L" : "R";
    /** @type {Slot[]} */ this.slots = [];
    this.pitcher = "";
    /** @type {Problem | null} */ this.problem = null;
    this.busy = false;
    /** @type {Api["SavedLineup"][]} */ this.saved = []; // of the account, that have players of the club
    this.draft = `${game.id} ${side}`;
    const given = game[side].lineup;
    const draft = drafts().find((d) => d.of === this.draft);
    if (draft && this.fits(draft)) this.fill({ batting_order: draft.slots, pitcher_id: draft.pitcher });
    else if (given) this.fill(given);
    else if (game[side].suggested) this.fill(game[side].suggested);
    else this.clear();
  }

  /** Reports whether a draft is of this roster and these rules. @param {{ slots: Slot[], pitcher: string }} draft */
  fits({ slots, pitcher }) {
    const places = new Set([...fielders, "P", ...(this.dh ? ["DH"] : [])]);
    return (
      [...slots.map((s) => s.player_id), pitcher].every((id) => !id || this.player(id)) &&
      slots.every((s) => places.has(s.position))
    );
  }

  /** Stores the card as a draft, or drops the draft. @param {boolean} [on] */
  keep(on = true) {
    const others = drafts().filter((d) => d.of !== this.draft);
    store(
      "drafts",
      JSON.stringify(
        [...(on ? [{ of: this.draft, slots: this.slots, pitcher: this.pitcher }] : []), ...others].slice(0, maxDrafts),
      ),
    );
  }

  clear() {
    this.slots = [...fielders, this.dh ? "DH" : "P"].map((position) => ({ player_id: "", position }));
    this.pitcher = "";
  }

  /** @param {Lineup} lineup */
  fill(lineup) {
    this.slots = lineup.batting_order.map((s) => ({ ...s }));
    this.pitcher = lineup.pitcher_id;
    this.dh = this.slots.some((s) => s.position === "DH");
  }

  /** @param {string} id */
  player(id) {
    return this.players.find((p) => p.id === id);
  }

  /** @param {() => void} change */
  edit(change) {
    change();
    this.keep();
    this.problem = null;
    return this.update();
  }

  /**
   * Puts a player into a place. A player who is there already trades places with them.
   * @param {number} i
   * @param {string} id
   */
  put(i, id) {
    this.edit(() => {
      const was = this.slots.findIndex((s) => s.player_id === id);
      if (id && was >= 0) this.slots[was].player_id = this.slots[i].player_id;
      this.slots[i].player_id = id;
      if (this.slots[i].position === "P") this.pitcher = id;
    });
  }

  /**
   * Sets the position of a place, and gives its old one to the place that had the new one.
   * @param {number} i
   * @param {string} position
   */
  setPosition(i, position) {
    this.edit(() => {
      const was = this.slots.find((s) => s.position === position);
      if (was) was.position = this.slots[i].position;
      this.slots[i].position = position;
    });
  }

  /**
   * Moves a place in the order, and the focus with it.
   * @param {number} from
   * @param {number} to
   * @param {string} [control]
   */
  async move(from, to, control = "up") {
    if (to < 0 || to >= this.slots.length) return;
    const updated = this.edit(() => {
      this.slots.splice(to, 0, ...this.slots.splice(from, 1));
    });
    const name = this.player(this.slots[to].player_id)?.name ?? this.slots[to].position;
    readOut(t("card.moved", { name, n: to + 1 }));
    await updated;
    const row = document.getElementById(`${this.side}-slot-${to}`);
    const again = row?.querySelector(`[data-control="${control}"]`);
    /** @type {HTMLElement | null | undefined} */ (
      again instanceof HTMLButtonElement && again.disabled ? row?.querySelector("button:not(:disabled)") : again
    )?.focus();
  }

  /** @param {boolean} on */
  useDH(on) {
    this.edit(() => {
      this.dh = on;
      const slot = this.slots.find((s) => s.position === (on ? "P" : "DH"));
      if (!slot) return;
      slot.position = on ? "DH" : "P";
      slot.player_id = on ? "" : this.pitcher;
    });
  }

  /** Takes a player out, or puts them into the best empty place. @param {Player} p */
  toggle(p) {
    const at = this.slots.findIndex((s) => s.player_id === p.id);
    if (at >= 0) return this.put(at, "");
    if (pitches(p) && !p.positions.some((r) => fielders.includes(r)))
      return this.pitch(p.id);
    const free = this.slots.findIndex((s) => !s.player_id && p.positions.includes(s.position));
    const any = free >= 0 ? free : this.slots.findIndex((s) => !s.player_id && s.position !== "P");
    if (any >= 0) this.put(any, p.id);
    else readOut(t("card.full"));
  }

  /** @param {string} id */
  pitch(id) {
    this.edit(() => {
      this.pitcher = id;
      const slot = this.slots.find((s) => s.position === "P");
      if (slot) slot.player_id = id;
    });
  }

  /** Loads the line-ups that the account has saved for the club. */
  async loadSaved() {
    if (session.me?.guest) return;
    const { lineups } = await api("GET", "/api/lineups").catch(() => ({ lineups: [] }));
    this.saved = lineups.filter((/** @type {Api["SavedLineup"]} */ l) =>
      l.batting_order.some((s) => this.player(s.player_id)),
    );
    this.update();
  }

  /** @param {() => Promise<void>} change of the card, or of what is saved */
  async attempt(change) {
    try {
      await change();
      this.problem = null;
    } catch (err) {
      this.problem = problemOf(err);
    }
    this.update();
  }

  /** Fills the card in as it was saved. @param {string} name */
  use(name) {
    return this.attempt(async () => {
      this.fill(await api("POST", `${this.path}/suggest?saved=${encodeURIComponent(name)}`));
      this.keep();
    });
  }

  /** Saves the card. @param {string} name */
  save(name) {
    return this.attempt(async () => {
      await api("PUT", url`/api/lineups/${name}`, { batting_order: this.slots, pitcher_id: this.pitcher });
      readOut(t("card.saved.done", { name }));
      await this.loadSaved();
    });
  }

  /** Forgets what is saved under a name. @param {string} name */
  forget(name) {
    if (!confirm(t("card.saved.sure", { name }))) return;
    return this.attempt(async () => {
      await api("DELETE", url`/api/lineups/${name}`);
      await this.loadSaved();
    });
  }

  /** Renders the line-ups that are saved, and the way to save this one. */
  shelf() {
    if (session.me?.guest) return nothing;
    return html`<details
      class="leaf saved"
      id=${`${this.side}-saved`}
      @toggle=${valued((_, { open }) => open && this.loadSaved())}
    >
      <summary>${t("card.saved")}</summary>
      ${this.saved.map(
        ({ name }) =>
          html`<p class="row">
            <button type="button" @click=${() => this.use(name)}>${name}</button>
            <button type="button" aria-label=${t("card.saved.forget", { name })} @click=${() => this.forget(name)}>
              ✕
            </button>
          </p>`,
      )}
      <form
        class="row"
        @submit=${submitted(async (fields, form) => {
          await this.save(String(fields.get("name")).trim());
          if (!this.problem) form.reset();
        })}
      >
        <input
          name="name"
          aria-label=${t("card.saved.name")}
          placeholder=${t("card.saved.name")}
          required
          maxlength="40"
        />
        <button ?disabled=${!this.slots.every((s) => s.player_id)}>${t("card.saved.save")}</button>
      </form>
    </details>`;
  }

  async suggest() {
    try {
      this.fill(await api("POST", `${this.path}/suggest`));
      this.keep();
      this.problem = null;
      readOut(t("card.suggested"));
    } catch (err) {
      this.problem = problemOf(err);
    }
    this.update();
  }

  async submit() {
    if (this.busy) return;
    this.busy = true;
    try {
      const game = await api("PUT", this.path, { batting_order: this.slots, pitcher_id: this.pitcher });
      this.problem = null;
      this.keep(false);
      this.submitted(game);
    } catch (err) {
      this.problem = problemOf(err);
    }
    this.busy = false;
    await this.update();
    if (this.problem)
      /** @type {HTMLElement | null} */ (document.querySelector(`#${this.side}-card [aria-invalid="true"]`))?.focus();
  }

  /**
   * Returns the violations at a path; of a place without a player, only that.
   * @param {string} path
   */
  violations(path) {
    const found = this.problem?.errors.filter((v) => v.path === path) ?? [];
    const [, i, field] = /^\/batting_order\/(\d)\/(\w+)$/.exec(path) ?? [];
    const empty = i === undefined ? path === "/pitcher_id" && !this.pitcher : !this.slots[Number(i)]?.player_id;
    if (!empty || !found.length) return found;
    return field !== "position" ? [{ path, code: "empty", detail: t("card.empty") }] : [];
  }

  /** @param {string} path @param {string} id */
  wrong(path, id) {
    const found = this.violations(path);
    return found.length
      ? html`<span class="wrong" id=${id}>${sentence(found.map(wrongOf).join("; "))}</span>`
      : nothing;
  }

  /** @param {Player | undefined} p */
  hasPlatoonEdge(p) {
    return p && (p.bats === "S" || p.bats !== this.facing);
  }

  /** @param {Game} game */
  render(game) {
    const club = game[this.side].team;
    const handed = game[this.side].lineup_submitted;
    const known = [
      "/batting_order",
      "/pitcher_id",
      ...this.slots.flatMap((_, i) => [`/batting_order/${i}/player_id`, `/batting_order/${i}/position`]),
    ];
    const wrong = known.filter((path) => this.violations(path).length).length;
    const other = this.problem?.errors.filter((v) => !known.includes(v.path)) ?? [];
    return html`<form
      class="leaf card"
      id=${`${this.side}-card`}
      .style=${clubStyle(club)}
      @submit=${submitted(() => this.submit())}
      aria-labelledby=${`${this.side}-title`}
      novalidate
    >
      <div class="row spread">
        <h2 id=${`${this.side}-title`}>${pennant(club)} ${t("card.of", { club: club.name })}</h2>
        <p class="row">
          <button type="button" @click=${() => this.suggest()}>${t("card.suggest")}</button>
          <button type="button" @click=${() => this.edit(() => this.clear())}>${t("card.clear")}</button>
          <button class="primary" ?disabled=${this.busy}>${t(handed ? "card.again" : "card.hand")}</button>
        </p>
      </div>
      ${this.problem && (!this.problem.errors.length || other.length)
        ? html`<p class="alert" role="alert">
            ${other.length ? sentence(other.map(wrongOf).join("; ")) : this.problem.message}
          </p>`
        : nothing}
      ${this.problem?.errors.length
        ? html`<p class="alert" role="alert">${t("card.wrong", { n: wrong + other.length })}</p>`
        : nothing}
      <div class="builder">
        <div>
          <h3>${t("card.order")}</h3>
          ${this.wrong("/batting_order", `${this.side}-order-wrong`)}
          <ol class="slots">
            ${this.slots.map((s, i) => this.row(s, i))}
          </ol>
          ${this.pitchers()}
          ${game.options.dh
            ? html`<label class="check">
                <input
                  type="checkbox"
                  .checked=${this.dh}
                  @change=${valued((_, { checked }) => this.useDH(checked))}
                />
                ${t("card.usedh")}
              </label>`
            : nothing}
          <p class="row">
            <button class="primary" ?disabled=${this.busy}>${t(handed ? "card.again" : "card.hand")}</button>
            ${handed ? html`<span class="good-inline" role="status">${t("card.handed")}</span>` : nothing}
          </p>
        </div>
        <div>${this.chart()}${this.platoon()}${this.roster()}</div>
      </div>
    </form>
    ${this.shelf()}`;
  }

  /** @param {Slot} s @param {number} i */
  row(s, i) {
    const { side } = this;
    const p = this.player(s.player_id);
    const who = `/batting_order/${i}/player_id`;
    const at = `/batting_order/${i}/position`;
    const out = p && !["DH", "P"].includes(s.position) && !p.positions.includes(s.position);
    const warning = out ? html`<small class="warn">${t("card.out")}</small>` : nothing;
    const keys = (/** @type {KeyboardEvent} */ e) => {
      if (!e.altKey || (e.key !== "ArrowUp" && e.key !== "ArrowDown")) return;
      e.preventDefault();
      this.move(i, e.key === "ArrowUp" ? i - 1 : i + 1, /** @type {HTMLElement} */ (e.target).dataset.control);
    };
    return html`<li
      class="slot"
      id=${`${side}-slot-${i}`}
      draggable="true"
      @keydown=${keys}
      @dragstart=${(/** @type {DragEvent} */ e) => e.dataTransfer?.setData("text/plain", `slot ${i}`)}
      @dragover=${(/** @type {DragEvent} */ e) => e.preventDefault()}
      @drop=${(/** @type {DragEvent} */ e) => this.drop(e, i)}
    >
      <span class="grip" aria-hidden="true">⠿</span><span class="nth" aria-hidden="true">${i + 1}</span>
      <div class="slot-fields">
        <select
          data-control="player"
          aria-label=${t("card.player", { n: i + 1 })}
          aria-invalid=${this.violations(who).length ? "true" : nothing}
          aria-describedby=${`${side}-wrong-${i}`}
          @change=${valued((id) => this.put(i, id))}
        >
          <option value="" ?selected=${!s.player_id}>${t("card.choose")}</option>
          ${this.options(s)}
        </select>
        <select
          data-control="position"
          class="position"
          aria-label=${t("card.position", { n: i + 1 })}
          aria-invalid=${this.violations(at).length ? "true" : nothing}
          aria-describedby=${`${side}-wrong-${i}`}
          @change=${valued((position) => this.setPosition(i, position))}
        >
          ${[...fielders, this.dh ? "DH" : "P"].map(
            (pos) => html`<option value=${pos} ?selected=${pos === s.position}>${pos}</option>`,
          )}
        </select>
        <span id=${`${side}-wrong-${i}`}>${this.wrong(who, "")}${this.wrong(at, "")}${warning}</span>
      </div>
      <span class="edge" title=${this.hasPlatoonEdge(p) ? t("platoon.edge") : ""}>
        ${this.hasPlatoonEdge(p)
          ? html`<span aria-hidden="true">▲</span><span class="unseen">${t("platoon.edge")}</span>`
          : nothing}
      </span>
      <span class="updown">
        <button
          type="button"
          data-control="up"
          aria-label=${t("card.up", { n: i + 1 })}
          ?disabled=${i === 0}
          @click=${() => this.move(i, i - 1, "up")}
        >
          ↑
        </button>
        <button
          type="button"
          data-control="down"
          aria-label=${t("card.down", { n: i + 1 })}
          ?disabled=${i === this.slots.length - 1}
          @click=${() => this.move(i, i + 1, "down")}
        >
          ↓
        </button>
      </span>
    </li>`;
  }

  /** Lists the players for a place, first those who play its position. @param {Slot} s */
  options(s) {
    const plays = (/** @type {Player} */ p) =>
      s.position === "DH"
        ? p.positions.some((r) => fielders.includes(r) || r === "DH")
        : s.position === "P"
          ? pitches(p)
          : p.positions.includes(s.position);
    const option = (/** @type {Player} */ p) =>
      html`<option value=${p.id} ?selected=${p.id === s.player_id}>
        ${p.name} · ${p.positions.join(" ")} ·
        ${p.bats}${p.id !== s.player_id && this.slots.some((o) => o.player_id === p.id) ? " ✓" : ""}
      </option>`;
    return html`<optgroup label=${t("card.plays", { position: s.position })}>
        ${this.players.filter(plays).map(option)}
      </optgroup>
      <optgroup label=${t("card.others")}>${this.players.filter((p) => !plays(p)).map(option)}</optgroup>`;
  }

  pitchers() {
    const throws = this.players.filter(pitches);
    return html`<label for=${`${this.side}-pitcher`}>${t("card.pitcher")}</label>
      <select
        id=${`${this.side}-pitcher`}
        aria-invalid=${this.violations("/pitcher_id").length ? "true" : nothing}
        aria-describedby=${`${this.side}-pitcher-wrong`}
        @change=${valued((id) => this.pitch(id))}
      >
        <option value="" ?selected=${!this.pitcher}>${t("card.choose")}</option>
        ${throws.map(
          (p) =>
            html`<option value=${p.id} ?selected=${p.id === this.pitcher}>
              ${p.name} · ${p.positions.join(" ")} · ${p.throws}
            </option>`,
        )}
      </select>
      ${this.wrong("/pitcher_id", `${this.side}-pitcher-wrong`)}`;
  }

  /** @param {DragEvent} e @param {number} i */
  drop(e, i) {
    e.preventDefault();
    const [what, id] = (e.dataTransfer?.getData("text/plain") ?? "").split(" ");
    if (what === "slot") this.move(Number(id), i);
    if (what === "player" && this.player(id)) this.put(i, id);
  }

  /** Draws the fielders in their positions. */
  chart() {
    /** @type {Record<string, [number, number]>} */
    const spots = {
      P: [150, 186],
      C: [150, 238],
      "1B": [228, 158],
      "2B": [196, 112],
      "3B": [72, 158],
      SS: [104, 112],
      LF: [50, 62],
      CF: [150, 34],
      RF: [250, 62],
      DH: [254, 238],
    };
    const name = (/** @type {string} */ at) => {
      const id = at === "P" ? this.pitcher : this.slots.find((s) => s.position === at)?.player_id;
      const p = id ? this.player(id) : undefined;
      return p ? p.name.split(" ").slice(1).join(" ") || p.name : "";
    };
    const all = ["P", ...fielders, ...(this.dh ? ["DH"] : [])];
    const drop = (/** @type {DragEvent} */ e, /** @type {string} */ at) => {
      const i = this.slots.findIndex((s) => s.position === at);
      if (i >= 0) this.drop(e, i);
    };
    return html`<svg
      class="field chart"
      viewBox="0 0 300 256"
      role="img"
      aria-label=${t("chart.label", { words: all.map((at) => `${at} ${name(at) || t("chart.open")}`).join(", ") })}
    >
      <path class="grass" d="M150 232 12 96a194 194 0 0 1 276 0z"></path>
      <path class="dirt" d="M150 232 70 152a113 113 0 0 1 160 0z"></path>
      <path class="grass" d="M150 214 94 158l56-56 56 56z"></path>
      <path class="chalk" d="M12 96 150 232 288 96"></path>
      ${all.map(
        (at) =>
          svg`<g
            class=${name(at) ? "spot" : "spot open"}
            @dragover=${(/** @type {DragEvent} */ e) => e.preventDefault()}
            @drop=${(/** @type {DragEvent} */ e) => drop(e, at)}
          >
            <rect x=${spots[at][0] - 44} y=${spots[at][1] - 11} width="88" height="22" rx="3"></rect>
            <text x=${spots[at][0]} y=${spots[at][1] + 4}>${at} ${name(at)}</text>
          </g>`,
      )}
    </svg>`;
  }

  platoon() {
    const hands = (/** @type {string} */ h) => this.slots.filter((s) => this.player(s.player_id)?.bats === h).length;
    const starters = (/** @type {string} */ h) => this.opposingStarters.filter((p) => p.throws === h).length;
    const n = this.slots.filter((s) => this.hasPlatoonEdge(this.player(s.player_id))).length;
    return html`<div class="platoon">
      <label for=${`${this.side}-facing`}>${t("platoon.facing")}</label>
      <select
        id=${`${this.side}-facing`}
        @change=${valued((hand) => {
          this.facing = hand;
          this.update();
        })}
      >
        ${["R", "L"].map((h) => html`<option value=${h} ?selected=${h === this.facing}>${label("throws", h)}</option>`)}
      </select>
      <p class="hint">
        ${t("platoon.hint", { l: hands("L"), r: hands("R"), s: hands("S"), n, rr: starters("R"), rl: starters("L") })}
      </p>
    </div>`;
  }

  /** Renders the roster. A click adds or removes a player; players can also be dragged to a place. */
  roster() {
    return html`<h3>${t("card.roster")}</h3>
      <ul class="roster">
        ${this.players.map((p) => {
          const at = this.slots.findIndex((s) => s.player_id === p.id);
          const on = at >= 0 || this.pitcher === p.id;
          return html`<li>
            <button
              type="button"
              aria-pressed=${on}
              draggable="true"
              @dragstart=${(/** @type {DragEvent} */ e) => e.dataTransfer?.setData("text/plain", `player ${p.id}`)}
              @click=${() => this.toggle(p)}
            >
              <span>${p.name}</span>
              <small>${p.positions.join(" ")} · ${p.bats}/${p.throws}${at >= 0 ? ` · ${at + 1}` : ""}</small>
            </button>
            <small>
              ${playerName(p.id, html`${t("card.grades")}<span class="unseen"> ${p.name}</span>`, { game: this.game })}
              ${gradesOf(p)}
            </small>
          </li>`;
        })}
      </ul>`;
  }
}
