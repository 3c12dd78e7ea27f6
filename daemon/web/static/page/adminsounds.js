// The part of the administration with the sounds that announcements can name: played, added and removed.
import { html } from "./lit-html.js";
import {
  t, label, api, alertBox, imported, leaf, listed, number, Problem, readOut, refocus, submitted, url,
} from "./ui.js";

/** @typedef {Api["Sound"]} Sound */

/** @param {AdminShared} shared */
export function sounds({ gate, update }) {
  /** @type {Sound[] | null} */ let all = null;
  /** @type {import("./speech.js").Player | null} */ let player = null;
  let heard = ""; // the sound that is played
  let added = "";
  /** @type {Problem | null} */ let unreadable = null;
  const load = () =>
    gate.run(async () => {
      all = (await api("GET", "/api/sounds")).sounds;
    });
  void load();
  /** @param {string} name */
  const play = async (name) => {
    const { newPlayer } = await imported(import("./speech.js"));
    const { samplesOf } = await imported(import("./recorder.js"));
    const again = heard === name && Boolean(player?.state);
    player ??= newPlayer(update, gate.run);
    player.stop();
    heard = name;
    if (again) return;
    await player.toggle(async () =>
      samplesOf(await (await api("GET", url`/api/sounds/${name}`, undefined, { raw: true })).arrayBuffer()),
    );
  };
  /** @param {string} name */
  const remove = async (name) => {
    if (!confirm(t("admin.sound.sure", { name }))) return;
    await gate.run(() => api("DELETE", url`/api/sounds/${name}`));
    await load();
    refocus("sounds-title");
  };
  const add = submitted(async (fields, form) => {
    const { toWav } = await imported(import("./recorder.js"));
    added = "";
    try {
      unreadable = null;
      const wav = await toWav(/** @type {File} */ (fields.get("file")));
      const made = await gate.run(() => api("PUT", url`/api/sounds/${String(fields.get("name"))}`, wav));
      if (!made) return;
      form.reset();
      readOut((added = t("admin.sound.added", { name: made.name })));
      await load();
    } catch {
      unreadable = new Problem(422, { code: "page", detail: t("say.file.bad") });
    }
    await update();
  });
  /** @param {Sound} s */
  const stub = (s) =>
    html`<li>
      <div>
        <strong>${label("say.chime", s.name)}</strong>
        <small>${s.name} · ${t("say.seconds", { n: number(s.seconds, { maximumFractionDigits: 1 }) })}</small>
      </div>
      <div class="row">
        <button @click=${() => play(s.name)} aria-pressed=${heard === s.name && Boolean(player?.state)}>
          ${t("say.play")}<span class="unseen"> ${s.name}</span>
        </button>
        ${s.built_in
          ? html`<span class="tag">${t("admin.sound.builtin")}</span>`
          : html`<button class="danger" @click=${() => remove(s.name)} aria-label=${`${t("remove")}: ${s.name}`}>
              ${t("remove")}
            </button>`}
      </div>
    </li>`;
  return {
    render: () =>
      html`${leaf("sounds-title", t("admin.part.sounds"), html`<p>${t("admin.sounds.text")}</p>
          ${listed(all, "", (all) => html`<ul class="stubs" id="sounds">${all.map(stub)}</ul>`)}`)}
        ${leaf("sound-add-title", t("admin.sound.add"), html`<form @submit=${add} aria-labelledby="sound-add-title">
            <label for="sound-name">${t("admin.sound.name")}</label>
            <input
              id="sound-name"
              name="name"
              required
              maxlength="64"
              pattern="[a-z0-9\\-]+"
              autocapitalize="none"
              spellcheck="false"
              aria-describedby="sound-name-hint"
            />
            <p class="hint" id="sound-name-hint">${t("admin.sound.namehint")}</p>
            <label for="sound-file">${t("say.file")}</label>
            <input id="sound-file" name="file" type="file" accept="audio/*" required />
            ${alertBox(unreadable)}
            <p class="row">
              <button class="primary">${t("admin.sound.add")}</button>
              <span role="status" class="good-inline">${added}</span>
            </p>
          </form>`)}`,
    close: () => player?.close(),
  };
}
