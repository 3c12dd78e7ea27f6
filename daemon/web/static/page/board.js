// The scorebook of one game and its drawing: scoreboard, field, count, plays,
// win probability, box score. It shows only what the server has sent.
import { html, svg, render, nothing, guard } from "./lit-html.js";
import { t, label, inningName, clubStyle, pennant, element, sides, percent, upTo } from "./ui.js";
export * from "./board.scorebook.js";

/** @import { Scorebook } from "./board.scorebook.js" */

/** The fielders' places on a field 400 wide. @type {Record<string, [number, number]>} */
export const spots = {
  P: [200, 236],
  C: [200, 352],
  "1B": [314, 186],
  "2B": [262, 150],
  "3B": [86, 186],
  SS: [138, 150],
  LF: [96, 108],
  CF: [200, 72],
  RF: [304, 108],
};
/** The bases, from first to third. @type {[number, number][]} */
export const bags = [
  [290, 234],
  [200, 144],
  [110, 234],
];

/**
 * The place of players who are not shown: they are moved and not hidden, so that their names need no new style.
 * @type {[number, number]}
 */
const nowhere = [-9999, -9999];

/** Where the batter stands. @type {[number, number]} */
export const box = [184, 322];

const grounds = svg`<path class="grass" d="M200 340 20 160a198 198 0 0 1 360 0z"></path>
  <path class="mown" d="M200 340 62 202a178 178 0 0 1 276 0z"></path>
  <path class="dirt" d="M200 340 75.7 215.7a126 126 0 0 1 248.6 0z"></path>
  <path class="grass" d="M200 312 122 234l78-78 78 78z"></path>
  <path class="chalk" d="M20 160 200 340 380 160"></path>
  <circle class="dirt" cx="200" cy="236" r="16"></circle><circle class="dirt" cx="200" cy="328" r="20"></circle>
  <path class="bag" d="M194 236h12v3h-12zM194 322h12v7l-6 6-6-6z"></path>`;

/** Draws the home side's chance to win over the game. @param {Scorebook} book @param {Entry} [at] */
function curve(book, at) {
  const points = book.entries.filter((e) => e.win !== undefined);
  const { home, away } = book.game;
  const last = at ? points.findLast((e) => e.rev <= at.rev) : points.at(-1);
  if (!points.length || !last) return html`<p class="empty">${t("curve.none")}</p>`;
  const step = 600 / Math.max(points.length, book.result ? 1 : 30);
  const y = (/** @type {number} */ p) => 100 - (p - 0.5) * 190;
  const path = points
    .map((e, i) => `${i ? "L" : "M0 100L"}${((i + 1) * step).toFixed(1)} ${y(e.win ?? 0.5).toFixed(1)}`)
    .join("");
  const x = (points.indexOf(last) + 1) * step;
  const share = last.win ?? 0.5;
  const rounded = Math.round(share * 100) / 100;
  return html`<figure class="curve">
    <figcaption>
      <span><b>${percent(rounded)}</b> ${home.team.abbrev}</span>
      <span><b>${percent(1 - rounded)}</b> ${away.team.abbrev}</span>
    </figcaption>
    <svg
      viewBox="0 0 600 200"
      role="img"
      aria-label=${t("curve.label", {
        home: home.team.name,
        away: away.team.name,
        n: percent(rounded),
        m: percent(1 - rounded),
      })}
      preserveAspectRatio="none"
    >
      <g .style=${clubStyle(home.team)}><rect class="half-fill" width="600" height="100"></rect></g>
      <g .style=${clubStyle(away.team)}><rect class="half-fill" y="100" width="600" height="100"></rect></g>
      <path class="middle" d="M0 100H600"></path>
      <path class="chance" d=${path}></path>
      <path class="cursor" d=${`M${x.toFixed(1)} 0V200`}></path>
    </svg>
  </figure>`;
}

/** @param {Scorebook} book @param {Now} now */
export function describeRunners(book, now) {
  const on = [0, 1, 2].filter((i) => now.bases[i]);
  return on.length
    ? on
        .map((i) => t("field.on", { name: book.name(now.bases[i]), base: label("base", String(i + 1)) }))
        .join(", ")
    : t("field.empty");
}

/**
 * The plays of a half-inning, the newest first. Lines are added and never rendered again; a
 * collapsed half-inning has none, so that a long game costs no more than a
 * short one.
 */
