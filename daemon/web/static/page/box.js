// The result of a finished game, and the box score of any: loaded on demand.
import { html, nothing } from "./lit-html.js";
import { nineOf } from "./board.js";
import {
  t, label, clubStyle, pennant, inningName, loading, sides, playerName, unbroken, cells, table, innings,
} from "./ui.js";

/**
 * Renders how a game ended, and what can be done with it.
 * @param {Game} game
 * @param {import("./board.js").Scorebook} book
 * @param {Box | null} box
 * @param {() => void} rematch
 */
export function final(game, book, box, rematch) {
  const winner =
    book.result?.winner === "home" || book.result?.winner === "away" ? game[book.result.winner].team : undefined;
  return html`<section class="leaf final" .style=${clubStyle(winner)}>
    <p class="kicker">${label("how", book.result?.how)}</p>
    <h2 tabindex="-1">${winner ? pennant(winner) : nothing} ${ending(game, book.result, book.now?.score)}</h2>
    ${howWon(book, box)}
    <p class="row">
      <a class="button primary" href=${`/games/${game.id}/replay`}>${t("final.replay")}</a>
      ${game.rematch
        ? html`<a class="button" href=${`/games/${game.rematch}`}>${t("final.next")}</a>`
        : game.you
          ? html`<button @click=${rematch}>${t("rematch.title")}</button>`
          : nothing}
      <a class="button" href=${`/api/games/${game.id}/scorecard`} download=${`${game.id}.EV`}>${t("final.card")}</a>
    </p>
    ${game.dice
      ? html`<details class="fine">
          <summary>${t("dice.title")}</summary>
          <p>${t("dice.text")}</p>
          <dl class="dice">
            <dt>${t("dice.hash")}</dt>
            <dd><code>${game.dice.commitment}</code></dd>
            ${game.dice.seed
              ? html`<dt>${t("dice.seed")}</dt>
                  <dd><code>${game.dice.seed}</code></dd>`
              : nothing}
          </dl>
        </details>`
      : nothing}
  </section>`;
}

/**
 * Shows the play that won the game, and the pitchers of decision.
 * @param {import("./board.js").Scorebook} book
 * @param {Box | null} box
 */
function howWon(book, box) {
  const play = book.result?.how === "final" ? book.game.go_ahead : undefined;
  const pitchers = /** @type {const} */ ([
    ["winner", box?.winning_pitcher],
    ["loser", box?.losing_pitcher],
    ["save", box?.save],
  ]);
  if (!play && !pitchers.some(([, id]) => id)) return nothing;
  return html`<dl class="how">
    ${play
      ? html`<div class="hit">
          <dt>${t("final.play", { inning: inningName(play.half, play.inning) })}</dt>
          <dd lang="en">${unbroken(play.text)}</dd>
        </div>`
      : nothing}
    ${pitchers.map(([how, id]) =>
      id
        ? html`<div>
            <dt>${t(`final.${how}`)}</dt>
            <dd>${playerName(id, book.name(id), { game: book.game.id })}</dd>
          </div>`
        : nothing,
    )}
  </dl>`;
}

/** @param {Game} game @param {Box | null} box */
export function boxScore(game, box) {
  if (!box) return loading();
  /** @param {PitchingLine} p */
  const marks = (p) => {
    const has = {
      w: p.player_id === box.winning_pitcher,
      l: p.player_id === box.losing_pitcher,
      s: p.player_id === box.save,
      h: p.hold,
      bs: p.blown_save,
      qs: p.quality_start,
    };
    return /** @type {(keyof typeof has)[]} */ (Object.keys(has))
      .filter((mark) => has[mark])
      .map((mark) => t(`box.${mark}`))
      .join(" ");
  };
  return html`${sides.map((side, i) => {
    const team = box.teams[i];
    const batting = team.batting ?? [];
    const club = game[side].team;
    /** @param {"ab" | "rbi" | "bb" | "so" | "lob"} what */
    const sum = (what) => batting.reduce((n, b) => n + b[what], 0);
    return html`<section class="box" .style=${clubStyle(club)}>
      <h3>${pennant(club)} ${club.name}</h3>
      ${table(
        t("box.batting", { club: club.name }),
        [t("players.batting"), "AB", "R", "H", "RBI", "BB", "SO", "LOB"],
        batting.map(
          (b) =>
            html`<tr>
              <th scope="row" class=${b.slot ? nothing : "sub"}>
                ${playerName(b.player_id, b.name, { game: game.id })} <small>${b.positions?.join("-")}</small>
              </th>
              ${cells([b.ab, b.r, b.h, b.rbi, b.bb, b.so, b.lob])}
            </tr>`,
        ),
        html`<tfoot>
          <tr>
            <th scope="row">${t("box.total")}</th>
            ${cells([sum("ab"), team.runs, team.hits, sum("rbi"), sum("bb"), sum("so"), sum("lob")])}
          </tr>
        </tfoot>`,
      )}
      <p class="notes">${notes(team, game.id)}</p>
      ${table(
        t("box.pitching", { club: club.name }),
        [t("players.pitching"), "IP", "H", "R", "ER", "BB", "SO", "HR", "P"],
        team.pitching?.map(
          (p) =>
            html`<tr>
              <th scope="row">${playerName(p.player_id, p.name, { game: game.id })} ${marks(p)}</th>
              ${cells([innings(p.outs), p.h, p.r, p.er, p.bb, p.so, p.hr, p.pitches])}
            </tr>`,
        ),
      )}
    </section>`;
  })}`;
}

