// The moment of a play: what happened is shown on the field before the next batter
// stands in. Moments is the queue of plays, a state machine without a clock and
// without the document; kindOf and waysOf return what a play looks like; Stage shows it, and who
// stands in after it.
import { imported, t, label, clubStyle, element, sides, store, stored, readOut, tiredness, upTo } from "./ui.js";
import { spots, bags, box, shape, change, write } from "./board.js";

/**
 * @typedef {object} Shown
 * @property {Play} play
 * @property {Entry} entry of the play
 * @property {Scored} before the scoreboard before the play
 * @property {boolean} over whether the game ended with it
 *
 * @typedef {[number, number]} Point on a field 400 wide
 */

// ---- the queue

const usual = 1500;
const great = 2000; // milliseconds
const maxWaiting = 3; // plays that wait; more than these are dropped

/** The kinds of play that are shown longer, and dropped last. */
const greats = new Set(["walkoff", "last", "homer", "grand_slam", "triple_play", "double_play"]);

export class Moments {
  constructor() {
    /** @type {Shown | null} */ this.current = null;
    /** @type {Shown[]} */ this.waiting = [];
    this.begun = 0; // when the current one began
  }

  /** Adds a play, and drops the oldest usual one if too many wait. Returns those that it drops. @param {Shown} shown */
  add(shown) {
    this.waiting.push(shown);
    return this.waiting.length <= maxWaiting
      ? []
      : this.waiting.splice(
          Math.max(
            0,
            this.waiting.findIndex((s) => !greats.has(kindOf(s))),
          ),
          1,
        );
  }

  /** Marks the play before a revision, if it is the newest one, as the last of the game. @param {number} rev */
  end(rev) {
    const newest = this.waiting.at(-1) ?? this.current;
    if (newest?.entry.rev === rev - 1) newest.over = true;
  }

  /** Drops all plays. Returns those that waited. */
  skip() {
    const dropped = this.waiting;
    [this.current, this.waiting] = [null, []];
    return dropped;
  }

  /** How long the current play is shown, in milliseconds: the more wait, the shorter. */
  get length() {
    return this.current ? (greats.has(kindOf(this.current)) ? great : usual) / (1 + this.waiting.length) : 0;
  }

  /**
   * Returns the play that is shown at a time, null if there is none.
   * @param {number} now milliseconds, never less than before
   */
  at(now) {
    if (now >= this.begun + this.length) {
      this.current = this.waiting.shift() ?? null;
      this.begun = now;
    }
    return this.current;
  }

  /** Returns in how many milliseconds another play is shown, or none. @param {number} now */
  left(now) {
    return Math.max(0, this.begun + this.length - now);
  }
}

/**
 * Returns the kind of a play: the end of the game, a double play, otherwise the
 * kind that the server gave, with the ways of being out apart.
 * @param {Shown} shown
 */
export function kindOf({ play, entry, over }) {
  if (over)
    return entry.half === "bottom" && entry.runs > 0 && entry.now.score.home > entry.now.score.away
      ? "walkoff"
      : "last";
  const outs = play.flags?.includes("no double play") ? 1 : (play.outs?.length ?? 0);
  if (outs > 1) return outs > 2 ? "triple_play" : "double_play";
  if (play.kind === "home run") return entry.runs === 4 ? "grand_slam" : "homer";
  return play.kind === "out" ? outKind(play) : play.kind.replaceAll(/[ -]/g, "_").replace("'", "");
}

/** @param {Play} play with a batted ball and one out */
function outKind(play) {
  if (play.flags?.includes("sacrifice hit")) return "sacrifice_hit";
  if (play.flags?.includes("sacrifice fly")) return "sacrifice_fly";
  if (play.outs?.[0]?.who !== "batter") return "force_out";
  const contact = play.ball?.contact ?? "";
  return contact.includes("ground")
    ? "ground_out"
    : contact.includes("line")
      ? "line_out"
      : contact.includes("pop")
        ? "pop_out"
        : contact
          ? "fly_out"
          : "out";
}

// ---- the ways of the ball and of the runners