class HalfInning {
  /** @param {Scorebook} book @param {Entry} first @param {() => void} toggle */
  constructor(book, first, toggle) {
    this.book = book;
    this.toggle = toggle;
    this.club = book.game[first.half === "top" ? "away" : "home"].team;
    this.name = inningName(first.half, first.inning);
    this.runs = 0;
    /** @type {Entry[]} */ this.entries = [];
    this.head = element("h3");
    this.lines = element("ol");
    /** @type {Element | undefined} */ this.marked = undefined;
    this.open = false;
    this.chosen = -1;
    this.drawn = 0; // entries, whether or not it is open
    this.root = element("section", { class: "half", style: clubStyle(this.club) });
  }

  /** @param {Entry} e */
  add(e) {
    this.entries.push(e);
    this.runs += e.runs;
  }

  /** @param {boolean} open @param {number} chosen index of the current play, or -1 */
  draw(open, chosen) {
    const { entries, lines } = this;
    if (this.drawn === entries.length && this.open === open && this.chosen === chosen) return;
    [this.drawn, this.open, this.chosen] = [entries.length, open, chosen];
    render(
      html`<button class="half-head" aria-expanded=${open} @click=${this.toggle}>
        <span>${this.name} · ${this.club.abbrev}</span>
        <span>${this.runs ? t("plays.runs", { n: this.runs }) : t("plays.none")}</span>
      </button>`,
      this.head,
    );
    if (!this.head.parentNode) this.root.append(this.head);
    if (!open) return this.close();
    if (!lines.parentNode) this.root.append(lines);
    for (let i = lines.childElementCount; i < entries.length; i++)
      lines.insertBefore(line(this.book, entries[i]), lines.firstChild);
    const mark = lines.children[entries.length - 1 - chosen]; // none if chosen is -1
    if (mark === this.marked) return;
    this.marked?.removeAttribute("aria-current");
    mark?.setAttribute("aria-current", "true");
    this.marked = mark;
  }

  close() {
    this.lines.remove();
    this.lines.replaceChildren();
    this.marked = undefined;
  }
}

const blankLine = element(
  "li",
  {},
  element("button", { type: "button", class: "player-name", "aria-haspopup": "dialog" }, ""),
  " ",
  element("a", { lang: "en" }, "", " ", element("span", {}, "")),
);

/**
 * Creates the list item of a play: the name that begins it opens the player's card, the rest is a link to the
 * replay.
 * @param {Scorebook} book
 * @param {Entry} e
 */
function line(book, e) {
  const { away, home } = e.now.score;
  const { id } = book.game;
  const [first = "", ...more] = e.text;
  const drawn = /** @type {HTMLElement} */ (blankLine.cloneNode(true));
  const name = /** @type {Element} */ (drawn.firstElementChild);
  const link = /** @type {Element} */ (drawn.lastElementChild);
  const surname = e.about && book.surname(e.about);
  if (surname) {
    name.setAttribute("data-player", e.about);
    name.setAttribute("data-game", id);
    write(name, surname);
  } else name.remove();
  link.setAttribute("href", `/games/${id}/replay/${e.rev}`);
  link.setAttribute("aria-label", t("plays.link", { text: e.text.join(" ") }));
  write(link, surname ? first.slice(surname.length + 1) : first);
  if (more.length) write(/** @type {Element} */ (link.lastElementChild), more.join(" "));
  if (e.runs) drawn.className = "scoring";
  if (e.runs) drawn.append(" ", element("b", {}, `${away}–${home}`));
  return drawn;
}

/** The letters of the count, and how many lamps each has. @type {[string, number][]} */
const counted = [
  ["B", 3],
  ["S", 2],
  ["O", 2],
];

/**
 * Score, inning, bases, count and outs: all that a small screen has of the scoreboard. Its elements are kept, so that
 * a play changes only what differs.
 */
