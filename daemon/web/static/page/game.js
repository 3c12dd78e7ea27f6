// A game, live or over: scoreboard, field, decisions, play-by-play, box score.
import { html, nothing, noChange, guard } from "./lit-html.js";
import {
  t, label, api, reactions, reactionShown, session, readOut, alertBox, gameTitle, problemView, problemOf, requests,
  imported, Problem, managerOf, element, loading, store, stored, sides, problemText, language, inningName,
  linkState, isTyped, clubStyle,
} from "./ui.js";
import { Scorebook, Scene, fetchGame, fetchScorebook, describeRunners, write } from "./board.js";

/** @type {Page} */
export function game({ params, update, go }) {
  const match = new Match(params.id, update, go);
  return {
    title: () => match.title(),
    render: () => match.render(),
    updated: () => match.updated(),
    close: () => match.close(),
    awake: true,
  };
}

/** The state of the view: what the server has sent of the game, and what it shows. */
class Match {
  /** @param {string} id @param {() => Promise<void>} update @param {PageContext["go"]} go */
  constructor(id, update, go) {
    this.id = id;
    this.update = update;
    this.go = go;
    /** @type {Game | null} */ this.game = null;
    /** @type {Scorebook | null} */ this.book = null;
    /** @type {State | null} */ this.state = null;
    this.fresh = false; // state belongs to the last entry
    /** @type {Choice[]} */ this.legal = [];
    /** @type {Choice[]} */ this.offers = [];
    /** @type {Presence} */ this.presence = { home: null, away: null, watchers: 0 };
    this.presentAt = 0; // when presence arrived, by performance.now()
    /** @type {{ side?: Side, until: number } | null} */ this.clock = null;
    /** @type {import("./play.js").Live | null} */ this.live = null;
    /** @type {import("./play.js").Link} */ this.link = "joining";
    this.reason = "";
    this.lostAt = "";
    /**
     * @type {Map<string, string>}
     */
    this.sent = new Map(); // labels of commands by cid, until their event has arrived
    /** @type {Map<string, number>} */ this.acknowledged = new Map(); // revisions of those that were acknowledged
    this.error = "";
    /** @type {Problem | null} */ this.problem = null;
    /** @type {Box | null} */ this.box = null;
    /** @type {typeof import("./box.js") | null} */ this.results = null; // that shows the box and the end
    this.epoch = "";
    this.tab = "plays";
    /** @type {Scene | null} */ this.scene = null; // null until all events have arrived
    /** @type {import("./moment.js").Stage | null} */ this.stage = null; // of a game that was joined
    /** @type {typeof import("./moment.js").Stage | null} */ this.Stage = null;
    this.waited = false; // for a decision
    /** @type {(() => unknown) | null} */ this.keep = null; // the form by which a guest stays
    if (!session.me || session.me.guest)
      if (stored("guest", "", "sessionStorage") === id) void this.offerToKeep();
    this.headline = element(
      "p",
      { class: "moment", lang: "en", "aria-live": "polite", "aria-atomic": "true" },
      "",
      " ",
      element("span"),
    );
    this.lastPlay = element(
      "div",
      { class: "leaf headline" },
      element("p", { class: "kicker" }, t("play.last")),
      this.headline,
    );
    /** @type {Api["Reaction"] | null} */ this.reaction = null;
    this.reacting = 0; // the timer of its end
    this.keys = stored("keys", "on") === "on";
    /** @type {import("./play.js").Decisions | null} */ this.decisions = null;
    this.tick = 0;
    this.closed = false;
    this.key = (/** @type {KeyboardEvent} */ e) => this.pressed(e);
    this.tap = (/** @type {MouseEvent} */ e) => this.tapped(e);
    addEventListener("keydown", this.key);
    addEventListener("click", this.tap, true);
    void this.load();
  }

  close() {
    this.closed = true;
    this.live?.close();
    this.stage?.close();
    clearInterval(this.tick);
    removeEventListener("keydown", this.key);
    removeEventListener("click", this.tap, true);
  }

