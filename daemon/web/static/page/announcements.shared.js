// What the sections of the announcements page share: the voices, the texts, and who may do what.
import { html, nothing } from "./lit-html.js";
import { t, label, api, signInAddress } from "./ui.js";

/**
 * What all sections of the page use; "may" allows what CONTROL_ACCESS guards.
 * @typedef {{ update: () => Promise<void>, may: boolean, me: Account | null }} Shared
 */

/** @typedef {ReturnType<typeof voiceList>} Voices */

/** The statuses of announcements that are over. */
export const ended = ["done", "failed", "cancelled", "expired", "unheard", "silenced"];

/**
 * Renders why the controls of a section are disabled, if they are.
 * @param {Shared} shared
 * @param {"say" | "favorites" | "speaker" | "schedules"} section
 */
export const reason = ({ may, me }, section) =>
  may
    ? nothing
    : html`<p class="hint" id=${`why-${section}`}>
        ${t(`control.${section}`)} ${me ? nothing : html`<a href=${signInAddress()}>${t("signin")}</a>`}
      </p>`;

/** @param {() => void} update */
export function voiceList(update) {
  /**
   * The label of each name by which a voice is selected; each speaker of a voice has its own.
   * @type {Map<string, string>}
   */
  const labels = new Map();
  const state = {
    labels,
    loaded: false,
    /** @param {string} name */ label: (name) => labels.get(name) ?? name,
    /** Reports whether the voice of a text was removed; the default voice speaks it. @param {Content} c */
    missing: ({ voice }) => state.loaded && Boolean(voice) && !labels.has(voice ?? ""),
    /** @param {Content} c */
    warning: (c) =>
      state.missing(c) ? html`<small class="hint">${t("voice.missing", { voice: c.voice ?? "" })}</small>` : nothing,
  };
  void api("GET", "/voices").then(
    (list) => {
      for (const v of /** @type {Voice[]} */ (list.voices).filter((v) => !v.error)) {
        const voice = v.label ?? v.name;
        if (v.speakers?.length)
          for (const s of v.speakers) labels.set(`${v.name}#${s}`, t("voice.speaker", { voice, speaker: s }));
        else labels.set(v.name, voice);
      }
      state.loaded = true;
      update();
    },
    () => undefined,
  );
  return state;
}

/** Returns what an announcement says. @param {{ title?: string, message?: string, sound?: string }} a */
export const text = ({ title, message, sound }) =>
  [title, message || (sound && label("say.sound", sound, label("say.chime", sound)))].filter(Boolean).join(": ") ||
  t("queue.notext");
/** @param {{ title?: string, message?: string, sound?: string }} a */
export const brief = (a) => text(a).slice(0, 60);
