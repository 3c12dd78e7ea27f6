// The manager's desk: the calls that can be made, a call of the side in the
// field put together from several, and the dugout with its substitutions.
import { html, nothing } from "./lit-html.js";
import { t, say, ordinal, managerOf, clubStyle, remember } from "./app.js";

/** What a call of the side in the field is put together from: fields of its action, of each of which one value holds. */
const parts = /** @type {const} */ (["pitch", "infield", "outfield", "behind", "lines"]);
/** Of these there is but one besides the usual: it is on or off. */
const switches = /** @type {const} */ (["behind", "lines"]);

/** In what a call differs from the usual one. @param {Choice} c */
const part = (c) => parts.find((p) => p in c.action);

const percent = (/** @type {number} */ p) => `${Math.round(p * 100)}%`;
const small = (/** @type {string} */ text) => text.charAt(0).toLowerCase() + text.slice(1);

/** @typedef {{ player_id: string, slot: number, position: string }} Sub */

/** Who comes in by a change. @param {Choice} c @returns {Sub[]} */
const subsOf = (c) => /** @type {any} */ (c.action).subs ?? [];
/** Names a change as long as it is on offer. @param {Choice} c */
const keyOf = (c) => `${c.side ?? ""} ${JSON.stringify(subsOf(c))}`;

export class Desk {
  /** @param {import("./game.js").Table} table */
  constructor(table) {
    this.table = table;
    this.decision = 0; // for which parts are chosen
    /** @type {Set<string>} */ this.chosen = new Set(); // labels of parts
    this.change = ""; // keys of the change, and of the double switch that goes with it
    this.double = "";
    this.held = false; // a call was made from within the desk, and the focus belongs there
  }

  /** The decisions to make now: in hot seat those of one side at a time. */
  get calls() {
    const { legal } = this.table;
    return legal.filter((c) => c.side === legal[0]?.side && c.group === legal[0]?.group);
  }

  get idle() { return this.table.link === "live" && !this.table.sent.size; }

  /** @param {Choice} choice */
  choose(choice) {
    this.held = document.activeElement?.closest(".desk") !== null;
    this.table.choose(choice);
  }

  /** Where the focus was lost to a call that is made, it comes back with the next one. */
  refocus() {
    if (!this.held || !this.idle || !this.calls.length) return;
    this.held = false;
    if (document.activeElement === document.body) /** @type {HTMLElement | null} */ (document.querySelector(".calls button"))?.focus();
  }

  /** Makes the nth call by its key, or puts it into the one that is put together. @param {number} n */
  key(n) {
    const { calls } = this;
    const choice = calls[n - 1];
    if (!choice || !this.idle) return;
    if (choice.group !== "defence") this.choose(choice);
    else if (n === 1) this.choose(this.together(calls));
    else this.toggle(choice, !this.chosen.has(choice.label));
  }

  /** The parts that are chosen for the decision that is open. @param {Choice[]} calls */
  chosenOf(calls) {
    const decision = Number(calls[0]?.action.d);
    if (decision !== this.decision) [this.decision, this.chosen] = [decision, new Set()];
    return calls.filter((c) => this.chosen.has(c.label));
  }

  /** @param {Choice} choice @param {boolean} on */
  toggle(choice, on) {
    const { calls } = this;
    const kept = this.chosenOf(calls).filter((c) => part(c) !== part(choice) && c.odds && choice.odds); // what leaves nothing to chance stands alone
    this.chosen = new Set([...kept, ...(on && part(choice) ? [choice] : [])].map((c) => c.label));
    this.table.update();
  }

  /** The call of the side in the field as it is put together. @param {Choice[]} calls @returns {Choice} */
  together(calls) {
    const [first, ...rest] = this.chosenOf(calls);
    if (!rest.length) return first ?? calls[0];
    return {
      ...calls[0], odds: undefined, action: Object.assign({}, ...[calls[0], first, ...rest].map((c) => c.action)),
      label: [first.label, ...rest.map((c) => small(c.label))].join(", "),
    };
  }

  /** @param {Game} game */
  render(game) {
    const { table, calls } = this;
    if (!game.you) return html`<section class="leaf desk"><h2>${t("watch.title")}</h2><p>${this.waitingFor(game)}</p></section>`;
    const busy = table.sent.size > 0;
    const side = calls[0]?.side ?? (game.you === "both" ? undefined : /** @type {Side} */ (game.you));
    return html`<section class="leaf desk" aria-labelledby="desk-title" .style=${side ? clubStyle(game[side].team) : ""}>
      <div class="row spread"><h2 id="desk-title">${this.heading(game, calls)}</h2>${clock(table.left)}</div>
      ${table.refusal ? html`<p class="alert" role="alert">${table.refusal}</p>` : nothing}
      ${calls[0]?.group === "defence" ? this.compose(calls) : calls.length ? html`<ol class="calls">${calls.map((c, i) => html`<li>${this.button(c, i)}</li>`)}</ol>`
        : html`<p>${busy ? nothing : this.waitingFor(game)}</p>`}
      ${busy ? html`<p class="chip" role="status">${t("call.sent", { label: [...table.sent.values()].join(", ") })}</p>` : nothing}
      ${this.dugout(game)}
    </section>`;
  }

