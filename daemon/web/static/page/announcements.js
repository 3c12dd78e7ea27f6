// Announcements: the form that creates them, the queue, favorites, the
// loudspeaker's volume and do not disturb, and schedules.
import { html, nothing } from "./lit-html.js";
import {
  t, label, api, meta, formatTime, when, nextTime, timeZone, weekdays, dayName, cronOf, parseCron, alertBox, sentence, loading, Problem, requests, refocus,
  readOut, store, stored, signInAddress, wrongOf, language,
} from "./ui.js";
import { openStream } from "./streams.js";

const minRate = 60, maxRate = 400, maxRecent = 12, maxLength = 5000, maxName = 100;
const morning = 7, volumeDelay = 300; // o'clock; ms from the last change of the slider to its request

/** What all sections of the page use; "may" allows what CONTROL_ACCESS guards. @typedef {{ update: () => Promise<void>, may: boolean, me: Account | null }} Shared */

/** Follows the server’s events. @param {Shared} shared @param {Record<string, (data: any) => unknown>} receivers by type @param {(online: boolean) => void} [online] */
const follow = ({ me, update }, receivers, online = () => {}) => openStream("/api/events?controls=true", {
  account: me?.id, kept: Object.keys(receivers), state: (state) => online(state === "open"),
  on: Object.fromEntries(Object.entries(receivers).map(([name, receive]) => [name, (data) => { void receive(data); update(); }])),
});

/** The sections of the page. @param {Shared} shared @param {boolean} [planning] the form is for schedules and favorites in the first place */
function sections(shared, planning = false) {
  const voices = voiceList(shared.update), speaker = loudspeaker(shared), plans = schedules(shared, voices);
  const favorites = favoriteList(shared, voices, (content) => create.send("/api/notify", content));
  const air = onAir(shared, { voices, speaker, ended: (id) => create.forget(id) });
  const create = form(shared, { voices, speaker, air, favorites, plans, planning });
  /** @type {{ close: () => void } | null} */ let stream = null;
  return {
    speaker, plans, favorites, air, create,
    follow() {
      stream = follow(shared, { announcement: air.receive, volume: speaker.setVolume, quiet: speaker.setQuiet, favorites: favorites.receive, schedules: plans.receive }, air.online);
    },
    close() {
      stream?.close();
      create.close();
      speaker.close();
    },
  };
}

/** The volume, mute and do not disturb: a part of the administration. @param {AdminShared} shared */
export function controls({ update, me }) {
  const shared = { update, me, may: true }, speaker = loudspeaker(shared);
  const stream = follow(shared, { volume: speaker.setVolume, quiet: speaker.setQuiet });
  return { render: speaker.render, close: () => { stream.close(); speaker.close(); } };
}

/** Schedules and favorites, and the form that makes them: a part of the administration. @param {AdminShared} shared @returns {AdminPart} */
export function planned({ update, me }) {
  const { create, favorites, plans, follow, close } = sections({ update, me, may: true }, true);
  follow();
  return { render: () => html`<div class="desk"><div>${create.render()}</div><div>${plans.render()}${favorites.render()}</div></div>`, close };
}

/** @param {PageContext} page @returns {View} */
export function announcements({ update, me }) {
  const { create, favorites, air, speaker, plans, follow, close } = sections({ update, me, may: me?.admin === true || meta("control") === "lan" });
  /** Stops what is being spoken, on the loudspeaker and here. @param {KeyboardEvent} e */
  const key = (e) => {
    if (e.repeat || e.ctrlKey || e.metaKey || e.altKey || !["Escape", "s", "S"].includes(e.key)) return;
    if (/** @type {Element} */ (e.target).closest("input, select, textarea")) return;
    create.stopPreview();
    void air.stop();
  };
  document.addEventListener("keydown", key);
  void air.load().then((loaded) => { if (loaded) follow(); });

  return {
    title: () => t("say.title"),
    render: () => html`<div class="desk"><div>${create.render()}${favorites.render()}</div><div>${air.render()}${speaker.render()}${air.recent()}</div><div>${plans.render()}</div></div>`,
    close: () => {
      document.removeEventListener("keydown", key);
      close();
    },
  };
}