  async load() {
    try {
      const game = await fetchGame(this.id);
      if (this.closed) return;
      if (game.status === "pending") return this.go(`/games/${this.id}/lineup`, true);
      this.game = game;
      this.setPresence(game.presence ?? this.presence);
      if (game.state) this.setState(game.state, game.legal, game.offers);
      if (game.status === "finished") await this.loadFinished(game);
      else await this.join(game);
    } catch (err) {
      this.problem = problemOf(err);
      // a private game's invitation
      if (this.problem.status === 404 && !session.me) return this.go(`/games/${this.id}/lineup`, true);
    }
    this.update();
  }

  /** @param {Game} game */
  async loadFinished(game) {
    this.tab = "box";
    await this.loadBox();
    this.open(new Scorebook(game, this.state && this.box ? this.results?.finalScore(this.state, this.box) : undefined));
    if (!this.book?.last) await this.loadEvents(game);
  }

  /** Loads the events of a finished game, which its box score does not need. @param {Game} game */
  async loadEvents(game) {
    try {
      const book = await fetchScorebook(game);
      this.scene = null;
      this.open(book);
    } catch (err) {
      this.problem = problemOf(err);
    }
    this.update();
  }

  /** Joins the game: the server sends all events, and then the state. @param {Game} game */
  async join(game) {
    const [{ Live, Decisions }, { Stage }] = await imported(
      Promise.all([import("./play.js"), import("./moment.js")]),
    );
    if (this.closed) return;
    this.Stage = Stage;
    this.decisions ??= new Decisions(this, async () => {
      const { Dugout } = await imported(import("./dugout.js"));
      return new Dugout(this);
    });
    this.book = new Scorebook(game);
    this.live ??= new Live(this.id, {
      rev: () => this.book?.rev ?? 0,
      frame: (frame) => this.receive(frame),
      link: (link, reason) => this.linkChanged(link, reason),
      answered: (cid, error, rev) => this.answered(cid, error, rev),
    });
  }

  /** @param {Scorebook} book with all events */
  open(book) {
    this.book = book;
    this.scene ??= new Scene(book, () => this.update());
    if (this.Stage) this.stage ??= new this.Stage(this.scene, () => this.update());
    this.stage?.skip();
  }

  async loadBox() {
    try {
      this.results ??= await imported(import("./box.js"));
      this.box = await api("GET", `/api/games/${this.id}/boxscore`);
    } catch (err) {
      this.problem = problemOf(err);
    }
    this.update();
  }

  async rematch() {
    try {
      const next = await api("POST", `/api/games/${this.id}/rematch`);
      this.go(`/games/${next.id}/lineup`);
    } catch (err) {
      this.problem = problemOf(err);
      this.update();
    }
  }

  /** @param {State} state @param {Choice[]} [legal] @param {Choice[]} [offers] */
  setState(state, legal, offers) {
    [this.state, this.legal, this.offers, this.fresh] = [state, legal ?? [], offers ?? [], true];
  }

  /** @param {Frame} frame */
  receive(frame) {
    const book = /** @type {Scorebook} */ (this.book);
    switch (frame.t) {
      case "hello":
        if (this.epoch && this.epoch !== frame.d.epoch) void this.restart();
        this.epoch = frame.d.epoch;
        break;
      case "skip":
        book.add(frame);
        return;
      case "event":
        this.addEvent(book, frame);
        break;
      case "state":
        this.open(book);
        this.setState(frame.d.state, frame.d.legal, frame.d.offers);
        if (frame.d.presence) this.setPresence(frame.d.presence);
        this.setClock(frame.d.clock);
        this.check(book);
        break;
      case "presence": {
        const before = this.presenceShown();
        this.setPresence(frame.d);
        if (this.presenceShown() === before) return;
        break;
      }
      case "clock":
        this.setClock(frame.d);
        break;
      case "reaction":
        if (stored("reactions", "on") === "off") return;
        this.reaction = /** @type {Api["Reaction"]} */ (frame.d);
        clearTimeout(this.reacting);
        this.reacting = window.setTimeout(() => {
          this.reaction = null;
          this.update();
        }, reactionShown);
        break;
    }
    for (const [cid, rev] of this.acknowledged)
      if (rev <= book.rev && this.acknowledged.delete(cid)) this.sent.delete(cid);
    if (frame.t !== "event" || !this.showPlay()) this.update();
  }

