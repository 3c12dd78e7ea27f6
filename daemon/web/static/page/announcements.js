// Create an announcement, hear it in the browser, and see the queue.
import { html, nothing } from "./lit-html.js";
import { t, label, api, formatTime, alertBox, sentence, problemOf, readOut, store, stored, signInAddress } from "./ui.js";

const minRate = 60, maxRate = 400, maxRecent = 12, maxLength = 5000;

/** @param {PageContext} page @returns {View} */
export function announcements({ update, me }) {
  /** @type {Announcement[]} */ let queue = [];
  /** @type {Announcement[]} */ let recent = [];
  /** @type {Voice[]} */ let voices = [];
  /** @type {import("./ui.js").Problem | null} */ let problem = null; // of the queue
  /** @type {import("./ui.js").Problem | null} */ let formProblem = null;
  let online = false, sending = false, confirmation = "";
  /** @type {"" | "loading" | "playing"} */ let preview = "";
  let shown = ""; // the message in words, on request
  const draft = { message: "", voice: stored("voice", ""), rate: Number(stored("rate", "170")), urgent: false };

  /** @type {EventSource | null} */ let stream = null;
  /** @type {AudioContext | null} */ let audio = null;
  /** @type {AudioBufferSourceNode | null} */ let playing = null;

  const load = async () => {
    try {
      const list = await api("GET", "/api/notify");
      [queue, recent, problem] = [list.queue, list.recent.slice(0, maxRecent), null];
      subscribe();
    } catch (err) {
      problem = problemOf(err);
    }
    update();
  };
  const subscribe = () => {
    stream?.close();
    stream = new EventSource("/api/events", { withCredentials: true });
    stream.onopen = () => { online = true; update(); };
    stream.onerror = () => { online = false; update(); };
    stream.addEventListener("announcement", (e) => receive(JSON.parse(e.data)));
  };
  /** @param {Announcement} a */
  const receive = (a) => {
    queue = queue.filter((q) => q.id !== a.id);
    recent = recent.filter((q) => q.id !== a.id);
    if (a.position === undefined) {
      recent = [a, ...recent].sort((x, y) => ((y.ended_at ?? "") < (x.ended_at ?? "") ? -1 : 1)).slice(0, maxRecent);
    } else {
      queue = [...queue, a].sort((x, y) => (x.position ?? 0) - (y.position ?? 0));
      if (a.status === "playing") readOut(t("queue.playing", { message: a.message }));
    }
    update();
  };
  const body = () => ({ message: draft.message, rate: draft.rate, ...(draft.voice ? { voice: draft.voice } : {}) });
  /** @param {SubmitEvent} e */
  const submit = async (e) => {
    e.preventDefault();
    if (sending) return;
    sending = true;
    update();
    try {
      const a = await api("POST", "/api/notify", { ...body(), urgent: draft.urgent });
      receive(a);
      [formProblem, confirmation, draft.message, shown] = [null, t("say.accepted"), "", ""];
      readOut(confirmation);
      store("voice", draft.voice);
      store("rate", String(draft.rate));
    } catch (err) {
      [formProblem, confirmation] = [problemOf(err), ""];
    }
    sending = false;
    await update();
    document.getElementById("message")?.focus();
  };
  const show = async () => {
    try {
      const { rate, ...request } = body();
      [shown, formProblem] = [(await api("POST", "/api/speakable", request)).text, null];
      readOut(shown);
    } catch (err) {
      [shown, formProblem] = ["", problemOf(err)];
    }
    update();
  };
  const playPreview = async () => {
    if (preview) return stopPreview();
    audio ??= new AudioContext();
    void audio.resume();
    preview = "loading";
    update();
    try {
      const { message, ...rest } = body();
      const answer = await api("POST", "/api/v1/audio/speech", { input: message, ...rest, response_format: "pcm" }, { raw: true });
      const samples = new Int16Array(await answer.arrayBuffer());
      if (preview !== "loading" || samples.length === 0) return;
      const buffer = audio.createBuffer(1, samples.length, 24000);
      buffer.copyToChannel(Float32Array.from(samples, (s) => s / 32768), 0);
      playing = new AudioBufferSourceNode(audio, { buffer });
      playing.connect(audio.destination);
      playing.onended = stopPreview;
      playing.start();
      [preview, formProblem] = ["playing", null];
    } catch (err) {
      [preview, formProblem] = ["", problemOf(err)];
    }
    update();
  };
  const stopPreview = () => {
    if (playing) playing.onended = null;
    playing?.stop();
    [playing, preview] = [null, ""];
    update();
  };
  /** @param {string} path */
  const cancel = async (path) => {
    try {
      const a = await api("DELETE", path);
      if (a.id) receive(a);
      problem = null;
    } catch (err) {
      problem = problemOf(err);
    }
    update();
  };

  /** Renders the violations of a field. @param {string} field */
  const violations = (field) => {
    const found = formProblem?.errors.filter((v) => v.path === `/${field}` || (field === "message" && v.path === "/input")) ?? [];
    return found.length ? html`<span class="wrong" id=${`wrong-${field}`} role="alert">${sentence(t(/** @type {any} */ (`say.wrong.${field}`), { what: found.map((v) => v.detail).join("; ") }))}</span>` : nothing;
  };
  /** @param {string} field */
  const invalid = (field) => (formProblem?.errors.some((v) => v.path === `/${field}` || (field === "message" && v.path === "/input")) ? "true" : nothing);

  void load();
  void api("GET", "/voices").then((list) => {
    voices = list.voices.filter((/** @type {Voice} */ v) => !v.error);
    if (draft.voice && !names(voices).includes(draft.voice)) draft.voice = "";
    update();
  }, () => undefined);

  const form = () => html`<form class="leaf panel" @submit=${submit} aria-labelledby="say-title">
    <p class="kicker">${t("say.kicker")}</p>
    <h1 id="say-title">${t("say.title")}</h1>
    ${formProblem?.errors.length ? nothing : alertBox(formProblem)}
    <label for="message">${t("say.message")}</label>
    <textarea id="message" rows="4" maxlength=${maxLength} required placeholder=${t("say.placeholder")} aria-invalid=${invalid("message")} aria-describedby="wrong-message"
      .value=${draft.message} @input=${(/** @type {any} */ e) => { draft.message = e.target.value; confirmation = shown = ""; update(); }}></textarea>
    ${violations("message")}
    <div class="two">
      <div><label for="voice">${t("say.voice")}</label>
        <select id="voice" aria-invalid=${invalid("voice")} @change=${(/** @type {any} */ e) => { draft.voice = e.target.value; update(); }}>
          <option value="" ?selected=${!draft.voice}>${t("say.voice.default")}</option>
          ${names(voices).map((name) => html`<option value=${name} ?selected=${draft.voice === name}>${name}</option>`)}
        </select>${violations("voice")}</div>
      <div><label for="rate">${t("say.rate")}: <output for="rate">${t("say.wpm", { n: draft.rate })}</output></label>
        <input id="rate" type="range" min=${minRate} max=${maxRate} step="5" .value=${String(draft.rate)} aria-valuetext=${t("say.wpm", { n: draft.rate })}
          @input=${(/** @type {any} */ e) => { draft.rate = Number(e.target.value); update(); }}>${violations("rate")}</div>
    </div>
    <label class="check"><input type="checkbox" .checked=${draft.urgent} @change=${(/** @type {any} */ e) => { draft.urgent = e.target.checked; update(); }}> ${t("say.urgent")}</label>
    <p class="row"><button class="primary" ?disabled=${sending}>${t("say.speak")}</button>
      <button type="button" @click=${playPreview} ?disabled=${!draft.message.trim()} aria-pressed=${preview ? "true" : "false"}>${preview === "loading" ? t("say.loading") : preview === "playing" ? t("say.stop") : t("say.preview")}</button>
      <button type="button" @click=${show} ?disabled=${!draft.message.trim()}>${t("say.show")}</button>
      <span role="status" class="good-inline">${confirmation}</span></p>
    ${shown ? html`<p id="shown"><small>${t("say.shown")}</small><br>${shown}</p>` : nothing}
  </form>`;

  /** @param {Announcement} a */
  const queued = (a) => html`<li class=${`stub ${a.urgent ? "urgent" : ""}`}>
    <div><span class="tag ${a.status}">${label("status", a.status)}</span>${a.urgent ? html` <span class="tag hot">${t("say.urgenttag")}</span>` : nothing}
      <p class="quote">${a.message}</p><small>${a.voice} · ${t("say.wpm", { n: a.rate })} · ${formatTime(a.created_at)}</small></div>
    <button aria-label=${t("queue.cancellabel", { message: a.message.slice(0, 60) })} @click=${() => cancel(`/api/notify/${encodeURIComponent(a.id)}`)}>${t("queue.cancel")}</button></li>`;

  const list = () => html`<section class="leaf" aria-labelledby="queue-title">
    <div class="row spread"><h2 id="queue-title">${t("queue.title")}</h2>
      <span class="link-state ${online ? "on" : "off"}">${online ? t("live.on") : t("live.off")}</span></div>
    ${problem ? html`${alertBox(problem)}${problem.status === 401 && !me ? html`<p><a class="button" href=${signInAddress()}>${t("signin")}</a></p>` : nothing}` : nothing}
    ${queue.length ? html`<ol class="stubs">${queue.map(queued)}</ol>` : html`<p class="empty">${t("queue.empty")}</p>`}
    ${queue.length > 1 ? html`<p><button @click=${() => cancel("/api/notify")}>${t("queue.cancelall")}</button></p>` : nothing}
    <h2>${t("queue.recent")}</h2>
    ${recent.length ? html`<ul class="ledger">${recent.map((a) => html`<li><span class="tag ${a.status}">${label("status", a.status)}</span>
      <span class="quote">${a.message}</span> <small>${a.error ?? formatTime(a.created_at)}</small></li>`)}</ul>` : html`<p class="empty">${t("queue.norecent")}</p>`}
  </section>`;

  return {
    title: () => t("say.title"),
    render: () => html`<div class="columns">${form()}${list()}</div>`,
    close: () => {
      stream?.close();
      stopPreview();
      void audio?.close();
    },
  };
}

/** Returns the names by which voices are selected; each speaker of a voice has its own. @param {Voice[]} voices */
const names = (voices) => voices.flatMap((v) => (Array.isArray(v.speakers) && v.speakers.length ? v.speakers.map((s) => `${v.name}#${s}`) : [v.name]));
