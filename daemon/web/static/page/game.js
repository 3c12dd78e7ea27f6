// A game as it is played: what the manager may do, and all that everybody sees.
import { html, nothing } from "./lit-html.js";
import { t, say, api, announce, alertBox, instead, sentence, problemOf, outdated, Problem, managerOf, clubStyle, pennant, element, island, remembered } from "./app.js";
import { Ledger, Scene, fetchGame, fetchBook, boxScore, ending, inWords, basesInWords } from "./board.js";

const sides = /** @type {const} */ (["away", "home"]);

/** @param {PageContext} page @returns {View} */
export function game({ params, update, go }) {
  const table = new Table(params.id, update, go);
  return {
    title: () => table.title(),
    render: () => table.render(),
    drawn: () => table.desk?.refocus(),
    close: () => table.close(),
  };
}

export class Table {
  /** @param {string} id @param {() => Promise<void>} update @param {PageContext["go"]} go */
  constructor(id, update, go) {
    this.id = id;
    this.update = update;
    this.go = go;
    /** @type {Game | null} */ this.game = null;
    /** @type {Ledger | null} */ this.book = null;
    /** @type {State | null} */ this.state = null;
    this.fresh = false; // state is that of the last entry
    /** @type {Choice[]} */ this.legal = [];
    /** @type {Choice[]} */ this.offers = [];
    /** @type {Presence} */ this.presence = {};
    /** @type {{ side?: Side, until: number } | null} */ this.clock = null;
    /** @type {import("./live.js").Live | null} */ this.live = null;
    /** @type {import("./live.js").Link} */ this.link = "joining";
    this.why = "";
    this.lostAt = "";
    /** @type {Map<string, string>} */ this.sent = new Map(); // labels of commands of which nothing was told yet
    /** @type {Map<string, number>} */ this.kept = new Map(); // revisions of those that are acknowledged
    this.refusal = "";
    /** @type {Problem | null} */ this.problem = null;
    /** @type {Box | null} */ this.box = null;
    this.epoch = "";
    this.tab = "plays";
    /** @type {Scene | null} */ this.scene = null; // once all that happened is told
    this.facing = island(element("dl", { class: "matchup" }));
    this.shownBox = island(element("div"));
    this.shownTabs = island(element("div", { class: "tabs", role: "group", "aria-label": t("game.show") }));
    this.shownLink = island(element("p", { class: "link-line" }));
    this.keys = remembered("keys", "on") === "on";
    /** @type {import("./desk.js").Desk | null} */ this.desk = null;
    this.tick = 0;
    this.closed = false;
    this.key = (/** @type {KeyboardEvent} */ e) => this.pressed(e);
    addEventListener("keydown", this.key);
    void this.load();
  }

  close() {
    this.closed = true;
    this.live?.close();
    clearInterval(this.tick);
    removeEventListener("keydown", this.key);
  }

  async load() {
    try {
      const game = await fetchGame(this.id);
      if (this.closed) return;
      if (game.status === "pending") return this.go(`/games/${this.id}/lineup`, true);
      this.game = game;
      this.presence = game.presence ?? {};
      if (game.state) this.stand(game.state, game.legal, game.offers);
      if (game.status === "finished") await this.lookBack(game);
      else await this.join(game);
    } catch (err) {
      if (outdated(err)) return;
      this.problem = problemOf(err);
    }
    this.update();
  }

  /** @param {Game} game that is over */
  async lookBack(game) {
    this.tab = "box";
    const [book] = await Promise.all([fetchBook(game), this.loadBox()]);
    this.open(book);
  }

  /** Who joins is told all that happened, and then where the game stands. @param {Game} game */
  async join(game) {
    const [{ Live }, { Desk }] = await Promise.all([import("./live.js"), import("./desk.js")]);
    if (this.closed) return;
    this.desk ??= new Desk(this);
    this.book = new Ledger(game);
    this.live ??= new Live(this.id, {
      rev: () => this.book?.rev ?? 0,
      frame: (frame) => this.hear(frame),
      link: (link, why) => this.linked(link, why),
      answered: (cid, refusal, rev) => this.answered(cid, refusal, rev),
    });
  }

