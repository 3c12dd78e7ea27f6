// The announcements page, and what the administration shows of it.
import { html, nothing } from "./lit-html.js";
import { voiceList } from "./announcements.shared.js";
import { form } from "./announcements.form.js";
import { onAir } from "./announcements.onair.js";
import { favoriteList, schedules } from "./announcements.plans.js";
import { loudspeaker } from "./announcements.loudspeaker.js";
import { openStream } from "./streams.js";
import { t, meta, url, answered } from "./ui.js";

/** @typedef {import("./announcements.shared.js").Shared} Shared */

/**
 * Follows the server’s events.
 * @param {Shared} shared
 * @param {Record<string, (data: any) => unknown>} receivers by type
 * @param {(online: boolean) => void} [online]
 */
const follow = ({ me, update }, receivers, online = () => {}) =>
  openStream("/api/events?controls=true", {
    account: me?.id,
    kept: Object.keys(receivers),
    state: (state) => {
      if (state === "open") answered();
      online(state === "open");
    },
    on: Object.fromEntries(
      Object.entries(receivers).map(([name, receive]) => [
        name,
        (data) => {
          answered();
          void receive(data);
          update();
        },
      ]),
    ),
  });

/**
 * @param {Shared} shared
 * @param {boolean} [planning] the form is for schedules and favorites in the first place
 */
function sections(shared, planning = false) {
  const voices = voiceList(shared.update);
  const speaker = loudspeaker(shared);
  const plans = schedules(shared, voices, speaker, (s) => create.edit(s));
  const favorites = favoriteList(shared, voices, (f) => create.send(url`/api/favorites/${f.id ?? ""}/announce`, {}));
  const air = onAir(shared, { voices, speaker, ended: (id) => create.forget(id) });
  const create = form(shared, { voices, speaker, air, favorites, plans, planning });
  /** @type {{ close: () => void } | null} */ let stream = null;
  return {
    speaker,
    plans,
    favorites,
    air,
    create,
    follow() {
      stream = follow(
        shared,
        {
          announcement: air.receive,
          volume: speaker.setVolume,
          quiet: speaker.setQuiet,
          favorites: favorites.receive,
          schedules: plans.receive,
        },
        air.online,
      );
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
  const shared = { update, me, may: true };
  const speaker = loudspeaker(shared);
  const stream = follow(shared, { volume: speaker.setVolume, quiet: speaker.setQuiet });
  return {
    render: speaker.render,
    close: () => {
      stream.close();
      speaker.close();
    },
  };
}

/**
 * Schedules and favorites, and the form that makes them: a part of the administration.
 * @param {AdminShared} shared
 * @returns {AdminPart}
 */
export function planned({ update, me }) {
  const { create, favorites, plans, follow, close } = sections({ update, me, may: true }, true);
  follow();
  return {
    render: () =>
      html`<div class="desk">
        <div>${create.render()}</div>
        <div>${plans.render()}${favorites.render()}</div>
      </div>`,
    close,
  };
}

/** @type {Page} */
export function announcements({ update, me }) {
  const { create, favorites, air, speaker, plans, follow, close } = sections({
    update,
    me,
    may: me?.admin === true || meta("control") === "lan",
  });
  /** Stops what is being spoken, on the loudspeaker and here. @param {KeyboardEvent} e */
  const key = (e) => {
    if (e.repeat || e.ctrlKey || e.metaKey || e.altKey || !["Escape", "s", "S"].includes(e.key)) return;
    if (/** @type {Element} */ (e.target).closest("input, select, textarea")) return;
    create.stopPreview();
    void air.stop();
  };
  document.addEventListener("keydown", key);
  void air.load().then((loaded) => {
    if (loaded) follow();
  });

  return {
    title: () => t("say.title"),
    render: () =>
      html`<div class="desk">
        <div>
          ${favorites.any() ? favorites.render() : nothing} ${create.render()}
          ${favorites.any() ? nothing : favorites.render()}
        </div>
        <div>${air.render()}${speaker.render()}${air.recent()}</div>
        <div>${plans.render()}</div>
      </div>`,
    close: () => {
      document.removeEventListener("keydown", key);
      close();
    },
  };
}
