// The loudspeaker: its volume, mute and do not disturb.
import { html, nothing } from "./lit-html.js";
import { reason } from "./announcements.shared.js";
import { t, label, api, when, nextTime, alertBox, loading, requests, refocus, leaf, valued } from "./ui.js";

const morning = 7; // o’clock
const volumeDelay = 300; // ms from the last change of the slider to its request
const places = 10; // of the slider, heard as equal steps: the volume, a percentage of the amplitude, is their square

/** @typedef {import("./announcements.shared.js").Shared} Shared */

/** @param {Shared} shared */
export function loudspeaker(shared) {
  const { update, may } = shared;
  const requested = requests(update);
  const why = may ? nothing : "why-speaker";
  /** @type {Volume | null} */ let volume = null;
  /** @type {Quiet | null} */ let quiet = null;
  /** @type {number | null} */ let chosen = null; // on the slider, until the server has it
  let until = "22:00";
  let timer = 0;
  const setVolume = (/** @type {Volume} */ v) => {
    volume = v;
  };
  const setQuiet = (/** @type {Quiet} */ q) => {
    quiet = q;
  };
  /** @param {Partial<Volume>} change */
  const putVolume = (change) => requested.run(async () => setVolume(await api("PUT", "/api/volume", change)));
  const slide = valued((value) => {
    const level = (chosen = Number(value) ** 2);
    clearTimeout(timer);
    timer = setTimeout(async () => {
      await putVolume({ volume: level });
      if (chosen === level) chosen = null;
      update();
    }, volumeDelay);
    update();
  });
  /** @param {{ for: number } | { until: string }} period */
  const disturbNot = (period) => requested.run(async () => setQuiet(await api("PUT", "/api/quiet", period)));
  const disturb = () =>
    requested.run(async () => {
      await api("DELETE", "/api/quiet");
      setQuiet(await api("GET", "/api/quiet"));
      refocus("speaker-title");
    });
  /** @param {Quiet} q */
  const applies = (q) =>
    q.active
      ? html`<strong>${q.until ? t("quiet.until", { when: when(q.until) }) : t("on")}</strong>
          (${label("quiet.reason", q.reason)}). ${label("quiet.mode", q.mode)}`
      : html`<strong>${t("off")}</strong>`;
  const level = () => chosen ?? volume?.volume ?? 0;
  return {
    setVolume,
    setQuiet,
    close: () => clearTimeout(timer),
    mode: () => quiet?.mode,
    /** Returns what becomes of an announcement if do not disturb is on at its time, otherwise "". @param {string} at */
    quietAt: (at) =>
      quiet?.active && (!quiet.until || new Date(at) < new Date(quiet.until))
        ? `${t("quiet.title")}: ${label("quiet.mode", quiet.mode)}`
        : "",
    muted: () => volume?.muted,
    warning: () =>
      volume?.muted
        ? html`<p class="hint">${t("volume.warning")}</p>`
        : quiet?.active
          ? html`<p class="hint">${t("quiet.title")}: ${applies(quiet)}</p>`
          : nothing,
    render: () =>
      leaf("speaker-title", t("speaker.title"), html`${alertBox(requested.problem)}
        ${!volume
          ? loading()
          : html`<label for="volume">
                ${t("volume.label")}:
                <output for="volume" id="level">
                  ${volume.muted ? t("volume.mutedat", { n: level() }) : t("volume.percent", { n: level() })}
                </output>
              </label>
              <div class="volume">
                <input
                  id="volume"
                  type="range"
                  min="0"
                  max=${places}
                  ?disabled=${!may}
                  aria-describedby=${why}
                  .value=${String(Math.round(Math.sqrt(level())))}
                  aria-valuetext=${t("volume.percent", { n: level() })}
                  @input=${slide}
                />
                <button
                  aria-pressed=${volume.muted}
                  ?disabled=${!may}
                  aria-describedby=${why}
                  @click=${() => putVolume({ muted: !volume?.muted })}
                >
                  ${t("volume.mute")}
                </button>
              </div>`}
        ${!quiet
          ? nothing
          : html`<h3>${t("quiet.title")}</h3>
              <p id="quiet">${applies(quiet)}</p>
              <div class="row">
                ${quiet.active
                  ? html`<button class="primary" ?disabled=${!may} aria-describedby=${why} @click=${disturb}>
                      ${t("quiet.end")}
                    </button>`
                  : nothing}
                <button ?disabled=${!may} aria-describedby=${why} @click=${() => disturbNot({ for: 3600 })}>
                  ${t("quiet.hour")}
                </button>
                <button
                  ?disabled=${!may}
                  aria-describedby=${why}
                  @click=${() => disturbNot({ until: nextTime(morning, 0) })}
                >
                  ${t("quiet.morning")}
                </button>
                <span class="inline">
                  <button
                    ?disabled=${!may}
                    aria-describedby=${why}
                    @click=${() => {
                      const [h, m] = until.split(":").map(Number);
                      void disturbNot({ until: nextTime(h, m) });
                    }}
                  >
                    ${t("quiet.to")}
                  </button>
                  <input
                    type="time"
                    ?disabled=${!may}
                    aria-describedby=${why}
                    aria-label=${t("quiet.tolabel")}
                    .value=${until}
                    @input=${valued((value) => {
                      if (value) until = value;
                    })}
                /></span>
              </div>`}
        ${reason(shared, "speaker")}`),
  };
}