class Situation {
  /** @param {Game} game */
  constructor(game) {
    this.scores = { away: element("b"), home: element("b") };
    this.inning = element("p", { class: "inning" });
    this.bases = [
      [34, 15],
      [22, 3],
      [10, 15],
    ].map(([x, y]) => shape("path", { class: "base", d: `M${x} ${y}l8 8-8 8-8-8z` }));
    this.diamond = shape("svg", { class: "diamond", viewBox: "0 0 44 26", "aria-hidden": "true" });
    this.diamond.append(...this.bases);
    this.lamps = counted.map(([, n]) => upTo(n).map(() => element("span", { class: "lamp" })));
    this.count = element(
      "div",
      { class: "lamps", role: "img" },
      ...counted.map(([letter], i) =>
        element("div", {}, element("span", { class: "letter" }, letter), ...this.lamps[i]),
      ),
    );
    this.lit = [-1, -1, -1]; // how many of each part
    /** @type {string | undefined} */ this.when = undefined; // the half-inning, "" after the last one
    const tally = sides.flatMap((side) => [
      element("span", { style: clubStyle(game[side].team) }, element("i"), game[side].team.abbrev),
      this.scores[side],
    ]);
    this.root = element("div", { class: "situation" }, element("p", { class: "score" }, ...tally), this.inning);
  }

  /** @param {Now} now @param {boolean} over */
  show({ inning, half, outs, score, bases, count }, over) {
    for (const side of sides) write(this.scores[side], String(score[side]));
    const when = over ? "" : half + inning;
    if (when !== this.when) write(this.inning, over ? t("how.final") : inningName(half, inning));
    this.when = when;
    if (over) for (const part of [this.diamond, this.count]) part.remove();
    else if (!this.count.parentNode) this.root.append(this.diamond, this.count);
    for (let i = 0; i < 3; i++) change(this.bases[i], "class", bases[i] ? "base taken" : "base");
    this.light([count?.balls ?? 0, count?.strikes ?? 0, outs]);
    return this.root;
  }

  /** @param {number[]} lit balls, strikes, outs */
  light(lit) {
    if (lit.every((n, i) => n === this.lit[i])) return;
    this.lit = lit;
    this.lamps.forEach((lamps, part) =>
      lamps.forEach((lamp, i) => change(lamp, "class", i < lit[part] ? "lamp on" : "lamp")),
    );
    const [balls, strikes, outs] = lit;
    this.count.setAttribute(
      "aria-label",
      `${t("count.balls", { n: balls })}, ${t("count.strikes", { n: strikes })}, ${t("count.outs", { n: outs })}`,
    );
  }
}

/** The drawing of a scorebook. Each part is rendered only when its values change. */
export class Scene {
  /** @param {Scorebook} book @param {() => void} update */
  constructor(book, update) {
    this.book = book;
    this.update = update;
    const { away, home } = book.game;
    this.sign = new Situation(book.game);
    this.bags = bags.map(([x, y]) => shape("path", { d: `M${x} ${y - 11.3}l11.3 11.3-11.3 11.3-11.3-11.3z` }));
    // the fielders, of whom one side rests
    this.against = { away: group("fielders", home.team), home: group("fielders", away.team) };
    /** @type {Partial<Scored["nines"]>} */ this.nines = {}; // that are drawn
    /** @type {Side | undefined} */ this.batting = undefined; // the side of which fielders rest
    this.described = ""; // what the name of the field was made of
    this.runners = new Runners(book);
    this.ways = shape("g", { class: "ways" }); // of the play that is shown
    this.ball = shape("g", { class: "ways" }); // and what of it is above the runners
    this.ground = shape("svg", { class: "field", viewBox: "0 32 400 342", role: "img" });
    render(
      svg`${grounds}${this.bags}${sides.map((side) => this.against[side])}${this.ways}${this.runners.root}${this.ball}`,
      /** @type {any} */ (this.ground),
    );
    this.playing = false; // the runners are where a play takes them
    /** @type {HalfInning[]} */ this.halves = []; // the newest first
    /** @type {Set<HalfInning>} */ this.toggled = new Set(); // half-innings that the user opened or closed
    this.written = 0; // entries that are in this.halves
    this.list = element("div", { class: "plays" });
  }

