// Favorites, which are announced by a press, and schedules.
import { html, nothing } from "./lit-html.js";
import { reason, text, brief } from "./announcements.shared.js";
import {
  t, api, when, timeZone, weekdays, dayName, parseCron, alertBox, requests, refocus, language, listed, url, leaf,
} from "./ui.js";

/** @typedef {import("./announcements.shared.js").Shared} Shared */
/** @typedef {import("./announcements.shared.js").Voices} Voices */

// ---- favorites

/** @typedef {Content & { id?: string, name?: string }} Favorite */

/**
 * @param {Shared} shared
 * @param {Voices} voices
 * @param {(f: Favorite) => Promise<unknown>} say
 */
export function favoriteList(shared, voices, say) {
  const requested = requests(shared.update);
  /** @type {Favorite[] | null} */ let all = null;
  /** @param {{ favorites?: Favorite[] }} list without favorites after a change */
  const receive = (list) =>
    requested.run(async () => {
      all = list.favorites ?? (await api("GET", "/api/favorites")).favorites;
    });
  /** Changes the list that the server has now. @param {(list: Favorite[]) => Favorite[]} edit */
  const change = (edit) =>
    requested.run(async () => {
      const list = await api("GET", "/api/favorites");
      await receive(await api("PUT", "/api/favorites", { favorites: edit(list.favorites) }));
      return true;
    });
  /** @param {Favorite} f */
  const remove = async (f) => {
    if (!confirm(t("favorites.sure", { message: brief(f) }))) return;
    await change((list) => list.filter((other) => other.id !== f.id));
    refocus("favorites-title");
  };
  return {
    receive,
    any: () => Boolean(all?.length),
    /** @param {Content} content */ add: (content) => change((list) => [...list, content]),
    render: () =>
      leaf("favorites-title", t("favorites.title"), html`${alertBox(requested.problem)}
        ${listed(all, t("favorites.none"), (all) =>
          html`<ul class="favorites">
              ${all.map(
                (f) =>
                  html`<li>
                    <button
                      class=${f.urgent ? "speak danger" : "speak"}
                      @click=${() => say(f)}
                      aria-label=${t(
                        f.urgent ? "favorites.urgentlabel" : "favorites.saylabel",
                        { message: brief(f) },
                      )}
                    >
                      ${text(f)}
                    </button>
                    <button
                      class="remove"
                      ?disabled=${!shared.may}
                      aria-describedby=${shared.may ? nothing : "why-favorites"}
                      @click=${() => remove(f)}
                      aria-label=${t("favorites.removelabel", { message: brief(f) })}
                    >
                      ×
                    </button>
                    ${voices.warning(f)}
                  </li>`,
              )}
            </ul>`)}
        ${all?.length ? reason(shared, "favorites") : nothing}`),
  };
}

// ---- schedules

/** Returns a schedule's weekdays and time in words, or its cron expression. @param {Schedule} s */
function times(s) {
  const found = parseCron(s.cron);
  if (!found) return html`<code>${s.cron}</code>`;
  const days = weekdays.filter((d) => found.days.has(d));
  const time = new Date(2023, 0, 1, found.hour, found.minute);
  const key = { 1234560: "schedule.daily", 12345: "schedule.weekdays", 60: "schedule.weekends" }[days.join("")];
  return t("schedule.times", {
    days: key ? t(/** @type {any} */ (key)) : days.map((d) => dayName(d, "short")).join(", "),
    time: time.toLocaleTimeString(language, { timeStyle: "short" }),
  });
}

/**
 * @param {Shared} shared
 * @param {Voices} voices
 * @param {ReturnType<typeof import("./announcements.loudspeaker.js").loudspeaker>} speaker
 * @param {(s: Schedule) => unknown} edit
 */