/** @type {Point} */ const plate = [200, 330];
/** The bases by number: the plate, first, second, third, the plate. @type {Point[]} */
const stops = [plate, ...bags, plate];
const baseNames = ["batter", "first", "second", "third", "home"];
const inPlay = new Set(["out", "error", "fielder's choice", "single", "double", "triple", "home run", "foul error"]);
const positions = ["", "P", "C", "1B", "2B", "3B", "SS", "LF", "CF", "RF"]; // by number

/**
 * @typedef {{ from: number, to: number, out: boolean, points: Point[] }} Way of the runner who began at base from,
 *   0: the batter
 */

/**
 * Returns the ways of a play: of the ball from the bat, by its highest point, to
 * where it is fielded; of the throws after it; and of all who move or are out.
 * @param {Play} play
 * @returns {{ ball: Point[], throws: Point[], runners: Way[] }}
 */
export function waysOf(play) {
  const ball = inPlay.has(play.kind) ? flightOf(play) : [];
  const throws = throwsOf(play, ball.at(-1));
  const outs = new Map(
    (play.outs ?? []).map((o) => [baseNames.indexOf(o.who), Math.max(0, baseNames.indexOf(o.at ?? ""))]),
  );
  /** @type {Way[]} */ const runners = [];
  for (let from = 0; from < 4; from++) {
    const out = outs.has(from);
    const to = out ? (outs.get(from) ?? 0) : baseNames.indexOf(play.runs[from]?.to ?? "");
    if (out && from === 0 && to === 0) continue; // struck out, or caught
    if (out || to > 0)
      runners.push({ from, to: Math.max(from, to), out, points: stops.slice(from, Math.max(from, to) + 1) });
  }
  return { ball, throws, runners };
}

/** How high the ball flies at most, as a part of its way. @type {Record<string, number>} */
const heights = { "fly ball": 0.4, "pop-up": 0.6, "line drive": 0.12, "bunt pop-up": 0.3 };

/** @param {Play} play @returns {Point[]} the bat, the control point of the curve, the end */
function flightOf(play) {
  const where =
    play.ball?.place ||
    play.touched?.[0] ||
    play.outs?.[0]?.by?.[0] ||
    (play.errors?.[0]?.by ? String(play.errors[0].by) : "8");
  const [x, y] = pointOf(where, play.kind === "home run" && !play.flags?.includes("inside-the-park home run"));
  const height =
    (play.kind === "home run" ? 0.4 : (heights[play.ball?.contact ?? ""] ?? 0)) *
    Math.hypot(x - plate[0], y - plate[1]);
  return [plate, [(plate[0] + x) / 2, (plate[1] + y) / 2 - height], [x, y]];
}

/**
 * Returns the place of one of Retrosheet's zones, such as 78D.
 * @param {string} zone
 * @param {boolean} gone over the fence
 * @returns {Point}
 */
function pointOf(zone, gone) {
  const at = [...(/^[1-9]+/.exec(zone)?.[0] ?? "8")].map((digit) => spots[positions[Number(digit)]]);
  const middle = [0, 1].map((i) => at.reduce((sum, spot) => sum + spot[i], 0) / at.length);
  const depth = gone ? 1.3 : /X|D/.test(zone) ? 1.1 : zone.includes("S") ? 0.85 : 1;
  const wide = zone.includes("F") ? 1.5 : 1; // foul
  return [plate[0] + (middle[0] - plate[0]) * depth * wide, plate[1] + (middle[1] - plate[1]) * depth];
}

/** @param {Play} play @param {Point} [fielded] where the ball was fielded @returns {Point[]} */
function throwsOf(play, fielded) {
  /** @type {Point[]} */ const points = [];
  for (const out of play.outs ?? []) {
    const base = baseNames.indexOf(out.at ?? "");
    if (base <= 0) continue; // in the air, or at the plate before the batter ran
    const by = out.by ?? "";
    if (!points.length) points.push(fielded ?? spots[positions[Number(by[0])] ?? "C"]);
    for (const digit of by.slice(1, -1)) points.push(spots[positions[Number(digit)]]);
    points.push(stops[base]);
  }
  return points;
}

// ---- on the field

