// Administration: its frame, the passphrase that it asks for again, and the
// parts sound, rooms, health, log and backup. The others are in adminaccess.js,
// adminsounds.js and announcements.js, which are loaded when they are opened.
import { html, nothing } from "./lit-html.js";
import {
  t, label, api, number, megabytes, formatTime, signInAddress, alertBox, command, loading, problemOf, readOut,
  language, imported, listed, url, leaf, valued, submitted,
} from "./ui.js";

const access = () => import("./adminaccess.js");
const sounding = () => import("./adminsounds.js");
const announcing = () => import("./announcements.js");

/**
 * The parts by the parameter "part" of the address.
 * @type {Record<string, () => Promise<Part>>}
 */
const parts = {
  sound: async () => sound((await announcing()).controls),
  planned: async () => (await announcing()).planned,
  voices: async () => (await access()).voices,
  sounds: async () => (await sounding()).sounds,
  people: async () => (await access()).people,
  tokens: async () => (await access()).tokens,
  rooms: async () => rooms,
  health: async () => health,
  log: async () => log,
  backup: async () => backup,
};

/** @type {Page} */
export function admin({ query, me, update }) {
  const name = query.get("part") ?? "sound";
  const open = Object.hasOwn(parts, name) ? name : "sound";
  if (!me?.admin) return stranger(me, update);
  const gate = gatekeeper(me, update);
  /** @type {AdminPart | null} */ let part = null;
  let closed = false;
  void gate.run(async () => {
    const create = await imported(parts[open]());
    if (!closed) part = create({ me, update, gate });
  });
  return {
    title: () => `${label("admin.part", open)} · ${t("admin.title")}`,
    render: () =>
      html`<div class="admin">
        <div class="leaf">
          <p class="kicker">${t("admin.kicker")}</p>
          <h1>${t("admin.title")}</h1>
          <nav class="parts" aria-label=${t("admin.parts")}>
            ${Object.keys(parts).map(
              (p) =>
                html`<a
                  href=${p === "sound" ? "/admin" : `/admin?part=${p}`}
                  aria-current=${p === open ? "page" : nothing}
                >
                  ${label("admin.part", p)}
                </a>`,
            )}
          </nav>
        </div>
        ${gate.render()}${part?.render() ?? loading()}
      </div>`,
    close: () => {
      closed = true;
      part?.close?.();
    },
  };
}

/**
 * Shows how to make an account an administrator.
 * @param {Account | null} me
 * @param {() => Promise<void>} update
 * @returns {View}
 */
function stranger(me, update) {
  let exists = true;
  if (me)
    void api("GET", "/api/admin").then(
      (who) => {
        exists = who.exists;
        void update();
      },
      () => undefined,
    );
  return {
    title: () => t("admin.title"),
    render: () =>
      html`<section class="leaf narrow" id="stranger">
        <h1>${t("admin.title")}</h1>
        <p>${t(!me ? "admin.signin" : exists ? "admin.notyou" : "admin.leaderless")}</p>
        ${me ? nothing : html`<p><a class="button primary" href=${signInAddress()}>${t("signin")}</a></p>`}
        <p>${t("admin.become")}</p>
        ${command(`sudo pressbox users admin ${me ? quoted(me.name) : t("admin.name")}`)}
        <p class="hint">${t("admin.reload")}</p>
      </section>`,
  };
}