  /** @param {Game} game @param {Choice[]} calls */
  heading(game, calls) {
    const { state } = this.table;
    if (!calls.length) return state?.paused ? t("call.paused") : t("call.in");
    const club = calls[0].side ? game[calls[0].side].team.name : "";
    if (calls[0].group === "answer" && state?.question) return state.question.text;
    const words = say("call", calls[0].group, t("call.now"));
    return club ? `${club}: ${words}` : words;
  }

  /** @param {Game} game */
  waitingFor(game) {
    const waiting = this.table.state?.waiting ?? [];
    return waiting.length ? t("call.waiting", { who: waiting.map((s) => `${game[s].team.abbrev} (${managerOf(game[s])})`).join(", ") }) : t("call.nobody");
  }

  /** @param {Choice} c @param {number} i */
  button(c, i) {
    return html`<button class=${i ? "call" : "call primary"} ?disabled=${!this.idle} @click=${() => this.choose(c)}>
      <span class="call-label">${this.hint(i)}${c.label}</span>${odds(c)}</button>`;
  }

  /** The key of the nth call, for eyes. @param {number} i */
  hint(i) { return this.table.keys && i < 9 ? html`<kbd aria-hidden="true">${i + 1}</kbd> ` : nothing; }

  /** The call of the side in the field: the usual one, or what differs from it, in as many things as one likes. @param {Choice[]} calls */
  compose(calls) {
    const chosen = this.chosenOf(calls), call = this.together(calls);
    const alone = chosen.find((c) => !c.odds);
    /** @param {"pitch" | "infield" | "outfield"} name */
    const group = (name) => {
      const ways = calls.filter((c) => part(c) === name);
      if (!ways.length) return nothing;
      const way = chosen.find((c) => part(c) === name);
      return html`<fieldset><legend>${t(`call.${name}`)}</legend>
        ${this.pick("radio", name, calls[0], t(`call.${name}.usual`), !way, nothing, () => this.toggle(ways[0], false), alone && name !== "pitch")}
        ${ways.map((c) => this.pick("radio", name, c, c.label, c === way, this.hint(calls.indexOf(c)), () => this.toggle(c, true), alone && name !== "pitch"))}</fieldset>`;
    };
    const also = calls.filter((c) => switches.some((s) => s === part(c)));
    return html`<form class="calls together" @submit=${(/** @type {SubmitEvent} */ e) => {
      e.preventDefault();
      if (this.idle) this.choose(this.together(this.calls));
    }}>
      <button class="call primary" ?disabled=${!this.idle}><span class="call-label">${this.hint(0)}${call.label}</span>${chosen.length > 1
        ? html`<span class="odds"><small>${chosen.map((c) => `${c.label} ${percent(c.odds?.success ?? 0)}`).join(" · ")}</small></span>` : odds(call)}</button>
      ${group("pitch")}${group("infield")}${group("outfield")}
      ${also.length ? html`<fieldset><legend>${t("call.also")}</legend>${also.map((c) => this.pick("checkbox", String(part(c)), c, c.label, chosen.includes(c), this.hint(calls.indexOf(c)),
        (/** @type {any} */ e) => this.toggle(c, e.target.checked), alone))}</fieldset>` : nothing}
      <p class="hint">${t("call.together", { what: calls[0].success ?? "" })}</p></form>`;
  }

  /**
   * @param {"radio" | "checkbox"} type @param {string} name @param {Choice} c @param {string} label @param {boolean} on
   * @param {unknown} hint @param {(e: Event) => void} change @param {unknown} off whether it cannot be chosen
   */
  pick(type, name, c, label, on, hint, change, off) {
    return html`<label class="pick"><input type=${type} name=${name} .checked=${on} ?disabled=${!this.idle || Boolean(off)} @change=${change}>
      <span>${hint}${label}</span>${c.odds?.success === undefined ? nothing : html`<small>${percent(c.odds.success)}</small>`}</label>`;
  }

