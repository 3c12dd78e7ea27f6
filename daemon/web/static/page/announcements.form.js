// The form that creates announcements, schedules and favorites.
import { html, nothing } from "./lit-html.js";
import { reason, ended } from "./announcements.shared.js";
import {
  t, label, api, when, timeZone, weekdays, dayName, cronOf, alertBox, sentence, Problem, requests, readOut, store,
  stored, wrongOf, valued, submitted,
} from "./ui.js";

const minRate = 60;
const maxRate = 400;
const maxLength = 5000;
const maxTitle = 250;
const maxName = 100;
const minute = 60; // seconds

/** @typedef {import("./announcements.shared.js").Shared} Shared */
/** @typedef {import("./announcements.shared.js").Voices} Voices */

/**
 * The repetitions that the form offers, as times × seconds.
 * @type {Record<string, { times: number, every: number }>}
 */
const repeats = {
  "5x60": { times: 5, every: 60 },
  "6x300": { times: 6, every: 300 },
  "8x900": { times: 8, every: 900 },
};
/** The fields that show their violations. The first has two names. */
const fields = [
  "message", "input", "voice", "rate", "at", "in", "cron", "title", "priority", "volume", "ttl", "sound", "chime",
  "repeat", "room",
];

/** Returns the fields that are reset after sending; "" is a field's default. @param {string} when */
const blank = (when) => ({
  message: "", title: "", urgent: false, priority: "", volume: "", ttl: "", room: new Set(),
  sound: "", chime: "", repeat: "", times: "3", every: "10", when, at: "", in: "10",
});

/**
 * @param {Shared} shared
 * @param {{
 *   voices: Voices,
 *   speaker: ReturnType<typeof import("./announcements.loudspeaker.js").loudspeaker>,
 *   air: ReturnType<typeof import("./announcements.onair.js").onAir>,
 *   favorites: ReturnType<typeof import("./announcements.plans.js").favoriteList>,
 *   plans: ReturnType<typeof import("./announcements.plans.js").schedules>,
 *   planning: boolean,
 * }} page
 */