/** Renders why the controls of a section are disabled, if they are. @param {Shared} shared @param {"say" | "favorites" | "speaker" | "schedules"} section */
const reason = ({ may, me }, section) => (may ? nothing : html`<p class="hint" id=${`why-${section}`}>${t(`control.${section}`)} ${me ? nothing : html`<a href=${signInAddress()}>${t("signin")}</a>`}</p>`);

// ---- voices

/** @param {() => void} update */
function voiceList(update) {
  /** The label of each name by which a voice is selected; each speaker of a voice has its own. @type {Map<string, string>} */
  const labels = new Map();
  const state = {
    labels, loaded: false,
    /** @param {string} name */ label: (name) => labels.get(name) ?? name,
    /** Reports whether the voice of a text was removed; the default voice speaks it. @param {Content} c */
    missing: ({ voice }) => state.loaded && Boolean(voice) && !labels.has(voice ?? ""),
    /** @param {Content} c */
    warning: (c) => (state.missing(c) ? html`<small class="hint">${t("voice.missing", { voice: c.voice ?? "" })}</small>` : nothing),
  };
  void api("GET", "/voices").then((list) => {
    for (const v of /** @type {Voice[]} */ (list.voices).filter((v) => !v.error)) {
      const voice = v.label ?? v.name;
      if (v.speakers?.length) for (const s of v.speakers) labels.set(`${v.name}#${s}`, t("voice.speaker", { voice, speaker: s }));
      else labels.set(v.name, voice);
    }
    state.loaded = true;
    update();
  }, () => undefined);
  return state;
}

// ---- times

/** Returns a schedule's weekdays and time in words, or its cron expression. @param {Schedule} s */
function times(s) {
  const found = parseCron(s.cron);
  if (!found) return html`<code>${s.cron}</code>`;
  const days = weekdays.filter((d) => found.days.has(d)), time = new Date(2023, 0, 1, found.hour, found.minute);
  const key = { "1234560": "schedule.daily", "12345": "schedule.weekdays", "60": "schedule.weekends" }[days.join("")];
  return t("schedule.times", {
    days: key ? t(/** @type {any} */ (key)) : days.map((d) => dayName(d, "short")).join(", "),
    time: time.toLocaleTimeString(language, { timeStyle: "short" }),
  });
}

// ---- the form

/** The repetitions that the form offers, as times × seconds. @type {Record<string, { times: number, every: number }>} */
const repeats = { "5x60": { times: 5, every: 60 }, "6x300": { times: 6, every: 300 }, "8x900": { times: 8, every: 900 } };
/** The fields that show their violations. The first has two names. */
const fields = ["message", "input", "voice", "rate", "at", "cron"];

/** The part of the form that is emptied once it was sent. @param {string} when */
const blank = (when) => ({ message: "", urgent: false, chime: "", repeat: "", when, at: "" });

/**
 * @param {Shared} shared
 * @param {{ voices: ReturnType<typeof voiceList>, speaker: ReturnType<typeof loudspeaker>, air: ReturnType<typeof onAir>,
 *   favorites: ReturnType<typeof favoriteList>, plans: ReturnType<typeof schedules>, planning: boolean }} page
 */