  /** Everything that may be done besides. @param {Game} game */
  dugout(game) {
    const { offers } = this.table;
    if (!offers.length) return nothing;
    const ask = (/** @type {Choice} */ c) => {
      if (c.action.a === "concede" && !confirm(t("dugout.sure", { label: c.label }))) return;
      this.choose(c);
    };
    return html`<details class="dugout"><summary>${t("dugout.title")}</summary>
      ${this.changes(game, offers.filter((c) => c.group === "substitution"))}
      <p class="row">${offers.filter((c) => c.group !== "substitution").map((c) => html`<button type="button" class=${c.action.a === "concede" ? "danger" : nothing} ?disabled=${!this.idle} @click=${() => ask(c)}>${c.label}</button>`)}</p>
      <label class="check"><input type="checkbox" .checked=${this.table.keys} @change=${(/** @type {any} */ e) => { this.table.keys = e.target.checked; remember("keys", e.target.checked ? "on" : "off"); this.table.update(); }}> ${t("dugout.keys")}</label>
    </details>`;
  }

  /** Who comes in; of a new pitcher also who comes in with him, so that the two trade places in the order. @param {Game} game @param {Choice[]} all */
  changes(game, all) {
    const singles = all.filter((c) => subsOf(c).length === 1);
    if (!singles.length) return nothing;
    const change = singles.find((c) => keyOf(c) === this.change) ?? singles[0];
    const [pitcher] = subsOf(change);
    const doubles = pitcher.position === "P" ? all.filter((c) => c.side === change.side && subsOf(c).length === 2 && subsOf(c)[1].player_id !== pitcher.player_id) : [];
    const double = doubles.find((c) => keyOf(c) === this.double);
    /** @type {Map<string, Choice[]>} */ const kinds = new Map();
    for (const c of singles) {
      const kind = ["PH", "PR", "P"].includes(subsOf(c)[0].position) ? subsOf(c)[0].position : "field";
      kinds.set(kind, [...(kinds.get(kind) ?? []), c]);
    }
    const pick = (/** @type {"change" | "double"} */ which) => (/** @type {any} */ e) => { this[which] = e.target.value; this.table.update(); };
    return html`<form class="changes" @submit=${(/** @type {SubmitEvent} */ e) => {
      e.preventDefault();
      this.choose(double ? this.switched(change, double) : change);
    }}><label for="sub">${t("dugout.subs")}</label><select id="sub" @change=${pick("change")}>
        ${[...kinds].map(([kind, list]) => html`<optgroup label=${say("dugout", kind)}>${list.map((c) => html`<option value=${keyOf(c)} .selected=${c === change}>${c.side ? `${game[c.side].team.abbrev}: ` : ""}${c.label}</option>`)}</optgroup>`)}
        </select>
      ${doubles.length ? html`<label for="double">${t("dugout.double")}</label><select id="double" @change=${pick("double")} aria-describedby="double-hint">
        <option value="" .selected=${!double}>${t("dugout.single", { n: ordinal(pitcher.slot) })}</option>
        ${doubles.map((c) => html`<option value=${keyOf(c)} .selected=${c === double}>${this.doubleWords(c)}</option>`)}</select>
        <p id="double-hint" class="hint">${t("dugout.double.hint")}</p>` : nothing}
      <button ?disabled=${!this.idle}>${t("dugout.change")}</button></form>`;
  }

  /** A double switch in words. @param {Choice} c */
  doubleWords(c) {
    const { book, state } = this.table;
    const [pitcher, fielder] = subsOf(c);
    const order = state?.teams[c.side ? Number(c.side === "home") : Number(this.table.game?.you === "home")].order;
    return t("dugout.switch", {
      fielder: book?.name(fielder.player_id) ?? "", position: fielder.position, his: ordinal(fielder.slot),
      out: book?.name(order?.[pitcher.slot - 1].player_id) ?? "", pitchers: ordinal(pitcher.slot),
    });
  }

  /** A double switch with the pitcher of another change. @param {Choice} change @param {Choice} double @returns {Choice} */
  switched(change, double) {
    const [pitcher, fielder] = subsOf(double);
    return {
      ...double, label: `${change.label}; ${this.doubleWords(double)}`,
      action: { ...double.action, subs: [{ ...pitcher, player_id: subsOf(change)[0].player_id }, fielder] },
    };
  }
}

/** @param {number | null} left seconds */
const clock = (left) => (left === null ? nothing
  : html`<span class=${left <= 10 ? "clock short" : "clock"} role="timer">${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}</span>`);

/** What is likely to come of a call. @param {Choice} c */
function odds(c) {
  const o = c.odds;
  if (!o || o.success === undefined) return nothing;
  const rest = ["hit", "walk", "strikeout", "home_run"].filter((k) => o[k] !== undefined);
  return html`<span class="odds"><meter min="0" max="1" value=${o.success} aria-hidden="true"></meter><span><b>${percent(o.success)}</b> ${c.success ?? ""}</span>
    ${rest.length ? html`<small>${rest.map((k) => `${say("odds", k)} ${percent(o[k])}`).join(" · ")}</small>` : nothing}</span>`;
}