/** @param {TeamBox} team @param {string} game */
function notes(team, game) {
  /** @param {string} abbrev @param {{ player_id: string, name: string }[]} players @param {(p: any) => string} how */
  const note = (abbrev, players, how) =>
    html`${abbrev}:
    ${players.map((p, i) => html`${i ? ", " : ""}${playerName(p.player_id, p.name, { game })}${how(p)}`)}`;
  const times = (/** @type {number} */ n) => (n > 1 ? ` ${n}` : "");
  const errors = (team.fielding ?? []).filter((f) => f.e);
  return [
    .../** @type {const} */ ([
      ["2B", "doubles"],
      ["3B", "triples"],
      ["HR", "hr"],
      ["SB", "sb"],
      ["2-out RBI", "two_out_rbi"],
    ]).flatMap(([abbrev, field]) => {
      const players = (team.batting ?? []).filter((b) => b[field]);
      return players.length ? [note(abbrev, players, (b) => times(b[field]))] : [];
    }),
    `LOB: ${team.left_on_base}`,
    `DP: ${team.double_plays}`,
    errors.length ? note("E", errors, (f) => `${times(f.e)}${f.te ? ` (${t("box.throw")})` : ""}`) : "E: 0",
  ].map((text, i) => html`${i ? ". " : ""}${text}`);
}

/** @param {Game} game @param {EventBody["result"]} result @param {Score | undefined} score */
function ending(game, result, score) {
  if (!result) return "";
  const winner = result.winner === "home" || result.winner === "away" ? game[result.winner].team.name : "";
  const how = label("how", result.how);
  if (result.how === "conceded" && winner) {
    const [won, lost] =
      result.winner === "home" ? /** @type {const} */ (["home", "away"]) : /** @type {const} */ (["away", "home"]);
    return t("ending.conceded", { winner, loser: game[lost].team.name, a: score?.[won] ?? 0, b: score?.[lost] ?? 0 });
  }
  return winner
    ? t("ending.won", {
        winner,
        how,
        a: Math.max(score?.home ?? 0, score?.away ?? 0),
        b: Math.min(score?.home ?? 0, score?.away ?? 0),
      })
    : t("ending.tied", { how });
}

/** @param {State} state @param {Box} box @returns {Scored} */
export function finalScore(state, box) {
  const { inning = 0, half = "top", outs = 0, score = [0, 0], bases = [], teams = [] } = state;
  const { count = { balls: 0, strikes: 0 }, batter, pitcher } = state;
  const both = (/** @type {"hits" | "errors"} */ field) => ({ away: box.teams[0][field], home: box.teams[1][field] });
  return {
    now: {
      inning,
      half,
      outs,
      count,
      score: { away: score[0], home: score[1] },
      bases: bases.map((b) => b.player ?? ""),
      batter,
      pitcher,
    },
    lines: {
      runs: { away: box.teams[0].line ?? [], home: box.teams[1].line ?? [] },
      hits: both("hits"),
      errors: both("errors"),
    },
    nines: {
      away: nineOf({ batting_order: teams[0].order, pitcher_id: teams[0].pitcher }),
      home: nineOf({ batting_order: teams[1].order, pitcher_id: teams[1].pitcher }),
    },
  };
}