function form(shared, { voices, speaker, air, favorites, plans, planning }) {
  const usual = planning ? "weekly" : "now";
  const { update } = shared, requested = requests(update);
  /** @type {import("./speech.js").Player | null} */ let listener = null;
  let sending = false, confirmation = "", confirmed = "", shown = ""; // the message in words, on request
  const draft = { ...blank(usual), voice: stored("voice", ""), rate: Number(stored("rate", "170")), time: "07:00", days: new Set(weekdays.slice(0, 5)) };
  const spoken = () => ({ message: draft.message, ...(draft.voice ? { voice: draft.voice } : {}) });
  /** @returns {Content} */
  const content = () => ({
    ...spoken(), rate: draft.rate, ...(draft.urgent ? { urgent: true } : {}), ...(draft.chime ? { chime: draft.chime } : {}),
    ...(draft.repeat ? { repeat: repeats[draft.repeat] } : {}),
  });

  /** Posts an announcement. @param {string} path @param {unknown} [body] */
  const send = (path, body) => requested.run(async () => {
    const a = air.answer(await api("POST", path, body));
    confirmed = a.id;
    confirmation = ended.includes(a.status) ? `${label("status", a.status)}.` : a.speaks_at ? t("say.scheduled", { when: when(a.speaks_at) }) : t("say.accepted");
    readOut(confirmation);
    return a;
  });
  const schedule = () => requested.run(async () => {
    if (!draft.days.size) throw new Problem(422, { code: "page", detail: t("say.nodays"), errors: [{ path: "/cron", code: "page", detail: t("say.nodays") }] });
    const s = await plans.create({ name: [...draft.message.trim()].slice(0, maxName).join(""), cron: cronOf(draft.days, draft.time), time_zone: timeZone, enabled: true, ...content() });
    [confirmation, confirmed] = [t("say.scheduled", { when: s.next_at ? when(s.next_at) : "" }), ""];
    readOut(confirmation);
    return s;
  });
  /** @param {SubmitEvent} e */
  const submit = async (e) => {
    e.preventDefault();
    if (sending) return;
    [sending, confirmation] = [true, ""];
    await update(); // renders what was typed last, so that emptying the field is a change
    const accepted = await (draft.when === "weekly" ? schedule()
      : send("/api/notify", { ...content(), ...(draft.when === "at" ? { at: new Date(draft.at).toISOString() } : {}) }));
    sending = false;
    if (accepted) {
      Object.assign(draft, blank(usual));
      shown = "";
      store("voice", draft.voice);
      store("rate", String(draft.rate));
    }
    await update();
    document.getElementById("message")?.focus();
  };
  const listen = async () => {
    listener ??= (await import("./speech.js")).newPlayer(update, requested.run);
    await listener.toggle(spoken(), draft.rate);
  };
  const show = () => requested.run(async () => {
    shown = "";
    shown = (await api("POST", "/api/speakable", spoken())).text;
    readOut(shown);
  });
  const save = async () => {
    if (await favorites.add(content())) readOut(confirmation = t("favorites.saved"));
    update();
  };

  /** @param {string} field */
  const wrong = (field) => requested.problem?.errors.filter((v) => v.path === `/${field}` || (field === "message" && v.path === "/input")) ?? [];
  /** Renders the violations of a field. @param {string} field */
  const violations = (field) => (wrong(field).length
    ? html`<span class="wrong" id=${`wrong-${field}`} role="alert">${sentence(t(/** @type {any} */ (`say.wrong.${field}`), { what: wrong(field).map(wrongOf).join("; ") }))}</span>` : nothing);
  /** @param {string} field */
  const invalid = (field) => (wrong(field).length ? "true" : nothing);
  const elsewhere = () => (requested.problem?.errors.length && requested.problem.errors.every((v) => fields.includes(v.path.slice(1))) ? nothing : alertBox(requested.problem));
  /** Returns a listener that stores a field's value. @param {"message" | "voice" | "rate" | "at" | "time" | "chime" | "repeat" | "when"} name */
  const set = (name) => (/** @type {any} */ e) => {
    /** @type {any} */ (draft)[name] = name === "rate" ? Number(e.target.value) : e.target.value;
    if (name === "message") confirmation = shown = "";
    update();
  };
  /** Renders a select. @param {"chime" | "repeat"} name @param {string[]} values */
  const select = (name, values) => html`<div><label for=${name}>${t(`say.${name}`)}</label><select id=${name} .value=${draft[name]} @change=${set(name)}>
    ${["", ...values].map((v) => html`<option value=${v} ?selected=${draft[name] === v}>${label(`say.${name}`, v || "default")}</option>`)}</select></div>`;

  const timing = () => html`<fieldset class="picks"><legend>${t("say.when")}</legend>
      ${["now", "at", "weekly"].map((name) => html`<label class="pick"><input type="radio" name="when" value=${name} .checked=${draft.when === name}
        ?disabled=${name === "weekly" && !shared.may} aria-describedby=${name === "weekly" && !shared.may ? "why-say" : nothing} @change=${set("when")}>${label("say.when", name)}</label>`)}</fieldset>
    ${draft.when === "at" ? html`<label for="at">${t("say.at")}</label><input id="at" type="datetime-local" required aria-invalid=${invalid("at")} .value=${draft.at} @input=${set("at")}>${violations("at")}` : nothing}
    ${draft.when === "weekly" ? html`<fieldset class="picks" aria-describedby="wrong-cron"><legend>${t("say.days")}</legend>
        ${weekdays.map((d) => html`<label class="pick day"><input type="checkbox" .checked=${draft.days.has(d)} aria-label=${dayName(d, "long")}
          @change=${() => { if (!draft.days.delete(d)) draft.days.add(d); update(); }}>${dayName(d, "short")}</label>`)}</fieldset>${violations("cron")}
      <label for="time">${t("say.time")}</label><input id="time" type="time" required .value=${draft.time} @input=${set("time")}>` : nothing}`;

  const render = () => {
    if (voices.loaded && draft.voice && !voices.labels.has(draft.voice)) draft.voice = "";
    const empty = !draft.message.trim();
    return html`<form class="leaf panel" @submit=${submit} aria-labelledby="say-title">
    <p class="kicker">${t("say.kicker")}</p>
    ${!planning ? html`<h1 id="say-title">${t("say.title")}</h1>` : html`<h2 id="say-title">${t("say.plan.title")}</h2>`}
    ${elsewhere()}
    <label for="message">${t("say.message")}</label>
    <textarea id="message" rows="3" maxlength=${maxLength} required placeholder=${t("say.placeholder")} aria-invalid=${invalid("message")} aria-describedby="wrong-message"
      .value=${draft.message} @input=${set("message")}></textarea>
    ${violations("message")}
    <div class="two">
      <div><label for="voice">${t("say.voice")}</label>
        <select id="voice" aria-invalid=${invalid("voice")} @change=${set("voice")}>
          <option value="" ?selected=${!draft.voice}>${t("say.voice.default")}</option>
          ${[...voices.labels].map(([name, text]) => html`<option value=${name} ?selected=${draft.voice === name}>${text}</option>`)}
        </select>${violations("voice")}</div>
      <div><label for="rate">${t("say.rate")}: <output for="rate">${t("say.wpm", { n: draft.rate })}</output></label>
        <input id="rate" type="range" min=${minRate} max=${maxRate} step="5" .value=${String(draft.rate)} aria-valuetext=${t("say.wpm", { n: draft.rate })} @input=${set("rate")}>${violations("rate")}</div>
    </div>
    ${timing()}
    <label class="check"><input id="urgent" type="checkbox" .checked=${draft.urgent} @change=${(/** @type {any} */ e) => { draft.urgent = e.target.checked; update(); }}> ${t("say.urgent")}</label>
    <details class="fine"><summary>${t("say.more")}</summary><div class="two">${select("chime", ["none", "ding", "ding-dong", "alert"])}${select("repeat", Object.keys(repeats))}</div></details>
    ${draft.urgent || draft.when !== "now" ? nothing : speaker.warning()}
    <p class="row"><button class="primary" ?disabled=${sending}>${t(draft.when === "now" ? "say.speak" : "say.plan")}</button>
      <button type="button" @click=${listen} ?disabled=${empty} aria-pressed=${listener?.state ? "true" : "false"}>${t(listener?.state === "loading" ? "say.loading" : listener?.state ? "say.stop" : "say.preview")}</button>
      <button type="button" @click=${show} ?disabled=${empty}>${t("say.show")}</button>
      <button type="button" @click=${save} ?disabled=${empty || !shared.may} aria-describedby=${shared.may ? nothing : "why-say"}>${t("favorites.add")}</button>
      <span role="status" class="good-inline">${confirmation}</span></p>
    ${reason(shared, "say")}
    ${shown ? html`<p id="shown"><small>${t("say.shown")}</small><br>${shown}</p>` : nothing}
  </form>`;
  };
  return {
    render, send, stopPreview: () => listener?.stop(), close: () => listener?.close(),
    /** Removes the confirmation of an announcement that has ended. @param {string} id */
    forget: (id) => { if (id === confirmed) confirmation = confirmed = ""; },
  };
}