  /** @param {Scored | undefined} at @param {boolean} over */
  scoreboard(at, over) {
    const { away, home } = this.book.game;
    const lines = at?.lines ?? this.book.lines;
    const innings = Math.max(this.book.game.options.innings, lines.runs.away.length, lines.runs.home.length);
    const playing = over ? 0 : (at?.now.inning ?? 0);
    const head = () =>
      guard(
        [innings, playing],
        () =>
          html`<th scope="col"><span class="unseen">${t("board.club")}</span></th>
            ${upTo(innings).map((i) => html`<th scope="col" class=${i === playing ? "playing" : nothing}>${i}</th>`)}
            <th scope="col" class="sum"><abbr title=${t("board.runs")}>R</abbr></th>
            <th scope="col" class="sum"><abbr title=${t("board.hits")}>H</abbr></th>
            <th scope="col" class="sum"><abbr title=${t("board.errors")}>E</abbr></th>`,
      );
    const board = guard(
      [lines, playing, at?.now.half, over],
      () =>
        html`<table>
          <caption class="unseen">
            ${t("board.caption", { away: away.team.name, home: home.team.name })}
          </caption>
          <thead>
            <tr>
              ${head()}
            </tr>
          </thead>
          <tbody>
            ${sides.map(
              (side) =>
                html`<tr>
                  ${this.row(side, lines, innings, at?.now, over)}
                </tr>`,
            )}
          </tbody>
        </table>`,
    );
    return html`<div class="board" tabindex="0" role="region" aria-label=${t("board.label")}>${board}</div>`;
  }

  /**
   * @param {Side} side
   * @param {Lines} lines
   * @param {number} innings
   * @param {Now | undefined} now
   * @param {boolean} over
   */
  row(side, lines, innings, now, over) {
    const runs = lines.runs[side];
    const team = this.book.game[side].team;
    const bats = !over && now && (now.half === "top") === (side === "away") ? now.inning : 0;
    const unplayed = over && side === "home" ? lines.runs.away.length : 0; // its inning without a bottom half
    const sums = [now?.score[side] ?? 0, lines.hits[side], lines.errors[side]];
    return guard(
      [innings, bats, unplayed, runs.join(), ...sums],
      () =>
        html`<th scope="row">${pennant(team)}<span class="unseen">${team.name}</span></th>
          ${upTo(innings).map(
            (i) =>
              html`<td>
                <span class=${i === bats ? "plate lit" : "plate"}>${runs[i - 1] ?? (i <= unplayed ? "X" : "")}</span>
              </td>`,
          )}
          ${sums.map((n) => html`<td class="sum"><span class="plate">${n}</span></td>`)}`,
    );
  }

  /** @param {Now | undefined} now @param {boolean} over */
  situation(now, over) {
    return now ? this.sign.show(now, over) : nothing;
  }

  /** @param {Scored | undefined} at @param {boolean} over */
  field(at, over) {
    if (!at) return nothing;
    const { book } = this;
    const { now } = at;
    const batting = now.half === "top" ? "away" : "home";
    const against = at.nines[batting === "home" ? "away" : "home"];
    if (this.nines[batting] !== against)
      render(
        Object.keys(spots).map((position, i) => (against[position] ? fielder(i, against[position], book) : nothing)),
        /** @type {any} */ (this.against[batting]), // lit-html's type excludes SVG; its code does not
      );
    this.nines[batting] = against;
    if (this.batting !== batting)
      for (const side of sides)
        this.against[side].setAttribute("class", side === batting ? "fielders" : "fielders resting");
    this.batting = batting;
    if (!this.playing) this.runners.place(batting, over ? [] : placesOf(now));
    for (let i = 0; i < 3; i++) change(this.bags[i], "class", now.bases[i] ? "base taken" : "base");
    const words = `${over} ${now.batter} ${now.pitcher} ${now.bases}`;
    if (words !== this.described)
      this.ground.setAttribute(
        "aria-label",
        t(over ? "field.after" : "field.label", {
          words: describeRunners(book, now),
          batter: book.name(now.batter),
          pitcher: book.name(now.pitcher),
        }),
      );
    this.described = words;
    return this.ground;
  }

  /**
   * Draws the plays, the newest first.
   * @param {number} [chosen] revision of the current play @param {number} [last] revision of the last one that is drawn
   */
  plays(chosen = 0, last = Infinity) {
    const { entries } = this.book;
    for (; this.written < entries.length && entries[this.written].rev <= last; this.written++)
      if (entries[this.written].text.length) this.write(entries[this.written]);
    for (let i = 0; i < this.halves.length; i++) {
      const half = this.halves[i];
      const at = chosen ? half.entries.findIndex((e) => e.rev === chosen) : -1;
      half.draw((i < 2 || at >= 0) !== this.toggled.has(half), at);
    }
    return this.list;
  }

  /** @param {Entry} e */
  write(e) {
    const newest = this.halves[0]?.entries[0];
    if (newest?.inning !== e.inning || newest.half !== e.half) {
      const half = new HalfInning(this.book, e, () => {
        if (!this.toggled.delete(half)) this.toggled.add(half);
        this.update();
      });
      this.halves.unshift(half);
      this.list.prepend(half.root);
    }
    this.halves[0].add(e);
  }