  /** @param {Ledger} book in which everything is */
  open(book) {
    this.book = book;
    this.scene ??= new Scene(book, () => this.update());
  }

  async loadBox() {
    try {
      this.box = await api("GET", `/api/games/${this.id}/boxscore`);
    } catch (err) {
      this.problem = problemOf(err);
    }
    this.update();
  }

  /** @param {State} state @param {Choice[]} [legal] @param {Choice[]} [offers] */
  stand(state, legal, offers) {
    [this.state, this.legal, this.offers, this.fresh] = [state, legal ?? [], offers ?? [], true];
  }

  /** @param {Frame} frame */
  hear(frame) {
    const book = /** @type {Ledger} */ (this.book);
    switch (frame.t) {
      case "hello":
        if (this.epoch && this.epoch !== frame.d.epoch) void this.again();
        this.epoch = frame.d.epoch;
        break;
      case "skip":
        book.take(frame);
        return;
      case "event":
        this.happened(book, frame);
        break;
      case "state":
        this.open(book);
        this.stand(frame.d.state, frame.d.legal, frame.d.offers);
        if (frame.d.presence) this.presence = frame.d.presence;
        this.setClock(frame.d.clock);
        this.check(book);
        break;
      case "presence": {
        const before = attendance(this.presence);
        this.presence = frame.d;
        if (attendance(this.presence) === before) return; // nothing that is shown
        break;
      }
      case "clock":
        this.setClock(frame.d);
        break;
    }
    for (const [cid, rev] of this.kept) if (rev <= book.rev && this.kept.delete(cid)) this.sent.delete(cid);
    this.update();
  }

  /** @param {Ledger} book @param {Frame} frame */
  happened(book, frame) {
    const entry = book.take(frame);
    const d = /** @type {EventBody | undefined} */ (frame.d);
    if (entry) this.fresh = false;
    if (d?.state) this.stand(d.state, d.legal, d.offers);
    if (d?.state && !d.state.waiting?.length) this.setClock(null);
    if (entry && this.link === "live" && entry.text.length) announce(entry.text.join(" "));
    if (entry) this.box = null;
    if (entry && this.tab === "box" && this.link === "live") void this.loadBox();
    if (d?.kind === "finished") void this.finish();
    if (d?.kind === "rematch" && this.game) this.game.rematch = d.next;
  }