// ---- the queue, the scheduled and the recent announcements

const ended = ["done", "failed", "cancelled", "expired", "silenced"];
/**
 * @param {Shared} shared
 * @param {{ voices: ReturnType<typeof voiceList>, speaker: ReturnType<typeof loudspeaker>, ended: (id: string) => void }} page
 */
function onAir({ update, me }, { voices, speaker, ended: forget }) {
  /** @type {Map<string, Announcement>} */ const all = new Map();
  const requested = requests(update);
  let online = false;
  const inQueue = () => [...all.values()].filter((a) => a.position !== undefined).sort((x, y) => (x.position ?? 0) - (y.position ?? 0));
  const inSchedule = () => [...all.values()].filter((a) => a.status === "scheduled").sort((x, y) => ((x.speaks_at ?? "~") < (y.speaks_at ?? "~") ? -1 : 1));
  const inRecent = () => [...all.values()].filter((a) => ended.includes(a.status)).sort((x, y) => ((y.ended_at ?? "") < (x.ended_at ?? "") ? -1 : 1));

  /** @param {Announcement} a */
  const receive = (a) => {
    all.set(a.id, a);
    if (a.status === "playing") readOut(t("queue.playing", { message: a.message }));
    if (ended.includes(a.status)) forget(a.id);
    for (const old of inRecent().slice(maxRecent)) all.delete(old.id);
  };
  /** Receives a response, which may arrive after later events, and returns the announcement as it is now. @param {Announcement} a */
  const answer = (a) => {
    if (!all.has(a.id) || ended.includes(a.status)) receive(a);
    return all.get(a.id) ?? a;
  };
  const load = () => requested.run(async () => {
    const list = await api("GET", "/api/notify");
    for (const a of [...list.queue, ...list.scheduled, ...list.recent.slice(0, maxRecent)]) all.set(a.id, a);
    return true;
  });
  /** @param {"POST" | "DELETE"} method @param {string} path @param {string} heading that gets the focus if the button is gone */
  const act = (method, path, heading = "queue-title") => requested.run(async () => {
    const a = await api(method, path);
    if (a.id) answer(a);
    refocus(heading);
    return a;
  });
  /** @param {Announcement} a @param {string} [more] */
  const path = (a, more = "") => `/api/notify/${encodeURIComponent(a.id)}${more}`;
  /** @param {Announcement} a */
  const again = async (a) => {
    if (await act("POST", path(a, "/again"), "recent-title")) readOut(t("say.accepted"));
  };
  const stop = async () => {
    const current = inQueue()[0];
    if (current?.position === 0) await act("DELETE", path(current));
  };

  /** Renders what an announcement waits for, or why it is not spoken. @param {Announcement} a */
  const note = (a) => {
    if (a.error) return a.error;
    if (a.clock_unset) return t("note.clock");
    if (a.status === "silenced") return t(a.quiet ? "note.quiet" : a.priority === 1 ? "note.listed" : "note.muted");
    if (a.status === "scheduled") {
      const at = a.speaks_at ?? a.at;
      return !at ? "" : a.repeat?.spoken ? t("note.again", { when: when(at), n: a.repeat.spoken, of: a.repeat.times }) : t(a.quiet ? "note.held" : "note.at", { when: when(at) });
    }
    if (ended.includes(a.status) || a.urgent) return "";
    return speaker.muted() ? t("note.mute") : a.quiet ? label("note.quiet", speaker.mode()) : "";
  };
  /** @param {Announcement} a */
  const from = ({ sender }) => (sender ? t(/** @type {any} */ (`sender.${sender.kind}`), sender.name ? { name: sender.name } : {}) : "");
  /** @param {Announcement} a @param {unknown} buttons */
  const stub = (a, buttons) => html`<li class=${`stub ${a.urgent ? "urgent" : ""}`}>
    <div><span class="tag ${a.status}">${label("status", a.status)}</span>${a.urgent ? html` <span class="tag hot">${t("say.urgenttag")}</span>` : nothing} <small>${note(a)}</small>
      <p class="quote">${text(a)}</p><small>${[from(a), voices.label(a.voice), formatTime(a.created_at)].filter(Boolean).join(" · ")}</small></div>
    <div class="row">${a.repeat && !a.repeat.acknowledged ? html`<button @click=${() => act("POST", path(a, "/ack"))} aria-label=${t("queue.acklabel", { message: brief(a) })}>${t("queue.ack")}</button>` : nothing}${buttons}</div></li>`;
  /** @param {Announcement} a */
  const cancel = (a) => html`<button aria-label=${t("queue.cancellabel", { message: brief(a) })} @click=${() => act("DELETE", path(a))}>${t("queue.cancel")}</button>`;
  /** @param {Announcement} a */
  const halt = (a) => html`<button aria-label=${t("queue.stoplabel", { message: brief(a) })} aria-keyshortcuts="Escape s" @click=${stop}>${t("queue.stop")}</button><span class="keys"><kbd>Esc</kbd> <kbd>S</kbd></span>`;

  const render = () => {
    const queue = inQueue(), scheduled = inSchedule();
    return html`<section class="leaf" aria-labelledby="queue-title">
    <div class="row spread"><h2 id="queue-title" tabindex="-1">${t("queue.title")}</h2>
      <span class="link-state ${online ? "on" : "off"}">${online ? t("live.on") : t("live.off")}</span></div>
    ${requested.problem ? html`${alertBox(requested.problem)}${requested.problem.status === 401 && !me ? html`<p><a class="button" href=${signInAddress()}>${t("signin")}</a></p>` : nothing}` : nothing}
    ${queue.length ? html`<ol class="stubs" id="queue">${queue.map((a) => stub(a, a.position === 0 ? halt(a) : cancel(a)))}</ol>` : html`<p class="empty">${t("queue.empty")}</p>`}
    ${queue.length > 1 ? html`<p><button @click=${() => act("DELETE", "/api/notify")}>${t("queue.cancelall")}</button></p>` : nothing}
    ${scheduled.length ? html`<h2>${t("queue.scheduled")}</h2><ol class="stubs" id="scheduled">${scheduled.map((a) => stub(a, cancel(a)))}</ol>` : nothing}
  </section>`;
  };
  const recent = () => {
    const list = inRecent();
    return html`<section class="leaf" aria-labelledby="recent-title"><h2 id="recent-title" tabindex="-1">${t("queue.recent")}</h2>
    ${list.length ? html`<ul class="ledger" id="recent">${list.map((a) => html`<li class="spread">
      <div><span class="tag ${a.status}">${label("status", a.status)}</span> <span class="quote">${text(a)}</span><br><small>${[note(a), from(a), formatTime(a.created_at)].filter(Boolean).join(" · ")}</small></div>
      ${a.message ? html`<button @click=${() => again(a)} aria-label=${t("queue.againlabel", { message: brief(a) })}>${t("queue.again")}</button>` : nothing}</li>`)}</ul>` : html`<p class="empty">${t("queue.norecent")}</p>`}
  </section>`;
  };
  return { load, receive, answer, stop, render, recent, online: (/** @type {boolean} */ now) => { online = now; update(); } };
}