/** Shows plays over the field, one after the other, with their sounds. */
export class Stage {
  /** @param {import("./board.js").Scene} scene @param {() => void} update draws the page */
  constructor(scene, update) {
    this.scene = scene;
    this.update = update;
    this.ways = new Ways(scene);
    this.moments = new Moments();
    this.callout = new Callout(scene.book.game);
    this.matchup = new Matchup(scene.book.game);
    this.drawn = ""; // revision and kind of the play that is drawn
    this.timer = 0;
    /** @type {import("./sound.js").Sounds | null} */ this.sounds = null; // null: off
    if (stored("sounds", "off") === "on") void this.load();
  }

  /**
   * Adds a play to those that are to be shown: the more wait, the sooner the one that is shown ends.
   * @param {Shown} shown
   */
  add(shown) {
    unseen(this.moments.add(shown));
    if (this.drawn) this.wait();
  }

  /** Draws the play of this moment. Returns null if there is none. */
  draw() {
    const shown = this.moments.at(performance.now());
    const drawn = shown ? `${shown.entry.rev} ${kindOf(shown)}` : "";
    if (drawn !== this.drawn) this.show(shown);
    this.drawn = drawn;
    if (shown && !this.timer) this.wait(); // it was early
    return shown;
  }

  /** Has the page drawn again when the play that is shown has ended. */
  wait() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      this.update();
    }, this.moments.left(performance.now()));
  }

  /** @param {Shown | null} shown */
  show(shown) {
    const { scene } = this;
    if (this.drawn) this.ways.end();
    scene.playing = shown !== null;
    for (const drawn of [scene.ways, scene.ball]) change(drawn, "class", shown ? "ways shown" : "ways");
    this.callout.root.hidden = !shown;
    clearTimeout(this.timer);
    if (!shown) return;
    this.ways.show(shown, this.moments.length);
    this.callout.show(shown);
    this.wait();
    this.sounds?.play(kindOf(shown));
  }

  /** Ends what is shown, and what waits. Reports whether there was anything. */
  skip() {
    const playing = this.moments.current !== null;
    unseen(this.moments.skip().slice(0, -1)); // the last one is in the headline
    if (playing) this.update();
    return playing;
  }

  /** Signals the turn to a manager who may be looking elsewhere, if the sounds are on. */
  signalTurn() {
    this.sounds?.play("turn");
    if (this.sounds && navigator.userActivation?.hasBeenActive) navigator.vibrate?.([120, 80, 120]);
  }

  /** Turns the sounds on or off, and remembers it. */
  toggleSounds() {
    store("sounds", this.sounds ? "off" : "on");
    if (!this.sounds) return void this.load();
    this.sounds.close();
    this.sounds = null;
    this.update();
  }

  async load() {
    const module = await imported(import("./sound.js")).catch(() => null); // silent while there is no server
    if (module) this.sounds ??= new module.Sounds();
    this.update();
  }

  close() {
    clearTimeout(this.timer);
    this.sounds?.close();
  }
}

/** Has plays that are not shown read out; for the others, the headline is the live region. @param {Shown[]} plays */
const unseen = (plays) => plays.forEach(({ entry }) => readOut(entry.text.join(" "), "en"));

// ---- the drawing

const still = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * The ways of a play over the field, the runners and the ball where they end. They move there,
 * unless motion is to be reduced.
 */
class Ways {
  /** @param {import("./board.js").Scene} scene */
  constructor({ ways, runners, ball }) {
    this.runners = runners;
    const path = (/** @type {string} */ name) => shape("path", { class: name });
    this.lines = { flight: path("flight"), throws: path("throw"), safe: path("way"), out: path("way out") };
    this.drawn = ways;
    this.cross = path("cross");
    this.ball = shape("circle", { class: "thrown", r: "4.5" });
    /** @type {Animation[]} */ this.moving = [];
    ways.append(...Object.values(this.lines));
    ball.append(this.cross, this.ball);
  }

