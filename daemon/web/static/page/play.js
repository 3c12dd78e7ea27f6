// The decisions that a manager can make now.
import { html, nothing } from "./lit-html.js";
import { changeName } from "./board.js";
import {
  t, label, formatTime, language, managerOf, clubStyle, percent, loading, problemOf, store, stored, valued, submitted,
} from "./ui.js";
export * from "./play.live.js";

/** @typedef {import("./play.live.js").Link} Link */

/** The parts of a defensive call: fields of its action, each with at most one value. */
const parts = /** @type {const} */ (["pitch", "infield", "outfield", "behind", "lines"]);
/** The parts that are either on or off. */
const switches = /** @type {const} */ (["behind", "lines"]);

/** Returns the part that a call sets, if it is not the usual call. @param {Choice} c */
const partOf = (c) => parts.find((p) => p in c.action);

/** @param {Choice} c @returns {import("./board.js").Sub[]} */
export const subsOf = (c) => /** @type {any} */ (c.action).subs ?? [];

/**
 * Returns the glossary's term for a part of a defensive call: "infield.in".
 * @param {Choice} c
 * @param {typeof parts[number]} part
 */
const partTerm = (c, part) =>
  part === "pitch"
    ? String(c.action.pitch)
    : part === "infield" || part === "outfield"
      ? `${part}.${c.action[part]}`
      : part;

/**
 * Returns the glossary's term for a choice, by its action: "squeeze", "infield.in"; "" if it has none.
 * @param {Choice} c
 */
function termOf(c) {
  const { action } = c;
  const part = partOf(c);
  if (action.a === "offense") return String(action.call);
  if (action.a === "answer") return action.bold ? "bold" : "safe";
  if (action.a !== "defense") return "";
  return part ? partTerm(c, part) : "pitch_to";
}

/**
 * Returns the name of a choice; the server's label if its action is not known here.
 * @param {Choice} c
 * @param {Match} match
 */
export function nameOf(c, match) {
  const { action } = c;
  const { game, state, book } = match;
  /** @param {unknown} side */
  const club = (side) => game?.[side === "home" ? "home" : "away"].team.name ?? "";
  switch (action.a) {
    case "offense":
      return label("name", termOf(c), c.label);
    case "defense":
      return defenseName(c);
    case "answer":
      return label(`answer.${action.bold ? "bold" : "safe"}`, state?.question?.kind, c.label);
    case "substitute":
      return changeName(subsOf(c), book, teamOf(c, match));
    case "takeover":
      return t(!action.on ? "offer.takeback" : action.side === game?.you ? "offer.leave" : "offer.replace", {
        club: club(action.side),
      });
    case "skip_until":
      return action.until ? `${t("skip.until")} ${label("skip.until", String(action.until))}` : t("skip.off");
    case "end":
    case "claim":
      return t(`offer.${action.a}`, { club: club(game?.you === "home" ? "away" : "home") });
    case "concede":
      return t(c.side ? "offer.concedefor" : "offer.concede", { club: club(c.side) });
    default:
      return label("offer", String(action.a), c.label);
  }
}

/**
 * Returns the text of a question, after the ball: its place begins with the position of the nearest fielder.
 * @param {Question} question
 */
export function questionText({ kind, ball, text }) {
  const place = /^[1-9]/.exec(ball?.place ?? "")?.[0];
  const hit =
    ball?.contact && place
      ? t("question.ball", { contact: label("contact", ball.contact), to: label("to", place) })
      : "";
  return [hit, label("question", kind, text)].filter(Boolean).join(" ");
}

/** @param {Choice} c @param {Match} match */
export const teamOf = (c, { game, state }) => state?.teams?.[Number((c.side ?? game?.you) === "home")];

/** Returns the name of a defensive call: its parts. @param {Choice} c */
function defenseName(c) {
  const [first = "pitch_to", ...rest] = parts.filter((p) => p in c.action).map((p) => partTerm(c, p));
  return [label("name", first), ...rest.map((term) => t("call.part", { name: label("name", term) }))].join(", ");
}