/** @param {{ title?: string, message: string }} a */
const text = ({ title, message }) => (title ? `${title}: ${message}` : message || t("queue.notext"));
/** @param {{ title?: string, message: string }} a */
const brief = (a) => text(a).slice(0, 60);

// ---- favorites

/** @param {Shared} shared @param {ReturnType<typeof voiceList>} voices @param {(content: Content) => Promise<unknown>} say */
function favoriteList(shared, voices, say) {
  const requested = requests(shared.update);
  /** @type {Content[] | null} */ let all = null;
  /** @param {{ favorites?: Content[] }} list without favorites after a change */
  const receive = (list) => requested.run(async () => { all = list.favorites ?? (await api("GET", "/api/favorites")).favorites; });
  /** Changes the list that the server has now. @param {(list: Content[]) => Content[]} edit */
  const change = (edit) => requested.run(async () => {
    const list = await api("GET", "/api/favorites");
    await receive(await api("PUT", "/api/favorites", { favorites: edit(list.favorites) }));
    return true;
  });
  /** @param {Content} f */
  const remove = async (f) => {
    await change((list) => list.filter((other) => JSON.stringify(other) !== JSON.stringify(f)));
    refocus("favorites-title");
  };
  return {
    receive,
    /** @param {Content} content */ add: (content) => change((list) => [...list, content]),
    render: () => html`<section class="leaf" aria-labelledby="favorites-title"><h2 id="favorites-title" tabindex="-1">${t("favorites.title")}</h2>
      ${alertBox(requested.problem)}
      ${!all ? loading() : all.length ? html`<ul class="favorites">${all.map((f) => html`<li><button class=${f.urgent ? "speak danger" : "speak"} @click=${() => say(voices.missing(f) ? { ...f, voice: undefined } : f)} aria-label=${t(f.urgent ? "favorites.urgentlabel" : "favorites.saylabel", { message: brief(f) })}>${text(f)}</button>
        <button class="remove" ?disabled=${!shared.may} aria-describedby=${shared.may ? nothing : "why-favorites"} @click=${() => remove(f)} aria-label=${t("favorites.removelabel", { message: brief(f) })}>×</button>${voices.warning(f)}</li>`)}</ul>` : html`<p class="empty">${t("favorites.none")}</p>`}
      ${all?.length ? reason(shared, "favorites") : nothing}</section>`,
  };
}