  /**
   * Shows the next play and its words, and changes nothing else of the page until it has been shown. Reports whether
   * there is one.
   */
  showPlay() {
    const shown = this.stage?.draw();
    if (shown) this.showLast(shown.entry);
    this.hideWaiting();
    if (shown && this.tab === "plays") this.scene?.plays(0, shown.entry.rev);
    return Boolean(shown);
  }

  /**
   * Returns what is shown of the presence, as a key. Only a manager sees that the opponent has called, and only before
   * the play.
   */
  presenceShown() {
    const you = this.game?.you;
    const opponent = you === "home" ? this.presence.away : you === "away" ? this.presence.home : null;
    return `${presenceKey(this.presence)} ${!this.stage?.drawn && opponent?.decided}`;
  }

  /** @param {Scorebook} book @param {Frame} frame */
  addEvent(book, frame) {
    const before = book.last;
    const entry = book.add(frame);
    const d = /** @type {EventBody | undefined} */ (frame.d);
    if (entry && before && d?.play && !(d.skipped && !entry.runs) && this.link === "live" && !document.hidden)
      this.stage?.add({ play: d.play, entry, before, over: false });
    if (d?.play) for (const side of sides) this.presence[side] &&= { ...this.presence[side], decided: false };
    if (d?.result) this.stage?.moments.end(book.rev);
    if (entry) this.fresh = false;
    if (d?.state) this.setState(d.state, d.legal, d.offers);
    if (d?.state && !d.state.waiting?.length) this.setClock(null);
    if (entry && (d?.result || (this.asked && d?.kind === "question")) && this.link === "live")
      // the headline, which has all others read out, is gone or shows the last play
      readOut(entry.text.join(" "), "en");
    if (entry) this.box = null;
    if (entry && this.tab === "box" && this.link === "live") void this.loadBox();
    if (d?.kind === "finished") void this.finish();
    if (d?.kind === "rematch" && this.game) this.game.rematch = d.next;
  }

  async offerToKeep() {
    const { keepForm } = await imported(import("./guest.js"));
    const kept = requests(() => void this.update());
    this.keep = () => keepForm(kept);
    void this.update();
  }

  /** Loads what is published after the last out: the seed and the final box score. */
  async finish() {
    if (session.me?.guest) session.forget();
    try {
      this.game = await api("GET", `/api/games/${this.id}`);
      if (this.book && this.game) this.book.game = this.game;
    } catch (err) {
      this.problem = problemOf(err);
    }
    this.tab = "box";
    await this.loadBox();
  }

  /**
   * Compares the scoreboard of the events with the state. If they differ, the
   * page has a bug: it logs an error and loads the game again.
   * @param {Scorebook} book
   */
  check(book) {
    const [s, now] = [this.state, book.now];
    if (!s?.score || !now) return;
    if (
      s.inning === now.inning &&
      s.half === now.half &&
      s.outs === now.outs &&
      s.score[0] === now.score.away &&
      s.score[1] === now.score.home
    )
      return;
    console.error(`pressbox: at revision ${book.rev} the events do not match the state`);
    void this.restart();
  }

  /** Loads the game again, from its first event. */
  async restart() {
    this.live?.close();
    this.stage?.close();
    this.live = this.book = this.scene = this.stage = null;
    await this.load();
  }

  /** @param {Clock | null | undefined} clock */
  setClock(clock) {
    this.clock = clock ? { side: clock.side, until: performance.now() + clock.left_ms } : null;
    this.countDown();
  }

  /** @param {Presence} presence */
  setPresence(presence) {
    [this.presence, this.presentAt] = [presence, performance.now()];
    this.countDown();
  }