  /** Draws a play, which moves for a while. @param {Shown} shown @param {number} length milliseconds */
  show({ play, before: { now } }, length) {
    const { ball, throws, runners } = waysOf(play);
    change(this.lines.flight, "d", ball.length ? `M${ball[0]}Q${ball[1]} ${ball[2]}` : "");
    change(this.lines.throws, "d", polyline(throws));
    change(
      this.lines.safe,
      "d",
      runners
        .filter((way) => !way.out)
        .map((way) => polyline(way.points))
        .join(""),
    );
    const out = runners.filter((way) => way.out);
    change(this.lines.out, "d", out.map((way) => polyline(way.points)).join(""));
    change(this.cross, "d", out.map(({ points }) => `M${points.at(-1)}m-7-7l14 14m0-14l-14 14`).join(""));
    const ways = stops.slice(1).flatMap((_, from) => {
      const id = from ? now.bases[from - 1] : play.batter || now.batter;
      const way = runners.find((way) => way.from === from) ?? { out: false, points: [from ? stops[from] : box] };
      return id ? [{ id, ...way }] : [];
    });
    const elements = this.runners.place(
      now.half === "top" ? "away" : "home",
      ways.map(({ id, out, points }) => ({ id, at: points[points.length - 1], as: out ? "out" : "" })),
    );
    const flight = ball.length ? Array.from({ length: 9 }, (_, i) => curveAt(ball, i / 8)) : [];
    const points = [...flight, ...throws.slice(flight.length ? 1 : 0)];
    change(this.ball, "display", points.length ? "inline" : "none");
    if (points.length) change(this.ball, "transform", `translate(${points.at(-1)})`);
    if (!still.matches)
      this.move(
        elements,
        ways.map((way) => way.points),
        points,
        length * 0.6,
      );
  }

  /**
   * @param {SVGGElement[]} runners
   * @param {Point[][]} ways of the runners
   * @param {Point[]} ball
   * @param {number} duration milliseconds
   */
  move(runners, ways, ball, duration) {
    const time = { duration, easing: "ease-in-out", fill: /** @type {const} */ ("backwards") };
    const appear = [{ opacity: 0 }, {}];
    this.moving = [
      this.drawn.animate(appear, { ...time, delay: duration / 6 }),
      ...runners.flatMap((runner, i) => (ways[i].length > 1 ? [runner.animate(steps(ways[i]), time)] : [])),
      this.cross.animate(appear, { ...time, delay: duration, duration: 100 }),
      ...(ball.length > 1 ? [this.ball.animate(steps(ball), { ...time, easing: "linear" })] : []),
    ];
  }

  end() {
    for (const moving of this.moving.splice(0)) moving.cancel();
  }
}

/** @param {Point[]} points */
const polyline = (points) => (points.length ? `M${points.join("L")}` : "");

/** Returns the keyframes of a way. @param {Point[]} points */
const steps = (points) => points.map(([x, y]) => ({ transform: `translate(${x}px,${y}px)` }));

/** Returns a point of a quadratic curve. @param {Point[]} curve @param {number} u 0–1 @returns {Point} */
function curveAt([a, b, c], u) {
  const at = (/** @type {0 | 1} */ i) => (1 - u) ** 2 * a[i] + 2 * u * (1 - u) * b[i] + u ** 2 * c[i];
  return [at(0), at(1)];
}

/**
 * The callout of a play: its kind in large letters, its words, and the outs and runs counting
 * over. Screen readers have it from the live region. It stays, and what holds it is hidden between
 * plays: to lay out its texts and to restyle what is in it is most of what it costs.
 */
class Callout {
  /** @param {Game} game */
  constructor(game) {
    this.game = game;
    /** @type {Club | null} */ this.club = null;
    this.kind = element("strong");
    this.words = element("span", { lang: "en" });
    this.lamps = upTo(3).map(() => element("span", { class: "lamp" }));
    this.count = document.createTextNode("");
    this.outs = element("span", { class: "tally" }, ...this.lamps, this.count);
    this.scores = { away: element("span", { class: "plate" }), home: element("span", { class: "plate" }) };
    this.runs = element(
      "span",
      { class: "tally" },
      ...sides.flatMap((side) => [game[side].team.abbrev, this.scores[side]]),
    );
    this.sign = element("div", { class: "callout" }, this.kind, this.words, this.outs, this.runs);
    this.root = element("div", { class: "over-field", "aria-hidden": "true", hidden: "" }, this.sign);
  }