export function form(shared, { voices, speaker, air, favorites, plans, planning }) {
  const usual = planning ? "weekly" : "now";
  const { update } = shared;
  const requested = requests(update);
  /** @type {import("./speech.js").Player | null} */ let listener = null;
  let sending = false;
  let confirmation = "";
  let confirmed = "";
  let shown = ""; // the message in words, on request
  const draft = {
    ...blank(usual),
    voice: stored("voice", ""),
    rate: Number(stored("rate", "170")),
    time: "07:00",
    days: new Set(weekdays.slice(0, 5)),
  };
  // Once the other options are open:
  /** @type {string[]} */ let rooms = [];
  /** @type {string[]} */ let sounds = [];
  const spoken = () => ({ message: draft.message, voice: draft.voice || undefined });
  /** Returns the fields that differ from their defaults; JSON leaves out what is undefined. @returns {Content} */
  const content = () => ({
    ...spoken(),
    title: draft.title || undefined,
    rate: draft.rate,
    urgent: draft.urgent || undefined,
    priority: Number(draft.priority) || undefined,
    volume: Number(draft.volume) || undefined,
    sound: draft.sound || undefined,
    chime: draft.chime || undefined,
    ttl: Number(draft.ttl) * minute || undefined,
    repeat: draft.repeat === "own" ? own() : repeats[draft.repeat],
    room: draft.room.size ? [...draft.room] : undefined,
  });
  const own = () => ({ times: Number(draft.times), every: Number(draft.every) * minute });
  /** Returns when it is spoken, if not now. */
  const later = () => ({
    at: draft.when === "at" ? new Date(draft.at).toISOString() : undefined,
    in: draft.when === "in" ? Number(draft.in) * minute : undefined,
  });

  /** @param {string} path @param {unknown} [body] */
  const send = (path, body) =>
    requested.run(async () => {
      const a = air.answer(await api("POST", path, body));
      confirmed = a.id;
      confirmation = ended.includes(a.status)
        ? `${label("status", a.status)}.`
        : a.speaks_at
          ? t("say.scheduled", { when: when(a.speaks_at) })
          : t("say.accepted");
      readOut(confirmation);
      return a;
    });
  const schedule = () =>
    requested.run(async () => {
      if (!draft.days.size)
        throw new Problem(422, {
          code: "page",
          detail: t("say.nodays"),
          errors: [{ path: "/cron", code: "page", detail: t("say.nodays") }],
        });
      const s = await plans.create({
        name: [...(draft.message.trim() || draft.sound)].slice(0, maxName).join(""),
        cron: cronOf(draft.days, draft.time),
        time_zone: timeZone,
        enabled: true,
        ...content(),
      });
      [confirmation, confirmed] = [t("say.scheduled", { when: s.next_at ? when(s.next_at) : "" }), ""];
      readOut(confirmation);
      return s;
    });
  const submit = submitted(async () => {
    if (sending) return;
    [sending, confirmation] = [true, ""];
    await update(); // renders what was typed last, so that emptying the field is a change
    const accepted = await (draft.when === "weekly" ? schedule() : send("/api/notify", { ...content(), ...later() }));
    sending = false;
    if (accepted) {
      Object.assign(draft, blank(usual));
      shown = "";
      store("voice", draft.voice);
      store("rate", String(draft.rate));
    }
    await update();
    document.getElementById("message")?.focus();
  });
  const listen = async () => {
    listener ??= (await import("./speech.js")).newPlayer(update, requested.run);
    await listener.toggle(spoken(), draft.rate);
  };
  const show = () =>
    requested.run(async () => {
      shown = "";
      shown = (await api("POST", "/api/speakable", spoken())).text;
      readOut(shown);
    });
  const save = async () => {
    if (await favorites.add(content())) readOut((confirmation = t("favorites.saved")));
    update();
  };

  /** @param {string} field */
  const wrong = (field) =>
    requested.problem?.errors.filter(({ path }) =>
      [field, field === "message" ? "input" : field].includes(path.split("/")[1]),
    ) ?? [];
  /** @param {string} field */
  const violations = (field) => {
    if (!wrong(field).length) return nothing;
    const what = wrong(field).map(wrongOf).join("; ");
    const words = t(/** @type {any} */ (`say.wrong.${field}`), { what });
    return html`<span class="wrong" id=${`wrong-${field}`} role="alert">${sentence(words)}</span>`;
  };
  /** @param {string} field */
  const invalid = (field) => (wrong(field).length ? "true" : nothing);
  const elsewhere = () =>
    requested.problem?.errors.length && requested.problem.errors.every((v) => fields.includes(v.path.split("/")[1]))
      ? nothing
      : alertBox(requested.problem);
  /**
   * Returns a listener that stores a field's value.
   * @param {Exclude<keyof typeof draft, "urgent" | "room" | "days">} name
   */
  const set = (name) =>
    valued((value) => {
      /** @type {any} */ (draft)[name] = name === "rate" ? Number(value) : value;
      if (name === "message") confirmation = shown = "";
      update();
    });
  /**
   * Renders a number, which is optional unless it is required.
   * @param {"volume" | "ttl" | "times" | "every" | "in"} name
   * @param {number} min
   * @param {number} max
   * @param {boolean} [required]
   */
  const amount = (name, min, max, required = false) =>
    html`<div>
      <label for=${`field-${name}`}>${t(`say.${name}`)}</label>
      <input
        id=${`field-${name}`}
        name=${name}
        type="number"
        min=${min}
        max=${max}
        ?required=${required}
        placeholder=${required ? nothing : t("say.chime.default")}
        aria-invalid=${invalid(name)}
        .value=${draft[name]}
        @input=${set(name)}
      />${violations(name)}
    </div>`;
  /** @param {"sound" | "chime" | "repeat" | "priority"} name @param {string[]} values */
  const select = (name, values) =>
    html`<div>
      <label for=${name}>${t(`say.${name}`)}</label>
      <select id=${name} name=${name} .value=${draft[name]} @change=${set(name)}>
        ${["", ...values].map(
          (v) =>
            html`<option value=${v} ?selected=${draft[name] === v}>
              ${label(`say.${name}`, v || "default", label("say.chime", v))}
            </option>`,
        )}
      </select>
      ${violations(name)}
    </div>`;
  /** @template T @param {Set<T>} of @param {T} value */
  const toggle = (of, value) => {
    if (!of.delete(value)) of.add(value);
    update();
  };
  /** Loads the rooms and the sounds once the other options are opened. @param {Event} e */
  const open = async (e) => {
    if (!(/** @type {HTMLDetailsElement} */ (e.target).open) || rooms.length) return;
    await requested.run(async () => {
      const list = /** @type {Api["Room"][]} */ ((await api("GET", "/api/rooms")).rooms);
      rooms = [...list.map((r) => r.name), "all"];
      sounds = /** @type {Api["Sound"][]} */ ((await api("GET", "/api/sounds")).sounds).map((s) => s.name);
    });
    update();
  };
  const roomChoice = () =>
    html`<fieldset class="picks">
        <legend>${t("admin.part.rooms")}</legend>
        ${rooms.map(
          (name) =>
            html`<label class="pick">
              <input
                type="checkbox"
                name="room"
                value=${name}
                .checked=${draft.room.has(name)}
                @change=${() => toggle(draft.room, name)}
              />${name === "all" ? t("say.room.all") : name}
            </label>`,
        )}
      </fieldset>
      ${violations("room")}`;
  const more = () =>
    html`<details class="fine" id="more" @toggle=${open}>
      <summary>${t("say.more")}</summary>
      <label for="field-title">${t("say.heading")}</label>
      <input
        id="field-title"
        name="title"
        maxlength=${maxTitle}
        aria-invalid=${invalid("title")}
        .value=${draft.title}
        @input=${set("title")}
      />${violations("title")}
      <div class="two">
        ${select("chime", ["none", ...sounds])} ${select("sound", sounds)}
        ${select("priority", ["1", "2", "3", "4", "5"])}
        ${amount("volume", 1, 100)} ${amount("ttl", 1, 1440)}
        ${select("repeat", [...Object.keys(repeats), "own"])}
        ${draft.repeat === "own" ? html`${amount("times", 2, 10, true)} ${amount("every", 1, 60, true)}` : nothing}
      </div>
      ${roomChoice()}
    </details>`;

  const timing = () =>
    html`<fieldset class="picks">
        <legend>${t("say.when")}</legend>
        ${["now", "in", "at", "weekly"].map(
          (name) =>
            html`<label class="pick">
              <input
                type="radio"
                name="when"
                value=${name}
                .checked=${draft.when === name}
                ?disabled=${name === "weekly" && !shared.may}
                aria-describedby=${name === "weekly" && !shared.may ? "why-say" : nothing}
                @change=${set("when")}
              />${label("say.when", name)}
            </label>`,
        )}
      </fieldset>
      ${draft.when === "in" ? amount("in", 1, 527040, true) : nothing}
      ${draft.when === "at"
        ? html`<label for="at">${t("say.at")}</label>
            <input
              id="at"
              name="at"
              type="datetime-local"
              required
              aria-invalid=${invalid("at")}
              .value=${draft.at}
              @input=${set("at")}
            />${violations("at")}`
        : nothing}
      ${draft.when === "weekly"
        ? html`<fieldset class="picks" aria-describedby="wrong-cron">
              <legend>${t("say.days")}</legend>
              ${weekdays.map(
                (d) =>
                  html`<label class="pick day">
                    <input
                      type="checkbox"
                      .checked=${draft.days.has(d)}
                      aria-label=${dayName(d, "long")}
                      @change=${() => toggle(draft.days, d)}
                    />${dayName(d, "short")}
                  </label>`,
              )}
            </fieldset>
            ${violations("cron")} <label for="time">${t("say.time")}</label>
            <input id="time" type="time" required .value=${draft.time} @input=${set("time")} />`
        : nothing}`;

  const render = () => {
    if (voices.loaded && draft.voice && !voices.labels.has(draft.voice)) draft.voice = "";
    const mute = !draft.message.trim();
    return html`<form class="leaf panel" @submit=${submit} aria-labelledby="say-title">
      <p class="kicker">${t("say.kicker")}</p>
      ${!planning
        ? html`<h1 id="say-title">${t("say.title")}</h1>`
        : html`<h2 id="say-title">${t("say.plan.title")}</h2>`}
      ${elsewhere()}
      <label for="message">${t("say.message")}</label>
      <textarea
        id="message"
        name="message"
        rows="3"
        maxlength=${maxLength}
        ?required=${!draft.sound}
        placeholder=${t("say.placeholder")}
        aria-invalid=${invalid("message")}
        aria-describedby="wrong-message"
        .value=${draft.message}
        @input=${set("message")}
      ></textarea>
      ${violations("message")}
      <div class="two">
        <div>
          <label for="voice">${t("say.voice")}</label>
          <select id="voice" name="voice" aria-invalid=${invalid("voice")} @change=${set("voice")}>
            <option value="" ?selected=${!draft.voice}>${t("say.voice.default")}</option>
            ${[...voices.labels].map(
              ([name, text]) => html`<option value=${name} ?selected=${draft.voice === name}>${text}</option>`,
            )}
          </select>
          ${violations("voice")}
        </div>
        <div>
          <label for="rate">${t("say.rate")}: <output for="rate">${t("say.wpm", { n: draft.rate })}</output></label>
          <input
            id="rate"
            name="rate"
            type="range"
            min=${minRate}
            max=${maxRate}
            step="5"
            .value=${String(draft.rate)}
            aria-valuetext=${t("say.wpm", { n: draft.rate })}
            @input=${set("rate")}
          />${violations("rate")}
        </div>
      </div>
      ${timing()}
      <label class="check">
        <input
          id="urgent"
          name="urgent"
          type="checkbox"
          .checked=${draft.urgent}
          @change=${valued((_, { checked }) => {
            draft.urgent = checked;
            update();
          })}
        />
        ${t("say.urgent")}
      </label>
      ${more()}
      ${draft.urgent || draft.when !== "now" ? nothing : speaker.warning()}
      <p class="row">
        <button class="primary" ?disabled=${sending}>${t(draft.when === "now" ? "say.speak" : "say.plan")}</button>
        <button type="button" @click=${listen} ?disabled=${mute} aria-pressed=${Boolean(listener?.state)}>
          ${t(listener?.state === "loading" ? "say.loading" : listener?.state ? "say.stop" : "say.preview")}
        </button>
        <button type="button" @click=${show} ?disabled=${mute}>${t("say.show")}</button>
        <button
          type="button"
          @click=${save}
          ?disabled=${(mute && !draft.sound) || !shared.may}
          aria-describedby=${shared.may ? nothing : "why-say"}
        >
          ${t("favorites.add")}
        </button>
        <span role="status" class="good-inline">${confirmation}</span>
      </p>
      ${reason(shared, "say")}
      ${shown ? html`<p id="shown"><small>${t("say.shown")}</small><br />${shown}</p>` : nothing}
    </form>`;
  };
  return {
    render,
    send,
    stopPreview: () => listener?.stop(),
    close: () => listener?.close(),
    /** Removes the confirmation of an announcement that has ended. @param {string} id */
    forget: (id) => {
      if (id === confirmed) confirmation = confirmed = "";
    },
  };
}