/**
 * Renders what a choice does: visible where there is room, or on request, and always read out.
 * @param {Choice} c
 * @param {string} id
 */
const explain = (c, id) => html`<small class="does" id=${id}>${label("does", termOf(c), "")}</small>`;

const signed = new Intl.NumberFormat(language, {
  signDisplay: "exceptZero",
  minimumFractionDigits: 3,
  maximumFractionDigits: 3,
});
const least = 0.003; // runs that are worth a number
const toTenths = new Intl.NumberFormat(language, {
  style: "percent",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
/** Returns the runs that a choice gains over the usual one, in words. @param {Choice} c @param {Choice} [usual] */
export const gain = (c, usual) =>
  c.runs === undefined
    ? ""
    : c === usual
      ? t("worth.usual")
      : Math.abs(c.runs) < least
        ? t("worth.same")
        : t("worth.runs", { n: signed.format(c.runs) });
/**
 * Returns the runs that a part of a call gains, as a number beside its name.
 * @param {Choice} c
 * @param {Choice} usual
 */
const points = (c, usual) =>
  c.runs === undefined || c === usual ? "" : Math.abs(c.runs) < least ? "≈ 0" : signed.format(c.runs);
/** @param {Choice} c */
const coach = (c) => (c.coach ? html` <b class="coach">${t("term.coach")}</b>` : nothing);
/**
 * Renders the worth of a choice, and its odds in words: they are about different events, and are no measure of it.
 * @param {Choice} c
 * @param {Choice} usual
 */
function worth(c, usual) {
  const odds = c.odds?.success === undefined ? "" : `${percent(c.odds.success)} ${label("success", c.success)}`;
  return html`<span class="worth">
    ${c.runs === undefined
      ? nothing
      : html`<span>
          <b>${gain(c, usual)}</b>
          <span class="dot"> · </span>
          ${t("worth.win", { p: toTenths.format(c.win_probability ?? 0) })}${coach(c)}
        </span>`}
    ${odds ? html`<small>${odds}</small>` : nothing}
  </span>`;
}
/**
 * What the panel needs of the game's view.
 * @typedef {object} Match
 * @property {Link} link
 * @property {Game | null} game
 * @property {import("./board.js").Scorebook | null} book
 * @property {State | null} state
 * @property {Presence} presence
 * @property {Choice[]} legal
 * @property {Choice[]} offers
 * @property {Map<string, string>} sent names of commands without an event
 * @property {string} error of the last command, or ""
 * @property {boolean} keys whether keys make calls
 * @property {number | null} left seconds on the clock
 * @property {(choice: Choice, name: string) => void} choose
 * @property {() => Promise<void>} update
 */

export class Decisions {
  /** @param {Match} match @param {() => Promise<{ render: (game: Game) => unknown }>} loadDugout */
  constructor(match, loadDugout) {
    this.match = match;
    this.loadDugout = loadDugout;
    this.decision = 0; // number of the decision that this.chosen belongs to
    /** @type {Set<string>} */ this.chosen = new Set(); // labels of parts
    // every call has its explanation, on a small screen as well: at first in the first inning against the bot
    this.explained = match.game?.options.opponent === "bot" && stored("explained", "") === "";
    this.learning = this.explained;
    this.opened = false; // the dugout
    /** @type {{ render: (game: Game) => unknown } | null} */ this.dugout = null; // until it was opened
    this.hadFocus = false; // the panel had the focus when it was drawn last
  }

  /** The calls of the open decision. With a hot seat, those of one side at a time. */
  get calls() {
    const { legal } = this.match;
    return legal.filter((c) => c.side === legal[0]?.side && c.group === legal[0]?.group);
  }

  get idle() {
    return this.match.link === "live" && !this.match.sent.size;
  }

  /** @param {Choice} choice */
  choose(choice) {
    this.match.choose(choice, nameOf(choice, this.match));
  }

  /** Moves the focus back to the calls if drawing took it away; to the heading while there are none. */
  refocus() {
    if (!this.hadFocus) return;
    const active = document.activeElement;
    const waiting = active?.matches(".panel h2, .final h2") ?? false;
    if (active && active !== document.body && !active.matches(":disabled") && !waiting) return;
    /** @type {HTMLElement | null} */ const to =
      document.querySelector(".calls button:not(:disabled)") ?? document.querySelector(".panel h2, .final h2");
    if (to && to !== active) to.focus({ preventScroll: waiting });
  }

  /** Makes the nth call at once; in the field, together with the chosen parts. @param {number} n */
  key(n) {
    const { calls } = this;
    const choice = calls[n - 1];
    if (!choice || !this.idle) return;
    if (choice.group !== "defense") return this.choose(choice);
    if (n > 1 && !this.chosen.has(choice.label)) this.toggle(choice, true);
    this.choose(this.combined(calls));
  }

  /** Returns the parts that are chosen for the open decision. @param {Choice[]} calls */
  chosenOf(calls) {
    const decision = Number(calls[0]?.action.d);
    if (decision !== this.decision) [this.decision, this.chosen] = [decision, new Set()];
    return calls.filter((c) => this.chosen.has(c.label));
  }

  /** @param {Choice} choice @param {boolean} on */
  toggle(choice, on) {
    const { calls } = this;
    // a call without odds cannot be combined
    const others = this.chosenOf(calls).filter((c) => partOf(c) !== partOf(choice) && c.odds && choice.odds);
    this.chosen = new Set([...others, ...(on && partOf(choice) ? [choice] : [])].map((c) => c.label));
    if (!choice.odds)
      document.querySelectorAll(".combine :checked:not([type=radio])").forEach((box) => {
        /** @type {any} */ (box).checked = false;
      }); // drawing would leave a box that was checked since the last one
    this.match.update();
  }

  /** @param {Choice[]} calls @returns {Choice} */
  combined(calls) {
    const [first, ...rest] = this.chosenOf(calls);
    if (!rest.length) return first ?? calls[0];
    return {
      ...calls[0],
      odds: undefined,
      action: Object.assign({}, ...[calls[0], first, ...rest].map((c) => c.action)),
      coach: false,
    };
  }

  /** @param {Game} game */
  render(game) {
    const { match, calls } = this;
    if (!game.you)
      return html`<section class="leaf panel">
        <div class="row spread">
          <h2>${t("watch.title")}</h2>
          ${clock(match.left)}
        </div>
        <p>${this.waitingFor(game)}</p>
      </section>`;
    this.hadFocus = Boolean(document.activeElement?.closest(".panel"));
    if (this.learning && (match.state?.inning ?? 0) > 1) this.learned();
    const busy = match.sent.size > 0;
    const side = calls[0]?.side ?? (game.you === "both" ? undefined : /** @type {Side} */ (game.you));
    return html`<section
      class=${this.explained ? "leaf panel explained" : "leaf panel"}
      aria-labelledby="decisions-title"
      .style=${side ? clubStyle(game[side].team) : ""}
    >
      <div class="row spread">
        <h2 id="decisions-title" tabindex="-1">${this.heading(game, calls)}</h2>
        ${calls.length
          ? html`<button
              type="button"
              class="what"
              aria-pressed=${this.explained}
              aria-label=${t("help.what")}
              @click=${() => {
                const { explained } = this;
                this.learned();
                this.explained = !explained;
                match.update();
              }}
            >
              <span class="roomy">${t("help.what")}</span><span class="tight" aria-hidden="true">?</span>
            </button>`
          : nothing}${this.playOn()}${clock(match.left)}
      </div>
      ${match.error ? html`<p class="alert" role="alert">${match.error}</p>` : nothing}
      ${calls[0]?.group === "defense"
        ? this.compose(calls)
        : calls.length
          ? html`<ol class="calls">
              ${calls.map((c, i) => html`<li>${this.button(c, i)}${explain(c, `does-${i}`)}</li>`)}
            </ol>`
          : html`<p class="waiting">${busy ? nothing : this.waitingFor(game)}</p>
              ${this.resume()}`}
      ${this.theirs(game)}
      ${this.explained && calls.length
        ? html`<p><button type="button" data-help aria-keyshortcuts="?">${t("help.title")}</button></p>`
        : nothing}
      ${busy
        ? html`<p class="chip" role="status">${t("call.sent", { label: [...match.sent.values()].join(", ") })}</p>`
        : nothing}
      ${this.renderOffers(game)}
    </section>`;
  }

  /** Ends the explanations of a first game, in this browser for good. */
  learned() {
    if (this.learning) store("explained", "off");
    this.explained = this.learning = false;
  }

  /** The button that leaves this turn and the next ones to the usual calls, until one matters. */
  playOn() {
    const skip = this.match.offers.find((c) => c.action.until);
    if (!skip || !this.calls.length) return nothing;
    const until = () => stored("until", String(skip.action.until));
    const margin = () => Number(stored("margin", String(skip.action.margin)));
    return html`<button
      type="button"
      class="what"
      data-help="skip"
      title=${label("skip.until", until())}
      ?disabled=${!this.idle}
      @click=${() => this.choose({ ...skip, action: { ...skip.action, until: until(), margin: margin() } })}
    >
      ${t("skip.on")}
    </button>`;
  }

  /** @param {Game} game @param {Choice[]} calls */
  heading(game, calls) {
    const { state } = this.match;
    if (!calls.length) return state?.paused ? t("call.paused") : t("call.in");
    const club = calls[0].side && game[calls[0].side].team;
    if (calls[0].group === "answer" && state?.question) return questionText(state.question);
    const text = label("call", calls[0].group, t("call.now"));
    return club
      ? html`${text}: <span class="roomy">${club.name}</span><span class="tight">${club.abbrev}</span>`
      : text;
  }

  /** While the game is paused, the way to resume it. */
  resume() {
    const resume = this.match.offers.find((c) => c.action.a === "resume");
    return resume
      ? html`<p>
          <button class="primary" ?disabled=${!this.idle} @click=${() => this.choose(resume)}>
            ${nameOf(resume, this.match)}
          </button>
        </p>`
      : nothing;
  }

  /** Shows that the other manager has called, but not what. @param {Game} game */
  theirs(game) {
    const other = game.you === "home" ? "away" : "home";
    return game.you !== "both" && this.match.presence[other]?.decided
      ? html`<p class="chip" role="status">${t("call.theirs", { manager: managerOf(game[other]) })}</p>`
      : nothing;
  }

  /** @param {Game} game */
  waitingFor(game) {
    const { paused, waiting = [] } = this.match.state ?? {};
    if (paused)
      return t("call.pausedby", {
        manager: managerOf(game[paused.by === "home" ? "home" : "away"]),
        at: formatTime(paused.since),
      });
    if (!waiting) return t("call.none");
    return waiting.length
      ? t("call.waiting", { managers: waiting.map((s) => `${game[s].team.abbrev} (${managerOf(game[s])})`).join(", ") })
      : t("call.none");
  }

  /** @param {Choice} c @param {number} i */
  button(c, i) {
    return html`<button
      class=${i ? "call" : "call primary"}
      data-help=${termOf(c)}
      aria-describedby=${`does-${i}`}
      ?disabled=${!this.idle}
      @click=${() => this.choose(c)}
    >
      <span class="call-label">${this.hint(i)}${nameOf(c, this.match)}</span>${worth(c, this.calls[0])}
    </button>`;
  }

  /** Shows the key of the nth call. @param {number} i */
  hint(i) {
    return this.match.keys && i < 9 ? html`<kbd aria-hidden="true">${i + 1}</kbd> ` : nothing;
  }

  /** Renders the form for a combined call: the usual call, changed in any of its parts. @param {Choice[]} calls */
  compose(calls) {
    const chosen = this.chosenOf(calls);
    const call = this.combined(calls);
    const exclusive = chosen.find((c) => !c.odds);
    /** @param {"pitch" | "infield" | "outfield"} name */
    const group = (name) => {
      const ways = calls.filter((c) => partOf(c) === name);
      if (!ways.length) return nothing;
      const way = chosen.find((c) => partOf(c) === name);
      return html`<fieldset>
        <legend>${t(`call.${name}`)}</legend>
        ${this.pick(
          "radio",
          name,
          `usual-${name}`,
          calls[0],
          t(`call.${name}.usual`),
          !way,
          nothing,
          () => this.toggle(ways[0], false),
          exclusive && name !== "pitch",
        )}
        ${ways.map((c) =>
          this.pick(
            "radio",
            name,
            termOf(c),
            c,
            label("part", termOf(c), nameOf(c, this.match)),
            c === way,
            this.hint(calls.indexOf(c)),
            () => this.toggle(c, true),
            exclusive && name !== "pitch",
          ),
        )}
      </fieldset>`;
    };
    const also = calls.filter((c) => switches.some((s) => s === partOf(c)));
    return html`<form
      class="calls combine"
      @submit=${submitted(() => this.idle && this.choose(this.combined(this.calls)))}
    >
      <button class="call primary" data-help=${termOf(call)} ?disabled=${!this.idle}>
        <span class="call-label">${this.hint(0)}${nameOf(call, this.match)}</span>${chosen.length > 1
          ? html`<span class="worth">
              <small>${chosen.map((c) => `${nameOf(c, this.match)} ${gain(c)}`).join(" · ")}</small>
            </span>`
          : worth(call, calls[0])}
      </button>
      ${group("pitch")}${group("infield")}${group("outfield")}
      ${also.length
        ? html`<fieldset>
            <legend>${t("call.also")}</legend>
            ${also.map((c) =>
              this.pick(
                "checkbox",
                String(partOf(c)),
                termOf(c),
                c,
                nameOf(c, this.match),
                chosen.includes(c),
                this.hint(calls.indexOf(c)),
                valued((_, { checked }) => this.toggle(c, checked)),
                exclusive,
              ),
            )}
          </fieldset>`
        : nothing}
      <p class="hint">${t("call.together")}</p>
    </form>`;
  }

  /**
   * @param {"radio" | "checkbox"} type
   * @param {string} name
   * @param {string} id
   * @param {Choice} c
   * @param {string} text
   * @param {boolean} on
   * @param {unknown} hint @param {(e: Event) => void} change @param {unknown} disabled
   */
  pick(type, name, id, c, text, on, hint, change, disabled) {
    return html`<label class="pick" data-help=${termOf(c)}>
      <input
        type=${type}
        name=${name}
        aria-describedby=${`does-${id}`}
        .checked=${on}
        ?disabled=${!this.idle || Boolean(disabled)}
        @change=${change}
      />
      <span>${hint}${text}</span><small>${points(c, this.calls[0])}</small>${coach(c)}${explain(c, `does-${id}`)}
    </label>`;
  }

  /**
   * Renders the dugout: what a manager can do besides the decision. It is long, and loaded once it is opened.
   * @param {Game} game
   */
  renderOffers(game) {
    if (!this.match.offers.length) return nothing;
    return html`<details
      class="offers"
      ?open=${this.opened}
      @toggle=${valued((_, { open }) => this.toggleDugout(open))}
    >
      <summary>${t("dugout.title")}</summary>
      ${!this.opened ? nothing : this.dugout ? this.dugout.render(game) : loading()}
    </details>`;
  }

  /** @param {boolean} opened */
  async toggleDugout(opened) {
    this.opened = opened;
    void this.match.update();
    if (!opened || this.dugout) return;
    try {
      this.dugout = await this.loadDugout();
    } catch (err) {
      this.match.error = problemOf(err).message;
    }
    void this.match.update();
  }
}

/** @param {number | null} left seconds */
const clock = (left) =>
  left === null
    ? nothing
    : html`<span class=${left <= 10 ? "clock short" : "clock"} role="timer">
        ${left < 3600
          ? `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`
          : t("clock.long", { h: Math.floor(left / 3600), m: Math.floor((left % 3600) / 60) })}
      </span>`;