  /** Draws the seconds that run down, of the clock or an absence. */
  countDown() {
    clearInterval(this.tick);
    if (this.clock || sides.some((side) => this.presence[side]?.gone_in))
      this.tick = window.setInterval(() => this.update(), 500);
  }

  /** @param {import("./play.js").Link} link @param {string} reason */
  linkChanged(link, reason) {
    if (link === "lost" && this.link === "live") {
      this.lostAt = new Date().toLocaleTimeString(language);
      readOut(t("link.lost"));
    }
    if (link === "live" && this.link === "lost") readOut(t("link.back"));
    [this.link, this.reason] = [link, reason];
    this.update();
  }

  /**
   * Handles the answer to a command. An acknowledgment can arrive before its
   * event; until the event arrives, the known decisions are out of date.
   * @param {string} cid @param {{ code: string, detail: string } | null} error @param {number} rev
   */
  answered(cid, error, rev) {
    if (!error && rev > (this.book?.rev ?? 0)) this.acknowledged.set(cid, rev);
    else this.sent.delete(cid);
    this.error = error ? problemText(error) : "";
    if (error) readOut(this.error);
    this.update();
  }

  /** @param {Choice} choice @param {string} name */
  choose(choice, name) {
    if (!this.live || this.link !== "live" || this.sent.size) return;
    this.error = "";
    this.sent.set(this.live.command(choice.action), name);
    this.update();
  }

  /** Whether the heading of the decisions asks a question. */
  get asked() {
    return this.legal[0]?.group === "answer";
  }

  get left() {
    return this.clock ? Math.max(0, Math.ceil((this.clock.until - performance.now()) / 1000)) : null;
  }

  /**
   * Handles a key: it ends the play that is shown, or makes a call, or has something read out.
   * @param {KeyboardEvent} e
   */
  pressed(e) {
    const target = /** @type {Element} */ (e.target);
    if (isTyped(e)) return;
    const skipped = !e.repeat && e.key !== "Shift" && this.stage?.skip();
    const acts = /^[1-9 ]$|^Enter$/.test(e.key) && !target.closest?.("header, footer, .tabs, .plays");
    if (acts && (skipped || e.repeat)) return e.preventDefault();
    if (e.repeat || !this.keys) return;
    const book = this.scene && this.book;
    if (/^[1-9]$/.test(e.key)) this.decisions?.key(Number(e.key));
    else if (e.key === "s" && book) readOut(describeScore(book));
    else if (e.key === "b" && book) readOut(describeBases(book));
    else if (e.key === "c" && book?.now)
      readOut(
        t("words.count", {
          balls: book.now.count?.balls ?? 0,
          strikes: book.now.count?.strikes ?? 0,
          outs: book.now.outs,
        }),
      );
    else if (e.key === "l" && book) readOut(book.entries.findLast((x) => x.text.length)?.text.join(" ") ?? "", "en");
    else return;
    e.preventDefault();
  }

  /** A tap ends the play that is shown; what was tapped is out of date. @param {MouseEvent} e */
  tapped(e) {
    if (!this.stage?.skip() || !(/** @type {Element} */ (e.target).closest?.(".panel"))) return;
    e.preventDefault();
    e.stopPropagation();
  }

  /** Hides for whom the game waited, while what has come of it is shown. */
  hideWaiting() {
    const waiting = /** @type {HTMLElement | null} */ (document.querySelector(".panel .waiting"));
    if (waiting) waiting.style.visibility = this.stage?.drawn ? "hidden" : "";
  }

  /** Called after each drawing. */
  updated() {
    this.hideWaiting();
    this.decisions?.refocus();
    const turn = this.legal.length > 0 && this.link === "live";
    if (turn && this.waited && !this.stage?.drawn) this.stage?.signalTurn();
    if (!turn || !this.stage?.drawn) this.waited = !turn;
  }

  title() {
    const { game, book, scene } = this;
    if (!game || !book || !scene) return t("game.title");
    const now = book.now;
    const names = now
      ? `${game.away.team.abbrev} ${now.score.away}, ${game.home.team.abbrev} ${now.score.home}`
      : `${game.away.team.abbrev} @ ${game.home.team.abbrev}`;
    return this.legal.length && this.link === "live" ? t("game.yourturn", { names }) : names;
  }