  /** @param {Entry} [at] */
  curve(at) {
    return guard([this.book.entries.length, at], () => curve(this.book, at));
  }
}

/**
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string>} attributes
 */
export function shape(tag, attributes) {
  const created = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  return created;
}

/** @param {string} name @param {Club} club */
function group(name, club) {
  const g = shape("g", { class: name });
  g.style.cssText = clubStyle(club);
  return g;
}

/** @param {number} i index in spots @param {string} id @param {Scorebook} book */
function fielder(i, id, book) {
  const [x, y] = Object.values(spots)[i];
  return svg`<g data-player=${id} data-game=${book.game.id}>
    <circle cx=${x} cy=${y} r="4"></circle>
    <text x=${x} y=${i ? y + 17 : y + 30}>${book.surname(id)}</text>
  </g>`;
}

/**
 * A place of a runner on the field, or of the batter, 400 wide.
 * @typedef {object} Place
 * @property {string} id of the player
 * @property {[number, number]} at
 * @property {"" | "at-bat" | "out"} as
 */

/** @param {Now} now @returns {Place[]} */
function placesOf({ bases, batter }) {
  const places = bases.map((id, i) => ({ id: id ?? "", at: bags[i], as: /** @type {const} */ ("") }));
  return [...places, { id: batter, at: box, as: /** @type {const} */ ("at-bat") }].filter((place) => place.id);
}

/** A player of the side that bats, on the field: a mark with a name, and where and how it is drawn. */
class Runner {
  /** @param {string} id @param {Game} game @param {Side} batting @param {string} surname */
  constructor(id, game, batting, surname) {
    this.root = group("", game[batting].team);
    this.root.dataset.player = id;
    this.root.dataset.game = game.id;
    this.name = shape("text", {});
    this.name.append(surname);
    this.root.append(shape("circle", {}), this.name);
    this.as = this.at = this.y = "";
  }

  /** Draws it in a way, at a place. @param {Place["as"] | "gone"} as @param {[number, number]} place */
  put(as, place) {
    const at = `translate(${place.join(" ")})`;
    // where no fielder's name is
    const y = as === "gone" ? this.y : place[1] === bags[1][1] || place[1] === box[1] ? "-17" : "27";
    if (as !== this.as) this.root.setAttribute("class", as);
    if (at !== this.at) this.root.setAttribute("transform", at);
    if (y !== this.y) this.name.setAttribute("y", y);
    [this.as, this.at, this.y] = [as, at, y];
  }
}

/**
 * The runners on the field, and the batter. Each player has one element for the rest of the game, which is moved, even
 * out of the picture: laying out a name costs more than everything else that a play changes.
 */
class Runners {
  /** @param {Scorebook} book */
  constructor(book) {
    this.book = book;
    this.root = shape("g", { class: "runners" });
    /** @type {Map<string, Runner>} */ this.known = new Map(); // by player
    /** @type {Runner[]} */ this.shown = [];
  }

  /**
   * Moves the players to their places, and all others out of the picture.
   * @param {Side} batting
   * @param {Place[]} places
   * @returns {SVGGElement[]} the elements of the places
   */
  place(batting, places) {
    const shown = places.map(({ id }) => this.known.get(id) ?? this.add(id, batting));
    for (const runner of this.shown) if (!shown.includes(runner)) runner.put("gone", nowhere);
    this.shown = shown;
    shown.forEach((runner, i) => runner.put(places[i].as, places[i].at));
    return shown.map(({ root }) => root);
  }

  /** @param {string} id @param {Side} batting */
  add(id, batting) {
    const runner = new Runner(id, this.book.game, batting, this.book.surname(id));
    this.root.append(runner.root);
    this.known.set(id, runner);
    return runner;
  }
}

/** Changes the text that begins an element. @param {Element} of @param {string} text */
export function write(of, text) {
  const { firstChild } = of;
  if (!(firstChild instanceof Text)) of.append(text);
  else if (firstChild.data !== text) firstChild.data = text;
}

/** Sets an attribute if its value differs. @param {Element} of @param {string} name @param {string} value */
export function change(of, name, value) {
  if (of.getAttribute(name) !== value) of.setAttribute(name, value);
}