  /** The last pitch is thrown: the seed can be seen, and the pitchers' decisions. */
  async finish() {
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
   * What was taken down event by event must be what the server says; otherwise
   * the page has a bug, says so, and starts afresh.
   * @param {Ledger} book
   */
  check(book) {
    const [s, now] = [this.state, book.now];
    if (!s || !now || s.inning === undefined) return;
    if (s.inning === now.inning && s.half === now.half && s.outs === now.outs && s.score[0] === now.score.away && s.score[1] === now.score.home) return;
    console.error(`pressbox: at revision ${book.rev} the events lead elsewhere than the state`);
    void this.again();
  }

  /** Begins with an empty book. */
  async again() {
    this.live?.close();
    this.live = this.book = this.scene = null;
    await this.load();
  }

  /** @param {Clock | null | undefined} clock */
  setClock(clock) {
    clearInterval(this.tick);
    this.clock = clock ? { side: clock.side, until: performance.now() + clock.left_ms } : null;
    if (this.clock) this.tick = window.setInterval(() => this.update(), 500);
  }

  /** @param {import("./live.js").Link} link @param {string} why */
  linked(link, why) {
    if (link === "lost" && this.link === "live") {
      this.lostAt = new Date().toLocaleTimeString();
      announce(t("link.lost"));
    }
    if (link === "live" && this.link === "lost") announce(t("link.back"));
    [this.link, this.why] = [link, why];
    this.update();
  }

  /**
   * What was commanded is kept before it is told: until then the calls that are known are those of before.
   * @param {string} cid @param {{ code: string, detail: string } | null} refusal @param {number} rev
   */
  answered(cid, refusal, rev) {
    if (!refusal && rev > (this.book?.rev ?? 0)) this.kept.set(cid, rev);
    else this.sent.delete(cid);
    this.refusal = refusal ? sentence(refusal.detail || say("nak", refusal.code)) : "";
    if (refusal) announce(this.refusal);
    this.update();
  }

  /** @param {Choice} choice */
  choose(choice) {
    if (!this.live || this.link !== "live" || this.sent.size) return;
    this.refusal = "";
    this.sent.set(this.live.command(choice.action), choice.label);
    this.update();
  }

  /** Seconds until the clock decides. */
  get left() { return this.clock ? Math.max(0, Math.ceil((this.clock.until - performance.now()) / 1000)) : null; }

  /** @param {KeyboardEvent} e */
  pressed(e) {
    const on = /** @type {Element} */ (e.target);
    if (!this.keys || e.ctrlKey || e.metaKey || e.altKey || on.matches?.("input:not([type=radio], [type=checkbox]), select, textarea")) return;
    const book = this.scene && this.book;
    if (/^[1-9]$/.test(e.key)) this.desk?.key(Number(e.key));
    else if (e.key === "s" && book) announce(inWords(book));
    else if (e.key === "b" && book) announce(basesInWords(book));
    else if (e.key === "c" && book?.now) announce(t("words.count", { balls: book.now.count?.balls ?? 0, strikes: book.now.count?.strikes ?? 0, outs: book.now.outs }));
    else if (e.key === "l" && book) announce(book.entries.findLast((x) => x.text.length)?.text.join(" ") ?? "");
    else return;
    e.preventDefault();
  }

  title() {
    const { game, book, scene } = this;
    if (!game || !book || !scene) return t("game.title");
    const now = book.now;
    const names = now ? `${game.away.team.abbrev} ${now.score.away}, ${game.home.team.abbrev} ${now.score.home}` : `${game.away.team.abbrev} @ ${game.home.team.abbrev}`;
    return this.legal.length && this.link === "live" ? t("game.yourturn", { names }) : names;
  }

  render() {
    const { game, book, scene } = this;
    if (!game || !book || !scene) {
      return this.problem ? instead(this.problem)
        : html`${this.banner()}<p class="waiting">${t("loading")}</p>`;
    }
    const over = Boolean(book.result);
    const at = book.entries.at(-1);
    return html`
      <div class="game-head"><h1>${game.away.team.name} <small>${t("game.at")}</small> ${game.home.team.name}</h1>${this.linkState(over)}</div>
      ${this.banner()}
      ${scene.scoreboard(at, over)}
      <div class="playfield">
        <section class="leaf park" aria-label=${t("game.park")}>
          ${scene.situation(at?.now, over)}
          ${scene.field(at?.now, this.fresh ? this.state ?? undefined : undefined, over)}
          ${over ? nothing : this.matchup(book)}
        </section>
        <div>
          ${over ? this.final(game, book) : this.desk?.render(game)}
          ${this.tabs(game, scene)}
        </div>
      </div>`;
  }

  /** @param {boolean} over */
  linkState(over) {
    if (over) return nothing;
    const { presence: p } = this;
    const alone = this.game?.options.opponent === "hotseat";
    const fans = Math.max(0, (p.watchers ?? 0) - sides.filter((side) => p[side]?.online && !(alone && side === "home")).length); // the managers stand for one each
    return this.shownLink([this.link, fans, attendance(p)], () => html`<span class=${`link-state ${this.link === "live" ? "on" : this.link === "joining" ? "" : "off"}`}>${t(`link.${this.link}`)}</span>
      ${sides.map((side) => {
        const who = p[side];
        if (!who || (alone && side === "home")) return nothing; // one person, said once
        return html` <span class=${`link-state ${who.online ? "on" : "off"}`}>${this.game ? managerOf(this.game[side]) : ""}${who.online ? html`<span class="unseen"> ${t("presence.here")}</span>` : ` ${this.away(who)}`}</span>`;
      })}
      ${fans ? html`<small>${t("presence.watchers", { n: fans })}</small>` : nothing}`);
  }

  /** @param {Present} who */
  away(who) {
    if (who.gone) return t("presence.gone");
    return who.gone_in ? t("presence.gonein", { n: who.gone_in }) : t("presence.away");
  }

  banner() {
    if (this.link === "lost") return html`<p class="banner" role="alert">${t("link.banner", { at: this.lostAt || "–" })}</p>`;
    if (this.link === "over" && this.why) return html`<p class="banner" role="alert">${say("link.over", this.why, t("link.over.closed"))} <a href="/">${t("lost.out")}</a></p>`;
    return this.state?.paused ? html`<p class="banner calm" role="status">${t("game.paused")}</p>` : alertBox(this.problem);
  }

  /** Who bats against whom, and who comes after. @param {Ledger} book */
  matchup(book) {
    const now = book.now;
    if (!now) return nothing;
    const batting = now.half === "top" ? "away" : "home";
    const team = this.fresh ? this.state?.teams?.[batting === "away" ? 0 : 1] : undefined;
    const due = team ? [1, 2].map((i) => team.order[(team.next + i) % 9].player_id) : [];
    const batter = book.players.get(now.batter), pitcher = book.players.get(now.pitcher);
    return this.facing([now.batter, now.pitcher, ...due], () => html`<div><dt>${t("game.batter")}</dt><dd>${book.name(now.batter)}</dd><dd><small>${batter ? say("bats", batter.bats) : ""}</small></dd></div>
      <div><dt>${t("game.pitcher")}</dt><dd>${book.name(now.pitcher)}</dd><dd><small>${pitcher ? say("throws", pitcher.throws) : ""}</small></dd></div>
      ${due.length ? html`<div><dt>${t("game.due")}</dt><dd>${due.map((id) => book.last(id)).join(", ")}</dd></div>` : nothing}`);
  }

  /** @param {Game} game @param {Ledger} book */
  final(game, book) {
    const rematch = async () => {
      try {
        const next = await api("POST", `/api/games/${this.id}/rematch`);
        this.go(`/games/${next.id}/lineup`);
      } catch (err) {
        this.problem = problemOf(err);
        this.update();
      }
    };
    const winner = book.result?.winner === "home" || book.result?.winner === "away" ? game[book.result.winner].team : undefined;
    return html`<section class="leaf final" .style=${clubStyle(winner)}><p class="kicker">${say("how", book.result?.how)}</p>
      <h2>${winner ? pennant(winner) : nothing} ${ending(game, book.result, book.now?.score)}</h2>
      <p class="row"><a class="button primary" href=${`/games/${this.id}/replay`}>${t("final.replay")}</a>
        ${game.rematch ? html`<a class="button" href=${`/games/${game.rematch}`}>${t("final.next")}</a>` : game.you ? html`<button @click=${rematch}>${t("final.rematch")}</button>` : nothing}
        <a class="button" href=${`/api/games/${this.id}/scorecard`} download=${`${this.id}.EV`}>${t("final.card")}</a></p>
      ${game.dice ? html`<details class="fine"><summary>${t("dice.title")}</summary><p>${t("dice.text")}</p><dl class="dice"><dt>${t("dice.hash")}</dt><dd><code>${game.dice.commitment}</code></dd>
        ${game.dice.seed ? html`<dt>${t("dice.seed")}</dt><dd><code>${game.dice.seed}</code></dd>` : nothing}</dl></details>` : nothing}</section>`;
  }

  /** @param {Game} game @param {Scene} scene */
  tabs(game, scene) {
    const choose = (/** @type {string} */ tab) => {
      this.tab = tab;
      if (tab === "box" && !this.box) void this.loadBox();
      this.update();
    };
    return html`<section class="leaf" aria-label=${t("game.book")}>
      ${this.shownTabs([this.tab], () => ["plays", "box", "curve"].map((tab) => html`<button aria-pressed=${this.tab === tab ? "true" : "false"} @click=${() => choose(tab)}>${t(/** @type {any} */ (`tab.${tab}`))}</button>`))}
      ${this.tab === "plays" ? html`<h2 class="unseen">${t("tab.plays")}</h2>${scene.plays()}` : this.tab === "box" ? html`<h2 class="unseen">${t("tab.box")}</h2>${this.shownBox([game, this.box], () => boxScore(game, this.box))}` : html`<h2 class="unseen">${t("tab.curve")}</h2>${scene.curve()}`}
    </section>`;
  }
}

/** What is shown of who is there. @param {Presence} p */
const attendance = ({ watchers, away: a, home: h }) => `${watchers} ${a?.online} ${a?.gone} ${a?.gone_in} ${h?.online} ${h?.gone} ${h?.gone_in}`;