/** Returns a word as a shell reads it. @param {string} word */
const quoted = (word) => (/^[\w.-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/**
 * Returns an object that runs requests. When one needs the passphrase again, it
 * shows the form, and repeats the request afterwards.
 * @param {Account} me @param {() => Promise<void>} update
 */
export function gatekeeper(me, update) {
  /** @type {(() => Promise<unknown>) | null} */ let held = null;
  /** @type {Problem | null} */ let wrong = null;
  /** @type {AdminGate} */ const gate = {
    problem: null,
    /**
     * Returns what send returns, undefined if it fails or waits for the passphrase.
     * @template T
     * @param {() => Promise<T>} send
     * @returns {Promise<T | undefined>}
     */
    async run(send) {
      try {
        const result = await send();
        gate.problem = null;
        return result;
      } catch (err) {
        const problem = problemOf(err);
        if (problem.code === "reauthentication_required") {
          held = send;
          void update().then(() => document.getElementById("again")?.focus());
        } else gate.problem = problem;
        return undefined;
      } finally {
        void update();
      }
    },
    render: () => html`${held ? form() : nothing}${alertBox(gate.problem)}`,
  };
  const enter = submitted(async (fields) => {
    try {
      await api("POST", "/api/auth/reauthenticate", { passphrase: fields.get("passphrase") });
    } catch (err) {
      wrong = problemOf(err);
      return update();
    }
    const send = /** @type {() => Promise<unknown>} */ (held);
    held = wrong = null;
    return gate.run(send);
  });
  const form = () =>
    html`<section class="leaf narrow" aria-labelledby="again-title">
      <h2 id="again-title">${t("admin.again")}</h2>
      ${me.provider !== "local"
        ? html`<p>${t("admin.again.provider")}</p>
            <p><a id="again" class="button primary" href=${signInAddress()}>${t("callback.again")}</a></p>`
        : html`<form class="fields" @submit=${enter}>
            <p>${t("admin.again.text")}</p>
            ${alertBox(wrong)}
            <input type="text" name="username" autocomplete="username" .value=${me.name} hidden />
            <label>
              ${t("passphrase.current")}
              <input id="again" name="passphrase" type="password" autocomplete="current-password" required
            /></label>
            <p><button class="primary">${t("admin.again.go")}</button></p>
          </form>`}
    </section>`;
  return gate;
}

// ---- sound

/** Matches quiet hours that are the same each day, also while they are entered. */
const everyDay = /^(\d\d:\d\d)?-?(\d\d:\d\d)?$/;
const chimes = ["none", "ding", "ding-dong", "alert", "alarm"];
const modes = ["silence", "hold", "soft"];

/**
 * The loudspeaker as it is now, and the settings of how announcements sound.
 * @param {Part} controls @returns {Part}
 */
const sound = (controls) => (shared) => {
  const { update, gate } = shared;
  const now = controls(shared);
  /** @type {Map<string, Api["Setting"]> | null} */ let all = null;
  /** What was changed and not saved. @type {Record<string, string>} */ let draft = {};
  let saved = "";
  /** @param {Api["SettingList"]} list */
  const receive = ({ settings }) => {
    all = new Map(settings.map((s) => [s.name, s]));
  };
  void gate.run(async () => {
    receive(await api("GET", "/api/admin/settings"));
  });
  /** @param {Record<string, string | null>} change */
  const patch = (change) =>
    gate.run(async () => {
      receive(await api("PATCH", "/api/admin/settings", change));
      for (const name of Object.keys(change)) delete draft[name];
      readOut((saved = t("admin.saved")));
    });
  /** @param {string} name */
  const value = (name) => draft[name] ?? all?.get(name)?.value ?? "";
  /** @param {string} name @param {string} text */
  const set = (name, text) => {
    if (text === all?.get(name)?.value) delete draft[name];
    else draft[name] = text;
    saved = "";
    void update();
  };
  /** Renders where a value is from, and how to reset it. @param {string} name */
  const origin = (name) => {
    const s = all?.get(name);
    if (!s || s.origin === "default") return nothing;
    if (s.fixed) return html`<small class="hint">${t("admin.fixed", { origin: label("origin", s.origin) })}</small>`;
    return s.origin !== "page"
      ? html`<small class="hint">${t("admin.from", { origin: s.origin })}</small>`
      : html`<small class="hint">
          ${t("admin.here")}
          <button
            type="button"
            class="reset"
            aria-label=${t("admin.resetlabel", { name: label("setting", name) })}
            @click=${() => patch({ [name]: null })}
          >
            ${t("admin.reset")}
          </button>
        </small>`;
  };
  const fixed = (/** @type {string} */ name) => all?.get(name)?.fixed === true;
  /** @param {string} name @param {number} min @param {number} max */
  const amount = (name, min, max) =>
    html`<div>
      <label for=${name}>${label("setting", name)}</label>
      <input
        id=${name}
        type="number"
        min=${min}
        max=${max}
        step="5"
        required
        ?disabled=${fixed(name)}
        .value=${value(name)}
        @input=${valued((text) => set(name, text))}
      />${origin(name)}
    </div>`;
  /** @param {string} name @param {[string, string][]} options */
  const choice = (name, options) =>
    html`<div>
      <label for=${name}>${label("setting", name)}</label>
      <select id=${name} ?disabled=${fixed(name)} @change=${valued((text) => set(name, text))}>
        ${options.map(([v, text]) => html`<option value=${v} ?selected=${value(name) === v}>${text}</option>`)}
      </select>
      ${origin(name)}
    </div>`;
  /** @param {string[]} names @param {string} prefix @returns {[string, string][]} */
  const labeled = (names, prefix) => names.map((n) => [n, label(prefix, n)]);

  /** Renders two times if the quiet hours are the same each day, otherwise their text. */
  const quietHours = () => {
    const hours = value("QUIET_HOURS");
    const daily = everyDay.exec(hours);
    /** Changes the beginning (0) or the end (1). @param {0 | 1} which @param {string} time */
    const change = (which, time) => {
      const [, from = "", to = ""] = everyDay.exec(value("QUIET_HOURS")) ?? [];
      const both = [from, to];
      both[which] = time;
      set("QUIET_HOURS", both.some(Boolean) ? both.join("-") : "");
    };
    const time = (/** @type {"from" | "to"} */ name, /** @type {0 | 1} */ which) =>
      html`<input
        id=${`quiet-${name}`}
        type="time"
        aria-label=${t(`admin.quiet.${name}`)}
        .value=${daily?.[which + 1] ?? ""}
        @input=${valued((text) => change(which, text))}
      />`;
    return html`<fieldset class="hours" ?disabled=${fixed("QUIET_HOURS")}>
      <legend>${label("setting", "QUIET_HOURS")}</legend>
      ${daily
        ? html`<span class="inline">${time("from", 0)} – ${time("to", 1)}</span>`
        : nothing}
      <details class="fine" ?open=${!daily}>
        <summary>${t("admin.quiet.days")}</summary>
        <input
          id="QUIET_HOURS"
          aria-label=${t("admin.quiet.text")}
          placeholder="Mon-Fri 22:00-06:30, Sat-Sun 23:30-09:00"
          .value=${hours}
          @input=${valued((text) => set("QUIET_HOURS", text))}
        />
      </details>
      ${origin("QUIET_HOURS")}
    </fieldset>`;
  };
  /** Returns the voices, with the default one even if it is not installed. @returns {[string, string][]} */
  const voices = () => {
    const now = value("DEFAULT_VOICE");
    const usable = all?.get("DEFAULT_VOICE")?.choices ?? [];
    return [...(usable.some((v) => v.value === now) ? [] : [{ value: now, label: now }]), ...usable].map((v) => [
      v.value,
      v.label,
    ]);
  };
  /** Returns the depths of ducking, with the present one. @returns {[string, string][]} */
  const ducks = () =>
    [...new Set(["0", "-10", "-20", "-30", "-60", value("DUCK")])].map((d) => [
      d,
      d === "0" ? t("admin.duck.off") : t("admin.duck", { n: number(-Number(d)) }),
    ]);
  return {
    close: now.close,
    render: () =>
      html`${now.render()}
        ${leaf("sound-title", t("admin.defaults"), !all
            ? loading()
            : html`<form @submit=${submitted(() => patch(draft))}>
                <h3>${t("admin.quiet")}</h3>
                <div class="two">
                  ${quietHours()}
                  ${choice("QUIET_MODE", labeled(modes, "admin.mode"))}
                  ${amount("QUIET_VOLUME", 0, 100)}
                </div>
                <h3>${t("admin.speaker")}</h3>
                <div class="two">
                  ${amount("VOLUME", 0, 100)}
                  ${choice("DUCK", ducks())}
                  ${choice("CHIME", labeled(chimes, "say.chime"))}
                  ${choice("CHIME_URGENT", labeled(chimes, "say.chime"))}
                </div>
                <h3>${t("admin.speech")}</h3>
                <div class="two">${choice("DEFAULT_VOICE", voices())}${amount("DEFAULT_RATE", 60, 400)}</div>
                <p class="row">
                  <button class="primary" ?disabled=${Object.keys(draft).length === 0}>${t("admin.save")}</button>
                  <span role="status" class="good-inline">${saved}</span>
                </p>
              </form>`)}`,
  };
};

// ---- rooms

/** @type {Part} */
function rooms({ gate }) {
  /** @type {Api["Room"][] | null} */ let all = null;
  void gate.run(async () => {
    all = (await api("GET", "/api/rooms")).rooms;
  });
  return {
    render: () =>
      leaf("rooms-title", t("admin.part.rooms"), html`${!all
          ? loading()
          : html`<ul class="stubs">
              ${all.map(
                (r) =>
                  html`<li>
                    <div>
                      <strong>${r.name}</strong>
                      ${r.here ? html`<span class="tag">${t("admin.room.here")}</span>` : nothing}
                    </div>
                    <span class=${r.online ? "link-state on" : "link-state off"}>
                      ${t(r.online ? "admin.room.online" : "live.off")}
                    </span>
                  </li>`,
              )}
            </ul>`}
        <p class="hint">${t("admin.rooms.text")}</p>`),
  };
}

// ---- health

/** @typedef {Api["Finding"]} Finding */
const ranks = { failure: 0, warning: 1, ok: 2 };
/** @param {Finding[]} all */
function verdict(all) {
  const bad = all.filter((f) => f.result !== "ok").length;
  return bad ? t("admin.health.bad", { n: bad }) : t("admin.health.good");
}

/** Matches a remedy that is a command for the host. */
const isCommand = /^(sudo )?(pressbox|systemctl|apt|chown|chmod) [\w ./=@-]+$/;

/** @type {Part} */
function health({ gate, update }) {
  /** @type {Finding[] | null} */ let all = null;
  /** @type {Record<string, string>} */ let texts = {};
  const load = () =>
    gate.run(async () => {
      all = null;
      void update();
      texts = (await imported(import(`./findings-${language}.js`))).default;
      all = /** @type {Finding[]} */ ((await api("GET", "/api/admin/examination")).findings).sort(
        (a, b) => ranks[a.result] - ranks[b.result],
      );
      readOut(verdict(all));
    });
  void load();
  /** @param {Finding} f */
  const heading = (f) =>
    html`<span class=${f.result === "failure" ? "tag hot" : f.result === "ok" ? "tag live" : "tag"}>
        ${label("admin.result", f.result)}
      </span>
      <strong>${texts[f.name] ?? f.name}</strong>`;
  /** Renders the server's words, which are English. @param {unknown} summary @param {Finding} f */
  const details = (summary, f) =>
    html`<details>
      <summary>${summary}</summary>
      <p lang="en">${f.detail}</p>
      ${f.remedy && !isCommand.test(f.remedy) ? html`<p lang="en">→ ${f.remedy}</p>` : nothing}
    </details>`;
  /** @param {Finding} f */
  const stub = (f) =>
    html`<li class=${f.result === "failure" ? "urgent" : ""}>
      <div>
        ${!f.code
          ? details(heading(f), f)
          : html`${heading(f)}
              <p class="quote">${texts[`${f.name}.${f.code}`] ?? texts[f.code] ?? f.detail}</p>
              ${f.remedy && isCommand.test(f.remedy)
                ? command(f.remedy.startsWith("sudo") ? f.remedy : `sudo ${f.remedy}`)
                : nothing}
              ${details(t("details"), f)}`}
      </div>
    </li>`;
  return {
    render: () =>
      html`<section class="leaf" aria-labelledby="health-title">
        <div class="row spread">
          <h2 id="health-title">${t("admin.part.health")}</h2>
          <button ?disabled=${!all} @click=${load}>${t("admin.health.again")}</button>
        </div>
        ${!all
          ? html`<p class="waiting">${t("admin.health.checking")}</p>`
          : html`<p>${verdict(all)}</p>
              <ul class="stubs" id="findings">
                ${all.map(stub)}
              </ul>`}
      </section>`,
  };
}

// ---- log

/** @type {Part} */
function log({ gate, update }) {
  /** @type {Announcement[] | null} */ let all = null;
  let wanted = "";
  void gate.run(async () => {
    const list = await api("GET", "/api/notify");
    all = [...list.queue, ...list.scheduled, ...list.recent];
    all.sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
  });
  /** @param {Announcement} a */
  const sender = (a) => [label("admin.sender", a.sender?.kind, ""), a.sender?.name].filter(Boolean).join(" ");
  /** @param {Announcement} a */
  const matches = (a) =>
    `${a.title ?? ""} ${a.message} ${sender(a)} ${label("status", a.status)}`.toLowerCase().includes(wanted);
  return {
    render: () =>
      leaf("log-title", t("admin.part.log"), html`<p>${t("admin.log.text")}</p>
        ${!all
          ? loading()
          : !all.length
            ? html`<p class="empty">${t("admin.log.empty")}</p>`
            : html`<label>
                  ${t("admin.log.filter")}
                  <input
                    type="search"
                    @input=${valued((text) => {
                      wanted = text.toLowerCase();
                      void update();
                    })}
                /></label>
                <div class="scroll" tabindex="0" role="group" aria-labelledby="log-title">
                  <table class="records">
                    <thead>
                      <tr>
                        <th scope="col">${t("admin.log.when")}</th>
                        <th scope="col">${t("admin.log.message")}</th>
                        <th scope="col">${t("admin.log.from")}</th>
                      </tr>
                    </thead>
                    <tbody>
                      ${all.filter(matches).map(
                        (a) =>
                          html`<tr>
                            <td>${formatTime(a.created_at)}<br /><small>${label("status", a.status)}</small></td>
                            <td class="text">
                              ${a.title ? html`<strong>${a.title}</strong> ` : nothing}
                              ${a.message || t("queue.notext")}
                              ${a.error ? html` <em lang="en">${a.error}</em>` : nothing}
                            </td>
                            <td>${sender(a)}</td>
                          </tr>`,
                      )}
                    </tbody>
                  </table>
                </div>
                ${all.some(matches) ? nothing : html`<p class="empty">${t("admin.log.none")}</p>`}`}`),
  };
}

// ---- backup

/** @type {Part} */
function backup({ gate, update }) {
  /** @type {Api["Backup"][] | null} */ let all = null;
  let making = false;
  const load = () =>
    gate.run(async () => {
      all = (await api("GET", "/api/admin/backups")).backups;
    });
  const create = async () => {
    making = true;
    void update();
    const made = await gate.run(() => api("POST", "/api/admin/backups"));
    making = false;
    if (made) {
      readOut(t("admin.backup.made"));
      await load();
    }
    await update();
    if (made) /** @type {HTMLElement | null} */ (document.querySelector("#backups a"))?.focus();
  };
  void load();
  return {
    render: () =>
      leaf("backup-title", t("admin.part.backup"), html`<p>${t("admin.backup.text")}</p>
        <p>
          <button class="primary" ?disabled=${making || !all} @click=${create}>
            ${t(making ? "admin.backup.making" : "admin.backup.make")}
          </button>
        </p>
        ${listed(all, t("admin.backup.none"), (all) =>
          html`<ul class="stubs" id="backups">
              ${all.map(
                (b) =>
                  html`<li>
                    <div>
                      <strong>${formatTime(b.created_at)}</strong><br /><small>${megabytes(b.size_bytes)}</small>
                    </div>
                    <a
                      class="button"
                      download
                      href=${url`/api/admin/backups/${b.name}`}
                      aria-label=${t("admin.backup.getlabel", { when: formatTime(b.created_at) })}
                    >
                      ${t("admin.backup.get")}
                    </a>
                  </li>`,
              )}
            </ul>`)}
        <h3>${t("admin.restore")}</h3>
        <p>${t("admin.restore.text")}</p>
        ${command("sudo systemctl stop 'pressbox*.socket' pressbox")}
        ${command("sudo pressbox restore FILE")}
        ${command("sudo systemctl start pressbox")}`),
  };
}
