// The form that creates announcements, schedules and favorites.
import { html, nothing } from "./lit-html.js";
import { reason, ended } from "./announcements.shared.js";
import {
  t, label, api, when, timeZone, weekdays, dayName, cronOf, parseCron, imported, alertBox, sentence, Problem,
  requests, readOut, refocus, store, stored, wrongOf, valued, submitted, number,
} from "./ui.js";

const minRate = 60;
const maxRate = 400;
const maxLength = 5000;
const maxTitle = 250;
const maxName = 100;
const maxCron = 200;
const minute = 60; // seconds

/** @typedef {import("./announcements.shared.js").Shared} Shared */
/** @typedef {import("./announcements.shared.js").Voices} Voices */
/** @typedef {typeof import("./speech.js")} Speech */

/**
 * The repetitions that the form offers, as times × seconds.
 * @type {Record<string, { times: number, every: number }>}
 */
const repeats = {
  "5x60": { times: 5, every: 60 },
  "6x300": { times: 6, every: 300 },
  "8x900": { times: 8, every: 900 },
};
const usualRate = 170; // where the slider stands for the default

/** The fields that show their violations. The first has two names. */
const fields = [
  "message", "input", "voice", "rate", "at", "in", "cron", "title", "priority", "volume", "ttl", "sound", "chime",
  "repeat", "room",
];

/** Returns the fields that are reset after sending; "" is a field's default. @param {string} when */
const blank = (when) => ({
  message: "", title: "", urgent: false, priority: "", volume: "", ttl: "", room: new Set(),
  sound: "", chime: "", repeat: "", times: "3", every: "10",
  when, at: "", in: "10", days: new Set([new Date().getDay()]), cron: "", // what weekdays and a time cannot say
});