  render() {
    const { game, book, scene } = this;
    if (!game || !book || !scene) {
      return this.problem ? problemView(this.problem) : html`${this.banner()}${loading()}`;
    }
    const moment = this.stage?.draw();
    const over = Boolean(book.result) && !moment;
    const at = moment?.before ?? book.last;
    return html`<div class=${over ? "game over" : "game"}>
      ${this.banner()}
      <div class="now">
        ${scene.scoreboard(at, over)} ${scene.situation(at?.now, over)}
        <div class="view">
          <section class="leaf park" aria-label=${t("game.park")}>
            <div class="stage">${scene.field(at, over)}${this.stage?.callout.root ?? nothing}</div>
            ${over || !this.stage
              ? nothing
              : moment
                ? this.stage.matchup.root
                : this.stage.matchup.draw(book, this.fresh ? this.state : null)}
          </section>
          ${over
            ? nothing
            : this.showLast(
                moment?.entry ?? book.entries.findLast((e) => e.text.length && !(this.asked && e.kind === "question")),
              )}
        </div>
        ${this.reaction ? this.showReaction(game, this.reaction) : nothing}
        ${over
          ? (this.results?.final(game, book, this.box, () => void this.rematch()) ?? loading())
          : moment
            ? noChange
            : this.decisions?.render(game)}
      </div>
      <div class="game-head">${gameTitle(game)}${this.linkState(over)}</div>
      ${over && this.keep ? this.keep() : nothing} ${this.tabs(game, scene, moment?.entry.rev)}
    </div>`;
  }

  /** @param {Game} game @param {Api["Reaction"]} reaction */
  showReaction(game, { name, side }) {
    return html`<p class="reaction" role="status" .style=${clubStyle(game[side].team)}>
      <span aria-hidden="true">${reactions[name]}</span>
      ${managerOf(game[side])}<span class="unseen">: ${label("reaction", name)}</span>
    </p>`;
  }

  /** The buttons by which two people react, and the one that hides it. @param {Game} game @param {boolean} shown */
  reactionButtons(game, shown) {
    if (game.options.opponent === "hotseat" || sides.some((side) => game[side].bot)) return nothing;
    const hide = html`<button
      class="sounds"
      aria-pressed=${shown}
      @click=${() => {
        store("reactions", shown ? "off" : "on");
        this.update();
      }}
    >
      ${t("game.reactions")}
    </button>`;
    if (!game.you || !shown) return hide;
    return html`${hide}<span class="reactions" role="group" aria-label=${t("reaction.title")}>
      ${Object.entries(reactions).map(
        ([name, picture]) =>
          html`<button aria-label=${label("reaction", name)} @click=${() => this.live?.react(name)}>
            ${picture}
          </button>`,
      )}
    </span>`;
  }

  /** @param {Entry | undefined} entry */
  showLast(entry) {
    if (!entry) return nothing;
    const { firstChild: first, lastChild: rest } = this.headline;
    const [text, ...more] = entry.text;
    if (first instanceof Text && first.data !== text) first.data = text;
    if (rest instanceof Element) write(rest, more.join(" "));
    return this.lastPlay;
  }