// ---- volume and do not disturb

/** @param {Shared} shared */
function loudspeaker(shared) {
  const { update, may } = shared, requested = requests(update), why = may ? nothing : "why-speaker";
  /** @type {Volume | null} */ let volume = null;
  /** @type {Quiet | null} */ let quiet = null;
  /** @type {number | null} */ let chosen = null; // on the slider, until the server has it
  let until = "22:00", timer = 0;
  const setVolume = (/** @type {Volume} */ v) => { volume = v; };
  const setQuiet = (/** @type {Quiet} */ q) => { quiet = q; };
  /** @param {Partial<Volume>} change */
  const putVolume = (change) => requested.run(async () => setVolume(await api("PUT", "/api/volume", change)));
  /** @param {any} e */
  const slide = (e) => {
    const level = (chosen = Number(e.target.value));
    clearTimeout(timer);
    timer = setTimeout(async () => {
      await putVolume({ volume: level });
      if (chosen === level) chosen = null;
      update();
    }, volumeDelay);
    update();
  };
  /** @param {{ for: number } | { until: string }} period */
  const disturbNot = (period) => requested.run(async () => setQuiet(await api("PUT", "/api/quiet", period)));
  const disturb = () => requested.run(async () => {
    await api("DELETE", "/api/quiet");
    setQuiet(await api("GET", "/api/quiet"));
    refocus("speaker-title");
  });
  /** @param {Quiet} q */
  const applies = (q) => (q.active ? html`<strong>${q.until ? t("quiet.until", { when: when(q.until) }) : t("quiet.on")}</strong> (${label("quiet.reason", q.reason)}). ${label("quiet.mode", q.mode)}` : html`<strong>${t("quiet.off")}</strong>`);
  const level = () => chosen ?? volume?.volume ?? 0;
  return {
    setVolume, setQuiet, close: () => clearTimeout(timer), mode: () => quiet?.mode, muted: () => volume?.muted,
    warning: () => (volume?.muted ? html`<p class="hint">${t("volume.warning")}</p>` : quiet?.active ? html`<p class="hint">${t("quiet.title")}: ${applies(quiet)}</p>` : nothing),
    render: () => html`<section class="leaf" aria-labelledby="speaker-title"><h2 id="speaker-title" tabindex="-1">${t("speaker.title")}</h2>
      ${alertBox(requested.problem)}
      ${!volume ? loading() : html`<label for="volume">${t("volume.label")}: <output for="volume" id="level">${volume.muted ? t("volume.mutedat", { n: level() }) : t("volume.percent", { n: level() })}</output></label>
      <div class="volume"><input id="volume" type="range" min="0" max="100" step="5" ?disabled=${!may} aria-describedby=${why} .value=${String(level())} aria-valuetext=${t("volume.percent", { n: level() })} @input=${slide}>
        <button aria-pressed=${volume.muted ? "true" : "false"} ?disabled=${!may} aria-describedby=${why} @click=${() => putVolume({ muted: !volume?.muted })}>${t("volume.mute")}</button></div>`}
      ${!quiet ? nothing : html`<h3>${t("quiet.title")}</h3><p id="quiet">${applies(quiet)}</p>
      <div class="row">${quiet.active ? html`<button class="primary" ?disabled=${!may} aria-describedby=${why} @click=${disturb}>${t("quiet.end")}</button>` : nothing}
        <button ?disabled=${!may} aria-describedby=${why} @click=${() => disturbNot({ for: 3600 })}>${t("quiet.hour")}</button>
        <button ?disabled=${!may} aria-describedby=${why} @click=${() => disturbNot({ until: nextTime(morning, 0) })}>${t("quiet.morning")}</button>
        <span class="inline"><button ?disabled=${!may} aria-describedby=${why} @click=${() => { const [h, m] = until.split(":").map(Number); void disturbNot({ until: nextTime(h, m) }); }}>${t("quiet.to")}</button>
          <input type="time" ?disabled=${!may} aria-describedby=${why} aria-label=${t("quiet.tolabel")} .value=${until} @input=${(/** @type {any} */ e) => { if (e.target.value) until = e.target.value; }}></span>
      </div>`}
      ${reason(shared, "speaker")}</section>`,
  };
}

