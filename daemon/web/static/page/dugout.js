// The dugout: what a manager can do besides the decision, such as substitutions.
import { html, nothing } from "./lit-html.js";
import { doubleName } from "./board.js";
import { nameOf, gain, subsOf, teamOf } from "./play.js";
import {
  t, label, language, ordinal, store, stored, playerName, gradesOf, restOf, tiredness, valued, submitted,
} from "./ui.js";

/** @typedef {import("./play.js").Match} Match */

/** Returns the name of a substitution in a list, with the gain. @param {Choice} c @param {Match} match */
const substitute = (c, match) =>
  [nameOf(c, match), gain(c), ...armOf(c, match), c.coach ? t("term.coach") : ""].filter(Boolean).join(" · ");
/** Returns the hand and the rest of a pitcher who would come in. @param {Choice} c @param {Match} match */
function armOf(c, match) {
  const [sub] = subsOf(c);
  const p = sub.position === "P" ? match.book?.players.get(sub.player_id) : undefined;
  return p ? [label("throws", p.throws), t(tiredness(p.fatigue)), restOf(p)] : [];
}
/** @param {Choice} c */
const ends = (c) => ["concede", "end", "claim"].includes(String(c.action.a));
/** @param {Choice} c */
const keyOf = (c) => `${c.side ?? ""} ${JSON.stringify(subsOf(c))}`;

/** The margins that one can choose, in percent. */
const margins = ["0.1", "0.3", "0.5", "1", "2", "5"];
const percentOf = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 });

export class Dugout {
  /** @param {Match} match */
  constructor(match) {
    this.match = match;
    this.change = ""; // keys of the selected substitution and double switch
    this.double = "";
  }

  get idle() {
    return this.match.link === "live" && !this.match.sent.size;
  }

  /** @param {Choice} choice */
  choose(choice) {
    this.match.choose(choice, nameOf(choice, this.match));
  }

  /** @param {Game} game */
  render(game) {
    const { offers } = this.match;
    const confirmed = (/** @type {Choice} */ c) => {
      if (ends(c) && !confirm(t("dugout.sure", { label: nameOf(c, this.match) }))) return;
      this.choose(c);
    };
    return html`${this.substitutions(
        game,
        offers.filter((c) => c.group === "substitution"),
      )}
      <p class="row">
        ${offers
          .filter((c) => c.group !== "substitution" && c.action.a !== "resume" && !c.action.until)
          .map(
            (c) =>
              html`<button
                type="button"
                class=${ends(c) ? "danger" : nothing}
                ?disabled=${!this.idle}
                @click=${() => confirmed(c)}
              >
                ${nameOf(c, this.match)}
              </button>`,
          )}
      </p>
      ${this.playOn(offers.filter((c) => c.action.until))}
      <label class="check">
        <input
          type="checkbox"
          .checked=${this.match.keys}
          @change=${valued((_, { checked }) => {
            this.match.keys = checked;
            store("keys", checked ? "on" : "off");
            this.match.update();
          })}
        />
        ${t("dugout.keys")}
      </label>`;
  }

  /**
   * Renders what ends "play on". It is kept by the browser.
   * @param {Choice[]} ways
   */
  playOn(ways) {
    if (!ways.length) return nothing;
    /** @param {"until" | "margin"} name @param {string[]} values @param {string} chosen */
    const select = (name, values, chosen) => html`<label>
      ${label("skip", name)}
      <select
        @change=${valued((value) => {
          store(name, value);
          this.match.update();
        })}
      >
        ${values.map(
          (value) =>
            html`<option value=${value} .selected=${value === chosen}>
              ${name === "until" ? label("skip.until", value) : percentOf.format(Number(value) / 100)}
            </option>`,
        )}
      </select>
    </label>`;
    const [{ action }] = ways;
    return html`<div class="row" data-help="skip">
      ${select(
        "until",
        ways.map((c) => String(c.action.until)),
        stored("until", String(action.until)),
      )}
      ${select("margin", margins, stored("margin", String(action.margin)))}
    </div>`;
  }

  /**
   * Renders the substitutions. A new pitcher can come in with a fielder (a double switch).
   * @param {Game} game
   * @param {Choice[]} all
   */
  substitutions(game, all) {
    const singles = all.filter((c) => subsOf(c).length === 1);
    if (!singles.length) return nothing;
    const change = singles.find((c) => keyOf(c) === this.change) ?? singles[0];
    const [pitcher] = subsOf(change);
    const doubles =
      pitcher.position === "P"
        ? all.filter(
            (c) => c.side === change.side && subsOf(c).length === 2 && subsOf(c)[1].player_id !== pitcher.player_id,
          )
        : [];
    const double = doubles.find((c) => keyOf(c) === this.double);
    /** @type {Map<string, Choice[]>} */ const kinds = new Map();
    for (const c of singles) {
      const kind = ["PH", "PR", "P"].includes(subsOf(c)[0].position) ? subsOf(c)[0].position : "field";
      kinds.set(kind, [...(kinds.get(kind) ?? []), c]);
    }
    kinds.get("P")?.sort((a, b) => (b.runs ?? 0) - (a.runs ?? 0));
    const pick = (/** @type {"change" | "double"} */ which) =>
      valued((value) => {
        this[which] = value;
        this.match.update();
      });
    return html`<form
      class="substitutions"
      @submit=${submitted(() => this.choose(double ? this.withPitcher(change, double) : change))}
    >
      <label for="sub">${t("help.bench")}</label>
      <select
        id="sub"
        data-help=${["PH", "PR", "P"].includes(pitcher.position) ? pitcher.position : nothing}
        @change=${pick("change")}
      >
        ${[...kinds].map(
          ([kind, list]) =>
            html`<optgroup label=${label("dugout", kind)}>
              ${list.map(
                (c) =>
                  html`<option value=${keyOf(c)} .selected=${c === change}>
                    ${c.side ? `${game[c.side].team.abbrev}: ` : ""}${substitute(c, this.match)}
                  </option>`,
              )}
            </optgroup>`,
        )}
      </select>
      ${this.candidate(game, pitcher.player_id)}
      ${doubles.length
        ? html`<label for="double">${t("term.double")}</label>
            <select id="double" data-help="double" @change=${pick("double")} aria-describedby="double-hint">
              <option value="" .selected=${!double}>${t("dugout.single", { n: ordinal(pitcher.slot) })}</option>
              ${doubles.map(
                (c) =>
                  html`<option value=${keyOf(c)} .selected=${c === double}>
                    ${doubleName(subsOf(c), this.match.book, teamOf(c, this.match))}
                  </option>`,
              )}
            </select>
            <p id="double-hint" class="hint">${t("dugout.double.hint")}</p>`
        : nothing}
      <button ?disabled=${!this.idle}>${t("dugout.change")}</button>
    </form>`;
  }

  /** Shows who would come in. @param {Game} game @param {string} id */
  candidate(game, id) {
    const p = this.match.book?.players.get(id);
    return p ? html`<p class="hint">${playerName(id, p.name, { game: game.id })} ${gradesOf(p)}</p>` : nothing;
  }

  /**
   * Returns a double switch with the pitcher of another substitution.
   * @param {Choice} change
   * @param {Choice} double
   * @returns {Choice}
   */
  withPitcher(change, double) {
    const [pitcher, fielder] = subsOf(double);
    return {
      ...double,
      action: { ...double.action, subs: [{ ...pitcher, player_id: subsOf(change)[0].player_id }, fielder] },
    };
  }
}