  /** @param {boolean} over */
  linkState(over) {
    if (over) return nothing;
    const { presence: p } = this;
    const hotseat = this.game?.options.opponent === "hotseat";
    const fans = Math.max(
      0,
      (p.watchers ?? 0) - sides.filter((side) => p[side]?.online && !(hotseat && side === "home")).length,
    ); // managers are watchers as well
    const { stage } = this;
    const shown = stored("reactions", "on") === "on";
    return html`<p class="link-line">${guard(
      [this.link, fans, presenceKey(p), ...sides.map((side) => this.goneIn(p[side])), stage, stage?.sounds, shown],
      () =>
        html`${linkState(this.link)}
          ${sides.map((side) => {
            const manager = p[side];
            if (!manager || (hotseat && side === "home")) return nothing; // one person manages both sides
            return html` <span class=${`link-state ${manager.online ? "on" : "off"}`}>
              ${this.game ? managerOf(this.game[side]) : ""}
              ${manager.online ? html`<span class="unseen"> ${t("presence.here")}</span>` : ` ${this.absence(manager)}`}
            </span>`;
          })}
          ${fans ? html`<small>${t("presence.watchers", { n: fans })}</small>` : nothing}
          ${stage
            ? html`<button
                class="sounds"
                aria-pressed=${stage.sounds !== null}
                @click=${() => stage.toggleSounds()}
              >
                ${t("game.sounds")}
              </button>`
            : nothing}
          ${this.game ? this.reactionButtons(this.game, shown) : nothing}`,
    )}</p>`;
  }

  /** @param {Present} manager */
  absence(manager) {
    if (manager.gone) return t("presence.gone");
    const n = this.goneIn(manager);
    return n ? t("presence.gonein", { n }) : t("presence.away");
  }

  /** Returns the seconds until an absent manager counts as gone. @param {Present | null | undefined} manager */
  goneIn(manager) {
    return Math.max(0, Math.ceil((manager?.gone_in ?? 0) - (performance.now() - this.presentAt) / 1000));
  }

  banner() {
    if (this.link === "lost")
      return html`<p class="banner" role="alert">${t("link.banner", { at: this.lostAt || "–" })}</p>`;
    if (this.link === "over" && this.reason)
      return html`<p class="banner" role="alert">
        ${label("link.over", this.reason, t("link.over.closed"))} <a href="/">${t("lost.out")}</a>
      </p>`;
    return this.state?.paused
      ? html`<p class="banner calm" role="status">${t("game.paused")}</p>`
      : alertBox(this.problem);
  }

  /** @param {Game} game @param {Scene} scene @param {number} [last] revision of the last play that is shown */
  tabs(game, scene, last) {
    const choose = (/** @type {string} */ tab) => {
      this.tab = tab;
      if (tab === "box" && !this.box) void this.loadBox();
      if (tab !== "box" && !this.book?.entries.length) void this.loadEvents(game);
      this.update();
    };
    return html`<section class="leaf details" aria-label=${t("game.book")}>
      <div class="tabs" role="group" aria-label=${t("game.show")}>
        ${["plays", "box", "curve"].map(
          (tab) =>
            html`<button aria-pressed=${this.tab === tab} @click=${() => choose(tab)}>
              ${label("tab", tab)}
            </button>`,
        )}
      </div>
      ${this.tab === "plays"
        ? html`<h2 class="unseen">${t("tab.plays")}</h2>
            ${this.book?.entries.length ? scene.plays(0, last) : loading()}`
        : this.tab === "box"
          ? html`<h2 class="unseen">${t("tab.box")}</h2>
              ${guard([game, this.box, this.results], () => this.results?.boxScore(game, this.box) ?? loading())}`
          : html`<h2 class="unseen">${t("tab.curve")}</h2>
              ${this.book?.entries.length ? scene.curve() : loading()}`}
    </section>`;
  }
}

/** Describes the score and the situation for screen readers. @param {Scorebook} book */
function describeScore(book) {
  const now = book.now;
  if (!now) return "";
  const { away, home } = book.game;
  return t("words.score", {
    away: away.team.name,
    a: now.score.away,
    home: home.team.name,
    h: now.score.home,
    inning: inningName(now.half, now.inning),
    outs: t("count.outs", { n: now.outs }),
  });
}

/** Describes the runners for screen readers. @param {Scorebook} book */
const describeBases = (book) => (book.now ? describeRunners(book, book.now) : t("field.empty"));

/** Returns who is present, as a key. @param {Presence} p */
const presenceKey = ({ watchers, away: a, home: h }) =>
  `${watchers} ${a?.online} ${a?.gone} ${a?.gone_in} ${h?.online} ${h?.gone} ${h?.gone_in}`;
