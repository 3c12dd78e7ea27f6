// The announcements that are spoken, wait, are scheduled or have ended.
import { html, nothing } from "./lit-html.js";
import { text, brief, ended } from "./announcements.shared.js";
import { t, label, api, formatTime, when, alertBox, requests, refocus, readOut, signInAddress, leaf } from "./ui.js";

const maxRecent = 12;

/** @typedef {import("./announcements.shared.js").Shared} Shared */
/** @typedef {import("./announcements.shared.js").Voices} Voices */

/**
 * @param {Shared} shared
 * @param {{
 *   voices: Voices,
 *   speaker: ReturnType<typeof import("./announcements.loudspeaker.js").loudspeaker>,
 *   ended: (id: string) => void,
 * }} page
 */
export function onAir({ update, me }, { voices, speaker, ended: forget }) {
  /** @type {Map<string, Announcement>} */ const all = new Map();
  const requested = requests(update);
  let online = false;
  const inQueue = () =>
    [...all.values()].filter((a) => a.position !== undefined).sort((x, y) => (x.position ?? 0) - (y.position ?? 0));
  const inSchedule = () =>
    [...all.values()]
      .filter((a) => a.status === "scheduled")
      .sort((x, y) => ((x.speaks_at ?? "~") < (y.speaks_at ?? "~") ? -1 : 1));
  const inRecent = () =>
    [...all.values()]
      .filter((a) => ended.includes(a.status))
      .sort((x, y) => ((y.ended_at ?? "") < (x.ended_at ?? "") ? -1 : 1));

  /** @param {Announcement} a */
  const receive = (a) => {
    all.set(a.id, a);
    if (a.status === "playing") readOut(t("queue.playing", { message: a.message }));
    if (ended.includes(a.status)) forget(a.id);
    for (const old of inRecent().slice(maxRecent)) all.delete(old.id);
  };
  /**
   * Receives a response, which may arrive after later events, and returns the announcement as it is now.
   * @param {Announcement} a
   */
  const answer = (a) => {
    if (!all.has(a.id) || ended.includes(a.status)) receive(a);
    return all.get(a.id) ?? a;
  };
  const load = () =>
    requested.run(async () => {
      const list = await api("GET", "/api/notify");
      for (const a of [...list.queue, ...list.scheduled, ...list.recent.slice(0, maxRecent)]) all.set(a.id, a);
      return true;
    });
  /**
   * @param {"POST" | "DELETE"} method
   * @param {string} path
   * @param {string} heading that gets the focus if the button is gone
   */
  const act = (method, path, heading = "queue-title") =>
    requested.run(async () => {
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
    if (a.status === "unheard") return t("note.unheard");
    if (a.status === "silenced") return t(a.quiet ? "note.quiet" : a.priority === 1 ? "note.listed" : "note.muted");
    if (a.status === "scheduled") {
      const at = a.speaks_at ?? a.at;
      return !at
        ? ""
        : a.repeat?.spoken
          ? t("note.again", { when: when(at), n: a.repeat.spoken, of: a.repeat.times })
          : t(a.quiet ? "note.held" : "note.at", { when: when(at) });
    }
    if (ended.includes(a.status) || a.urgent) return "";
    return speaker.muted() ? t("note.mute") : a.quiet ? label("note.quiet", speaker.mode()) : "";
  };
  /** @param {Announcement} a */
  const from = ({ sender }) =>
    sender ? t(/** @type {any} */ (`sender.${sender.kind}`), sender.name ? { name: sender.name } : {}) : "";
  /** @param {Announcement} a @param {unknown} buttons */
  const stub = (a, buttons) =>
    html`<li class=${`stub ${a.urgent ? "urgent" : ""}`}>
      <div>
        <span class="tag ${a.status}">${label("status", a.status)}</span>
        ${a.urgent ? html` <span class="tag hot">${t("say.urgenttag")}</span>` : nothing} <small>${note(a)}</small>
        <p class="quote">${text(a)}</p>
        <small>${[from(a), voices.label(a.voice ?? ""), formatTime(a.created_at)].filter(Boolean).join(" · ")}</small>
      </div>
      <div class="row">
        ${a.repeat && !a.repeat.acknowledged
          ? html`<button
              @click=${() => act("POST", path(a, "/ack"))}
              aria-label=${t("queue.acklabel", { message: brief(a) })}
            >
              ${t("queue.ack")}
            </button>`
          : nothing}
        ${buttons}
      </div>
    </li>`;
  /** @param {Announcement} a */
  const cancel = (a) =>
    html`<button aria-label=${t("queue.cancellabel", { message: brief(a) })} @click=${() => act("DELETE", path(a))}>
      ${t("cancel")}
    </button>`;
  /** @param {Announcement} a */
  const halt = (a) =>
    html`<button aria-label=${t("queue.stoplabel", { message: brief(a) })} aria-keyshortcuts="Escape s" @click=${stop}>
        ${t("queue.stop")}
      </button>
      <span class="keys"><kbd>Esc</kbd> <kbd>S</kbd></span>`;

  const render = () => {
    const queue = inQueue();
    const scheduled = inSchedule();
    return html`<section class="leaf" aria-labelledby="queue-title">
      <div class="row spread">
        <h2 id="queue-title" tabindex="-1">${t("queue.title")}</h2>
        <span class="link-state ${online ? "on" : "off"}">${online ? t("link.live") : t("live.off")}</span>
      </div>
      ${alertBox(requested.problem)}
      ${requested.problem?.status === 401 && !me
        ? html`<p><a class="button" href=${signInAddress()}>${t("signin")}</a></p>`
        : nothing}
      ${queue.length
        ? html`<ol class="stubs" id="queue">
            ${queue.map((a) => stub(a, a.position === 0 ? halt(a) : cancel(a)))}
          </ol>`
        : html`<p class="empty">${t("queue.empty")}</p>`}
      ${queue.length > 1
        ? html`<p><button @click=${() => act("DELETE", "/api/notify")}>${t("queue.cancelall")}</button></p>`
        : nothing}
      ${scheduled.length
        ? html`<h2>${t("queue.scheduled")}</h2>
            <ol class="stubs" id="scheduled">
              ${scheduled.map((a) => stub(a, cancel(a)))}
            </ol>`
        : nothing}
    </section>`;
  };
  const recent = () => {
    const list = inRecent();
    return leaf("recent-title", t("queue.recent"), html`${list.length
        ? html`<ul class="ledger" id="recent">
            ${list.map(
              (a) =>
                html`<li class="spread">
                  <div>
                    <span class="tag ${a.status}">${label("status", a.status)}</span>
                    <span class="quote">${text(a)}</span><br /><small>
                      ${[note(a), from(a), formatTime(a.created_at)].filter(Boolean).join(" · ")}
                    </small>
                  </div>
                  ${a.message || (a.sound && !a.seconds)
                    ? html`<button
                        @click=${() => again(a)}
                        aria-label=${t("queue.againlabel", { message: brief(a) })}
                      >
                        ${t("queue.again")}
                      </button>`
                    : nothing}
                </li>`,
            )}
          </ul>`
        : html`<p class="empty">${t("queue.norecent")}</p>`}`);
  };
  return {
    load,
    receive,
    answer,
    stop,
    render,
    recent,
    online: (/** @type {boolean} */ now) => {
      online = now;
      update();
    },
  };
}