// ---- schedules

/** @param {Shared} shared @param {ReturnType<typeof voiceList>} voices */
function schedules(shared, voices) {
  const requested = requests(shared.update), why = shared.may ? nothing : "why-schedules";
  /** @type {Schedule[] | null} */ let all = null;
  /** @param {{ schedules?: Schedule[] }} list without schedules after a change */
  const receive = (list) => requested.run(async () => { all = list.schedules ?? (await api("GET", "/api/schedules")).schedules; });
  /** @param {Schedule} s */
  const address = (s) => `/api/schedules/${encodeURIComponent(s.id)}`;
  /** Turns a schedule on or off. @param {Schedule} s */
  const turn = (s) => requested.run(async () => {
    const { id, next_at, ...plan } = s;
    await api("PUT", address(s), { ...plan, enabled: !s.enabled });
    await receive({});
  });
  /** @param {Schedule} s */
  const remove = (s) => requested.run(async () => {
    if (!confirm(t("schedule.sure", { name: s.name }))) return;
    await api("DELETE", address(s));
    await receive({});
    refocus("schedules-title");
  });
  /** @param {Schedule} s */
  const stub = (s) => html`<li class=${s.enabled ? "" : "off"}><div><strong>${times(s)}</strong>${s.time_zone && s.time_zone !== timeZone ? html` <small>${s.time_zone}</small>` : nothing}
      <p class="quote">${text(s)}</p><small>${!s.enabled ? t("schedule.off") : s.next_at ? t("schedule.next", { when: when(s.next_at) }) : t("schedule.never")}${s.name === s.message ? "" : ` · ${s.name}`}</small>${voices.warning(s)}</div>
    <div class="row"><label class="check"><input type="checkbox" .checked=${s.enabled} ?disabled=${!shared.may} aria-describedby=${why} aria-label=${t("schedule.onlabel", { name: s.name })} @change=${() => turn(s)}> ${t("schedule.on")}</label>
      <button ?disabled=${!shared.may} aria-describedby=${why} @click=${() => remove(s)} aria-label=${t("schedule.removelabel", { name: s.name })}>${t("schedule.remove")}</button></div></li>`;
  return {
    receive,
    /** @param {Omit<Schedule, "id">} plan @returns {Promise<Schedule>} */
    async create(plan) {
      const s = await api("POST", "/api/schedules", plan);
      await receive({});
      return s;
    },
    render: () => html`<section class="leaf" aria-labelledby="schedules-title"><h2 id="schedules-title" tabindex="-1">${t("schedule.title")}</h2>
      ${alertBox(requested.problem)}
      ${!all ? loading() : all.length ? html`<ul class="stubs" id="schedules">${all.map(stub)}</ul>` : html`<p class="empty">${t("schedule.none")}</p>`}
      ${all?.length ? reason(shared, "schedules") : nothing}</section>`,
  };
}
