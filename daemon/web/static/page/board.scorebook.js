// The scorebook of a game: what its events have made of it.
import { t, api, ordinal, sides, unbroken, url } from "./ui.js";

export class Scorebook {
  /** @param {Game} game @param {Scored} [final] stands for the events of a finished game */
  constructor(game, final) {
    this.game = game;
    this.final = final;
    this.rev = 0;
    /** @type {Entry[]} */ this.entries = [];
    /** @type {Map<string, Player>} */ this.players = new Map();
    for (const side of sides) for (const p of game.rosters?.[side].players ?? []) this.players.set(p.id, p);
    /** @type {Lines} */ this.lines = {
      runs: { away: [], home: [] },
      hits: { away: 0, home: 0 },
      errors: { away: 0, home: 0 },
    };
    /** @type {Nines} */ this.nines = { away: {}, home: {} };
    /** @type {EventBody["result"]} */ this.result = final && game.result; // undefined until the game is over
  }

  /** The last entry, or the final score. @returns {Scored | undefined} */
  get last() {
    return this.entries.at(-1) ?? this.final;
  }

  /** @returns {Now | undefined} */
  get now() {
    return this.last?.now;
  }

  /** @param {string | null | undefined} id */
  name(id) {
    return (id && this.players.get(id)?.name) || id || "";
  }

  /** @param {string | null | undefined} id */
  surname(id) {
    const name = this.name(id);
    return name.slice(name.indexOf(" ") + 1) || name;
  }

  /** Adds the event or skip of the next revision. Returns its entry, if it has a scoreboard. @param {Frame} frame */
  add(frame) {
    this.rev = Number(frame.rev);
    const d = /** @type {EventBody} */ (frame.d);
    if (frame.t !== "event" || !d) return null;
    if (d.result) this.result = d.result;
    if (d.lineups) this.nines = { away: nineOf(d.lineups.away), home: nineOf(d.lineups.home) };
    for (const { side, player_id, position } of d.substitutions ?? [])
      this.nines = { ...this.nines, [side]: placed(this.nines[side], player_id, position) };
    if (!d.now) return null;
    const before = this.now ?? d.now;
    const batting = before.half === "top" ? "away" : "home";
    const lines = this.updateLines(before, d, batting);
    /** @type {Entry} */
    const entry = {
      rev: this.rev,
      kind: d.kind,
      text: (d.text ?? []).map(unbroken),
      about: this.playerOf(d.text?.[0] ?? "", before),
      now: d.now,
      inning: before.inning,
      half: before.half,
      runs: d.now.score[batting] - before.score[batting],
      win: d.win,
      lines,
      nines: this.nines,
    };
    this.entries.push(entry);
    return entry;
  }

  /**
   * Returns the batter, runner or pitcher whose surname begins a text, "" if none does.
   * @param {string} text
   * @param {Now} now
   */
  playerOf(text, { batter, pitcher, bases }) {
    return [batter, ...bases, pitcher].find((id) => id && text.startsWith(`${this.surname(id)} `)) ?? "";
  }

  /** Counts runs, hits and errors of an event. @param {Now} before @param {EventBody} d @param {Side} batting */
  updateLines(before, d, batting) {
    const now = /** @type {Now} */ (d.now);
    const fielding = batting === "home" ? "away" : "home";
    const runs = now.score[batting] - before.score[batting];
    const hit = ["single", "double", "triple", "home run"].includes(d.play?.kind ?? "");
    const errors = d.play?.errors?.filter((e) => e.by).length ?? 0;
    const begins = this.lines.runs[now.half === "top" ? "away" : "home"].length < now.inning && !this.result;
    if (!runs && !hit && !errors && !begins) return this.lines;
    const old = this.lines;
    const next = {
      runs: { away: [...old.runs.away], home: [...old.runs.home] },
      hits: { ...old.hits },
      errors: { ...old.errors },
    };
    while (next.runs[batting].length < before.inning) next.runs[batting].push(0);
    next.runs[batting][before.inning - 1] += runs;
    if (hit) next.hits[batting]++;
    next.errors[fielding] += errors;
    if (!this.result && now.outs < 3) {
      const side = now.half === "top" ? "away" : "home";
      while (next.runs[side].length < now.inning) next.runs[side].push(0);
    }
    this.lines = next;
    return next;
  }
}

/** Returns the fielders of a line-up by position. @param {Lineup} card @returns {Record<string, string>} */
export const nineOf = ({ batting_order, pitcher_id }) => ({
  P: pitcher_id,
  ...Object.fromEntries(batting_order.map((s) => [s.position, s.player_id])),
});

/**
 * Returns a nine with a player at a position, and at no other one.
 * @param {Record<string, string>} nine
 * @param {string} player
 * @param {string} position
 */
const placed = (nine, player, position) => ({
  ...Object.fromEntries(Object.entries(nine).filter(([, id]) => id !== player)),
  [position]: player,
});

/** @param {string} id @returns {Promise<Game>} */
export const fetchGame = (id) => api("GET", url`/api/games/${id}`);

/** Returns the scorebook of all events of a game so far. @param {Game} game */
export async function fetchScorebook(game) {
  const book = new Scorebook(game);
  const { events } = await api("GET", url`/api/games/${game.id}/events?since=0`);
  for (const frame of events) book.add(frame);
  return book;
}

/** @typedef {{ player_id: string, slot: number, position: string }} Sub */

/** Describes substitutions of a team. @param {Sub[]} subs @param {Scorebook | null} book @param {TeamState} [team] */
export function changeName(subs, book, team) {
  const words = subs.map(({ player_id: id, slot, position }) => {
    const old = position === "P" ? team?.pitcher : slot > 0 ? team?.order[slot - 1].player_id : "";
    const replaces = old && old !== id;
    const key =
      position === "PH" || position === "PR" || (position === "P" && replaces) ? position : replaces ? "for" : "at";
    return t(`sub.${key}`, { player: book?.name(id) ?? "", old: book?.name(old) ?? "", position });
  });
  const double = subs.length === 2 && subs[0].position === "P" && subs[0].slot > 0;
  return (double ? [words[0], doubleName(subs, book, team)] : words).join("; ");
}

/**
 * Describes what a double switch does beside the change of pitchers.
 * @param {Sub[]} subs
 * @param {Scorebook | null} book
 * @param {TeamState} [team]
 */
export function doubleName([pitcher, fielder], book, team) {
  return t("dugout.switch", {
    fielder: book?.name(fielder.player_id) ?? "",
    position: fielder.position,
    slot: ordinal(fielder.slot),
    out: book?.name(team?.order[pitcher.slot - 1].player_id) ?? "",
    pitcherSlot: ordinal(pitcher.slot),
  });
}