  /** @param {Shown} shown */
  show(shown) {
    const { play, entry } = shown;
    const kind = kindOf(shown);
    const batting = entry.half === "top" ? "away" : "home";
    const club =
      play.outs?.length && !entry.runs ? this.game[batting === "home" ? "away" : "home"].team : this.game[batting].team;
    if (this.club !== club) this.sign.style.cssText = clubStyle(club);
    this.club = club;
    this.sign.className = `callout ${greats.has(kind) ? `great ${kind}` : kind}`;
    write(this.kind, label("moment", kind, t("moment.play")));
    write(this.words, entry.text[0] ?? "");
    this.showOuts(shown.before.now.outs, play.outs?.length ?? 0);
    this.showRuns(shown);
  }

  /** @param {number} was @param {number} made */
  showOuts(was, made) {
    this.outs.hidden = !made;
    this.lamps.forEach((lamp, i) => {
      lamp.className = !made || i >= was + made ? "lamp" : i < was ? "lamp on" : "lamp on new";
    });
    if (made) this.count.data = t("count.outs", { n: Math.min(3, was + made) });
  }

  /** @param {Shown} shown */
  showRuns({ entry, before }) {
    this.runs.hidden = !entry.runs;
    for (const side of sides) {
      const plate = this.scores[side];
      const was = String(before.now.score[side]);
      const is = String(entry.now.score[side]);
      write(plate, is);
      if (entry.runs && was !== is) plate.dataset.was = was;
      else delete plate.dataset.was;
    }
  }
}

// ---- who stands in

/** @param {Form | undefined} form of a batter */
const batted = (form) =>
  form?.today?.batting ? t("player.batted", { h: form.today.batting.h, ab: form.today.batting.ab }) : "";

/**
 * Batter, pitcher, and the surnames of the next two batters. Its elements are kept, so that a play changes only what
 * differs.
 */
class Matchup {
  /** @param {Game} game */
  constructor({ id }) {
    /** @type {string[]} */ this.players = []; // who is shown
    this.first = upTo(2).map(() => element("span", { class: "roomy" }, ""));
    this.names = upTo(4).map((_, i) =>
      element(
        "button",
        { type: "button", class: "player-name", "aria-haspopup": "dialog", "data-game": id },
        ...this.first.slice(i, i + 1),
        "",
      ),
    );
    this.notes = upTo(4).map(() => element("dd", { class: "note" }));
    const [batter, pitcher, ...due] = this.names.map((name) => element("dd", {}, name));
    this.due = element("div", {}, element("dt", {}, t("game.due")), ...due);
    this.root = element(
      "dl",
      { class: "matchup" },
      element("div", {}, element("dt", {}, t("game.batter")), batter, ...this.notes.slice(0, 2)),
      element("div", {}, element("dt", {}, t("game.pitcher")), pitcher, ...this.notes.slice(2)),
    );
  }

  /**
   * Returns null before the first entry.
   * @param {import("./board.js").Scorebook} book
   * @param {State | null} state after the last entry, null if it is not known yet
   */
  draw(book, state) {
    const { now } = book;
    if (!now) return null;
    const team = state?.teams?.[now.half === "top" ? 0 : 1];
    const form = state?.at_bat;
    const arm = form?.pitcher;
    const due = team ? [1, 2].map((i) => team.order[(team.next + i) % 9].player_id) : [];
    const batter = book.players.get(now.batter);
    const pitcher = book.players.get(now.pitcher);
    [now.batter, now.pitcher, ...due].forEach((id, i) => this.name(i, id, book));
    if (!due.length) this.due.remove();
    else if (!this.due.parentNode) this.root.append(this.due);
    const throwing = [pitcher && label("throws", pitcher.throws), arm && t(tiredness(arm.fatigue))]
      .filter(Boolean)
      .join(" · ");
    const notes = [
      batter ? label("bats", batter.bats) : "",
      batted(form?.batter),
      throwing,
      arm ? t("player.pitches", { n: arm.pitches }) : "",
    ];
    notes.forEach((text, i) => write(this.notes[i], text));
    return this.root;
  }

  /** @param {number} i @param {string} id @param {import("./board.js").Scorebook} book */
  name(i, id, book) {
    if (this.players[i] === id) return;
    this.players[i] = id;
    const button = this.names[i];
    const { lastChild: shown } = button;
    const surname = book.surname(id);
    button.dataset.player = id;
    if (i in this.first) write(this.first[i], book.name(id).slice(0, -surname.length));
    if (shown instanceof Text) shown.data = surname;
  }
}