/** Returns the name of a schedule by what it says. @param {{ message?: string, sound?: string }} content */
const nameOf = ({ message, sound }) => [...(message?.trim() || sound || "")].slice(0, maxName).join("");

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
  /** @type {Blob | null} */ let recording = null; // which is announced before the message
  let length = 0; // of the recording, in seconds
  /** @type {(() => void) | null} */ let stopRecording = null;
  /** @type {Schedule | null} */ let editing = null;
  const kept = JSON.parse(stored(`draft.${usual}`, "{}", "sessionStorage"));
  const draft = {
    ...blank(usual),
    voice: stored("voice", ""),
    rate: Number(stored("rate", "0")), // 0 is the default
    time: "07:00",
    ...kept,
    ...(kept.days && { days: new Set(kept.days), room: new Set(kept.room) }),
  };
  const opened = ["title", "priority", "volume", "ttl", "sound", "chime", "repeat"].some((name) => kept[name]);
  /** Keeps the draft until the tab is closed, and renders it. */
  const changed = () => {
    const all = JSON.stringify({ ...draft, days: [...draft.days], room: [...draft.room] });
    if (!editing) store(`draft.${usual}`, all, "sessionStorage");
    return update();
  };
  // Once the other options are open:
  /** @type {string[]} */ let rooms = [];
  /** @type {string[]} */ let sounds = [];
  const spoken = () => ({ message: draft.message, voice: draft.voice || undefined });
  /** Returns the fields that differ from their defaults; JSON leaves out what is undefined. @returns {Content} */
  const content = () => ({
    ...spoken(),
    title: draft.title || undefined,
    rate: draft.rate || undefined,
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

  /** What a recording cannot have: it is announced once, and here. @type {Partial<Content>} */
  const unrecorded = { sound: undefined, repeat: undefined, room: undefined };
  /** Returns the address that announces a recording, with the fields as parameters. */
  const recordedTo = () => {
    const fields = { ...content(), ...unrecorded, ...later() };
    const given = Object.entries(fields).filter(([, v]) => v !== undefined && v !== "");
    const parameters = new URLSearchParams(
      given.map(([k, v]) => [k, typeof v === "object" && !Array.isArray(v) ? JSON.stringify(v) : String(v)]),
    );
    return `/api/notify?${parameters}`;
  };
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
      if (!draft.cron && !draft.days.size)
        throw new Problem(422, {
          code: "page",
          detail: t("say.nodays"),
          errors: [{ path: "/cron", code: "page", detail: t("say.nodays") }],
        });
      const s = await plans.save(editing?.id, {
        time_zone: timeZone,
        enabled: true,
        ...(editing && { time_zone: editing.time_zone, enabled: editing.enabled, except: editing.except }),
        name: editing && editing.name !== nameOf(editing) ? editing.name : nameOf(draft),
        cron: draft.cron || cronOf(draft.days, draft.time),
        ...content(),
      });
      confirmation = s.next_at ? t("say.scheduled", { when: when(s.next_at) }) : t("admin.saved");
      confirmed = "";
      readOut(confirmation);
      return s;
    });
  const clear = () => {
    Object.assign(draft, blank(usual));
    shown = "";
    editing = recording = null;
  };
  /** Fills the form with a schedule, which is then saved in place of a new one. @param {Schedule} s */
  const edit = async (s) => {
    clear();
    editing = s;
    const times = parseCron(s.cron);
    const repeat = Object.entries(repeats).find(([, r]) => r.times === s.repeat?.times && r.every === s.repeat.every);
    Object.assign(draft, {
      message: s.message ?? "", title: s.title ?? "", voice: s.voice ?? "", rate: s.rate ?? 0,
      urgent: s.urgent ?? false, priority: String(s.priority ?? ""), volume: String(s.volume ?? ""),
      ttl: s.ttl ? String(s.ttl / minute) : "", room: new Set(s.room), sound: s.sound ?? "", chime: s.chime ?? "",
      repeat: s.repeat ? (repeat?.[0] ?? "own") : "",
      ...(s.repeat && { times: String(s.repeat.times), every: String(s.repeat.every / minute) }),
      when: "weekly",
      ...(times
        ? { days: times.days, time: [times.hour, times.minute].map((n) => String(n).padStart(2, "0")).join(":") }
        : { cron: s.cron }),
    });
    confirmation = "";
    await update();
    document.getElementById("message")?.focus();
  };
  const leave = () => {
    clear();
    void update();
    refocus("schedules-title");
  };
  const submit = submitted(async () => {
    if (sending) return;
    [sending, confirmation] = [true, ""];
    await update(); // renders what was typed last, so that emptying the field is a change
    const accepted = await (draft.when === "weekly"
      ? schedule()
      : recording
        ? send(recordedTo(), recording)
        : send("/api/notify", { ...content(), ...later() }));
    sending = false;
    if (accepted) {
      clear();
      store("voice", draft.voice);
      store("rate", String(draft.rate));
    }
    await changed();
    const button = document.getElementById("announce");
    const wrong = /** @type {HTMLElement | null} */ (button?.closest("form")?.querySelector("[aria-invalid=true]"));
    const hidden = wrong?.closest("details");
    if (hidden) hidden.open = true;
    (wrong ?? button)?.focus(); // where Esc and S stop it
  });
  /** Ctrl+Enter sends. @param {KeyboardEvent} e */
  const hurry = (e) => {
    if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
    e.preventDefault();
    /** @type {HTMLTextAreaElement} */ (e.target).form?.requestSubmit();
  };
  /** Plays in this browser what load returns, or stops. @param {(module: Speech) => () => Promise<ArrayBuffer>} load */
  const play = async (load) => {
    const module = await requested.run(() => imported(import("./speech.js")));
    if (!module) return;
    listener ??= module.newPlayer(update, requested.run);
    await listener.toggle(load(module));
  };
  const listen = () => play(({ speechOf }) => speechOf(spoken(), draft.rate || undefined));
  const recorder = () => imported(import("./recorder.js"));
  /** Takes a recording. @param {() => Promise<Blob>} make */
  const take = async (make) => {
    await requested.run(async () => {
      try {
        recording = await make();
        length = (await recorder()).secondsOf(recording);
      } catch {
        throw new Problem(422, { code: "page", detail: t("say.file.bad") });
      }
    });
    refocus("announce");
  };
  const record = async () => {
    if (stopRecording) return stopRecording();
    await requested.run(async () => {
      const { record } = await recorder();
      const { stop, file } = await record().catch(() => {
        throw new Problem(403, { code: "page", detail: t("say.record.denied") });
      });
      stopRecording = stop;
      void take(() => file).finally(() => {
        stopRecording = null;
        void update();
      });
    });
  };
  const choose = valued((_, field) => {
    const [file] = /** @type {HTMLInputElement} */ (field).files ?? [];
    if (file) void take(async () => (await recorder()).toWav(file));
  });
  const listenAgain = (/** @type {Blob} */ of) =>
    play(() => async () => (await recorder()).samplesOf(await of.arrayBuffer()));
  /** Renders the recording, or how one is made. */
  const recorded = () =>
    recording
      ? html`<p class="row" id="recording">
          <span>${t("say.recorded", { n: number(length, { maximumFractionDigits: 1 }) })}</span>
          <button type="button" @click=${() => recording && listenAgain(recording)}>
            ${t(listener?.state ? "say.stop" : "say.play")}
          </button>
          <button
            type="button"
            @click=${() => {
              recording = null;
              void update();
            }}
          >
            ${t("remove")}
          </button>
        </p>`
      : html`<p class="row">
          ${globalThis.MediaRecorder && navigator.mediaDevices
            ? html`<button type="button" id="record" aria-pressed=${Boolean(stopRecording)} @click=${record}>
                ${t(stopRecording ? "say.record.stop" : "say.record")}
              </button>`
            : nothing}
          <label class="button file">
            ${t("say.file")}<input type="file" id="recorded" accept="audio/*" class="unseen" @change=${choose} />
          </label>
        </p>`;
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
      void changed();
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
        step="any"
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
    void changed();
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
                aria-invalid=${invalid("room")}
                .checked=${draft.room.has(name)}
                @change=${() => toggle(draft.room, name)}
              />${name === "all" ? t("say.room.all") : name}
            </label>`,
        )}
      </fieldset>
      ${violations("room")}`;
  const repetition = () =>
    html`${select("repeat", [...Object.keys(repeats), "own"])}
    ${draft.repeat === "own" ? html`${amount("times", 2, 10, true)} ${amount("every", 1, 60, true)}` : nothing}`;
  const pace = () => (draft.rate ? t("say.wpm", { n: draft.rate }) : t("say.chime.default"));
  const more = () =>
    html`<details class="fine" id="more" ?open=${opened || kept.room?.length} @toggle=${open}>
      <summary>${t("say.more")}</summary>
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
          <label for="rate">${t("say.rate")}: <output for="rate">${pace()}</output></label>
          <input
            id="rate"
            name="rate"
            type="range"
            min=${minRate}
            max=${maxRate}
            step="5"
            .value=${String(draft.rate || usualRate)}
            aria-valuetext=${pace()}
            @input=${set("rate")}
          />${violations("rate")}
        </div>
      </div>
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
        ${select("chime", ["none", ...sounds])} ${recording ? nothing : select("sound", sounds)}
        ${select("priority", ["1", "2", "3", "4", "5"])}
        ${amount("volume", 1, 100)} ${amount("ttl", 1, 1440)}
        ${recording ? nothing : repetition()}
      </div>
      ${recording ? html`<p>${t("say.recorded.here")}</p>` : roomChoice()}
    </details>`;

  const choice = () =>
    html`<fieldset class="picks">
        <legend>${t("say.when")}</legend>
        ${["now", "in", "at", ...(recording ? [] : ["weekly"])].map(
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
      </fieldset>`;
  const timing = () =>
    html`${editing ? nothing : choice()}
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
      ${draft.when !== "weekly" ? nothing : draft.cron ? expression() : week()}`;
  const expression = () =>
    html`<label for="cron">${t("say.cron")}</label>
      <input
        id="cron"
        required
        maxlength=${maxCron}
        aria-invalid=${invalid("cron")}
        .value=${draft.cron}
        @input=${set("cron")}
      />${violations("cron")}`;
  const week = () =>
    html`<fieldset class="picks" aria-describedby="wrong-cron">
              <legend>${t("say.days")}</legend>
              ${weekdays.map(
                (d) =>
                  html`<label class="pick day">
                    <input
                      type="checkbox"
                      .checked=${draft.days.has(d)}
                      aria-invalid=${invalid("cron")}
                      aria-label=${dayName(d, "long")}
                      @change=${() => toggle(draft.days, d)}
                    />${dayName(d, "short")}
                  </label>`,
              )}
            </fieldset>
            ${violations("cron")} <label for="time">${t("say.time")}</label>
            <input id="time" type="time" required .value=${draft.time} @input=${set("time")} />`;

  const render = () => {
    if (voices.loaded && draft.voice && !voices.labels.has(draft.voice)) draft.voice = "";
    const mute = !draft.message.trim();
    return html`<form class="leaf panel" @submit=${submit} aria-labelledby="say-title">
      <p class="kicker">${editing ? t("schedule.editing", { name: editing.name }) : t("say.kicker")}</p>
      ${!planning
        ? html`<h1 id="say-title">${t("say.title")}</h1>`
        : html`<h2 id="say-title">${t("say.plan.title")}</h2>`}
      <label for="message">${t("say.message")}</label>
      <textarea
        id="message"
        name="message"
        rows="3"
        maxlength=${maxLength}
        ?required=${!draft.sound && !recording}
        placeholder=${t("say.placeholder")}
        aria-invalid=${invalid("message")}
        aria-describedby="wrong-message"
        .value=${draft.message}
        @input=${set("message")}
        @keydown=${hurry}
      ></textarea>
      ${violations("message")}
      ${timing()}
      <label class="check">
        <input
          id="urgent"
          name="urgent"
          type="checkbox"
          .checked=${draft.urgent}
          @change=${valued((_, { checked }) => {
            draft.urgent = checked;
            void changed();
          })}
        />
        ${t("say.urgent")}
      </label>
      ${draft.urgent || draft.when !== "now" ? nothing : speaker.warning()}
      <p class="row">
        <button id="announce" class="primary" aria-disabled=${sending}>
          ${t(editing ? "admin.save" : draft.when === "now" ? "say.speak" : "say.plan")}
        </button>
        ${editing ? html`<button type="button" @click=${leave}>${t("cancel")}</button>` : nothing}
        <span role="status" class="good-inline">${confirmation}</span>
      </p>
      ${elsewhere()}
      <p class="row">
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
      </p>
      ${draft.when === "weekly" ? nothing : recorded()} ${reason(shared, "say")}
      ${shown ? html`<p id="shown"><small>${t("say.shown")}</small><br />${shown}</p>` : nothing}
      ${more()}
    </form>`;
  };
  return {
    render,
    send,
    edit,
    stopPreview: () => listener?.stop(),
    close: () => {
      stopRecording?.(); // the microphone is off at once
      listener?.close();
    },
    /** Removes the confirmation of an announcement that has ended. @param {string} id */
    forget: (id) => {
      if (id === confirmed) confirmation = confirmed = "";
    },
  };
}