export function schedules(shared, voices, speaker, edit) {
  const requested = requests(shared.update);
  const why = shared.may ? nothing : "why-schedules";
  /** @type {Schedule[] | null} */ let all = null;
  /** @param {{ schedules?: Schedule[] }} list without schedules after a change */
  const receive = (list) =>
    requested.run(async () => {
      all = list.schedules ?? (await api("GET", "/api/schedules")).schedules;
    });
  /** @param {Schedule} s */
  const address = (s) => url`/api/schedules/${s.id}`;
  /** @param {Schedule} s */
  const turn = (s) =>
    requested.run(async () => {
      const { id, next_at, skip_at, ...plan } = s;
      await api("PUT", address(s), { ...plan, enabled: !s.enabled });
      await receive({});
    });
  /** Leaves out the next time, or restores it. @param {Schedule} s */
  const skip = (s) =>
    requested.run(async () => {
      await api(s.skip_at ? "DELETE" : "POST", `${address(s)}/skip`);
      await receive({});
    });
  /** Returns when it is announced next, and whether it is heard then. @param {Schedule} s */
  const next = (s) =>
    [
      !s.enabled ? t("off") : s.next_at ? t("schedule.next", { when: when(s.next_at) }) : t("schedule.never"),
      s.skip_at && t("schedule.skips", { when: when(s.skip_at) }),
      s.enabled && s.next_at && !s.urgent && speaker.quietAt(s.next_at),
      s.name !== s.message && s.name,
    ]
      .filter(Boolean)
      .join(" · ");
  /** @param {Schedule} s */
  const remove = (s) =>
    requested.run(async () => {
      if (!confirm(t("schedule.sure", { name: s.name }))) return;
      await api("DELETE", address(s));
      await receive({});
      refocus("schedules-title");
    });
  /**
   * @param {Schedule} s
   * @param {"edit" | "remove" | "schedule.skip" | "schedule.restore"} verb
   * @param {() => unknown} act
   */
  const press = (s, verb, act) =>
    html`<button
      ?disabled=${!shared.may}
      aria-describedby=${why}
      aria-label=${`${t(verb)}: ${s.name}`}
      @click=${act}
    >
      ${t(verb)}
    </button>`;
  /** @param {Schedule} s */
  const stub = (s) =>
    html`<li class=${s.enabled ? "" : "off"}>
      <div>
        <strong>${times(s)}</strong>
        ${s.time_zone && s.time_zone !== timeZone ? html` <small>${s.time_zone}</small>` : nothing}
        <p class="quote">${text(s)}</p>
        <small>${next(s)}</small>
        ${voices.warning(s)}
      </div>
      <div class="row">
        <label class="check">
          <input
            type="checkbox"
            .checked=${s.enabled}
            ?disabled=${!shared.may}
            aria-describedby=${why}
            aria-label=${t("schedule.onlabel", { name: s.name })}
            @change=${() => turn(s)}
          />
          ${t("on")}
        </label>
        ${s.skip_at || (s.enabled && s.next_at)
          ? press(s, s.skip_at ? "schedule.restore" : "schedule.skip", () => skip(s))
          : nothing}
        ${press(s, "edit", () => edit(s))} ${press(s, "remove", () => remove(s))}
      </div>
    </li>`;
  return {
    receive,
    /**
     * Creates a schedule, or replaces one.
     * @param {string | undefined} id
     * @param {Omit<Schedule, "id">} plan
     * @returns {Promise<Schedule>}
     */
    async save(id, plan) {
      const s = await (id ? api("PUT", url`/api/schedules/${id}`, plan) : api("POST", "/api/schedules", plan));
      await receive({});
      return s;
    },
    render: () =>
      leaf("schedules-title", t("schedule.title"), html`${alertBox(requested.problem)}
        ${listed(all, t("schedule.none"), (all) =>
          html`<ul class="stubs" id="schedules">
              ${all.map(stub)}
            </ul>`)}
        ${all?.length ? reason(shared, "schedules") : nothing}`),
  };
}
