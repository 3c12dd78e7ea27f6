// The parts of the administration that decide who may enter, and the voices:
// users, invites, API tokens, and the voices of the catalog.
import { html, nothing } from "./lit-html.js";
import {
  t, label, api, alertBox, imported, problemOf, formatTime, percent, number, megabytes, language, command, loading,
  readOut, refocus, when, joinAddress, signInAddress, listed, url, leaf, valued, submitted, qr,
} from "./ui.js";

const day = 86400; // seconds

// ---- users and invites

/** @typedef {Api["User"]} User */

/** @type {Part} */
export function people({ gate, me, update }) {
  /** @type {User[] | null} */ let users = null;
  /** @type {Api["ListedInvite"][]} */ let invites = [];
  /**
   * A secret that is shown once, above a list.
   * @type {{ list: "users" | "invites", title: string, text: string, code?: unknown } | null}
   */
  let secret = null;
  const load = () =>
    gate.run(async () => {
      const [list, open] = await Promise.all([api("GET", "/api/admin/users"), api("GET", "/api/admin/invites")]);
      [users, invites] = [list.users, open.invites];
    });
  void load();
  /** Sends a change and loads the lists. @param {string} method @param {string} path @param {unknown} [body] */
  const change = (method, path, body) =>
    gate.run(async () => {
      const answer = await api(method, path, body);
      await load();
      return answer ?? true;
    });
  /** What changes an account, with its verb, and what it asks. @param {User} u */
  const alterations = (u) =>
    /** @type {[import("./ui.js").Key, import("./ui.js").Key | null, object][]} */ ([
      u.admin
        ? ["admin.user.demote", "admin.user.demotesure", { admin: false }]
        : ["admin.user.promote", "admin.user.promotesure", { admin: true }],
      u.disabled
        ? ["admin.user.enable", null, { disabled: false }]
        : ["admin.user.disable", "admin.user.disablesure", { disabled: true }],
    ]);
  /** @param {User} u @param {import("./ui.js").Key | null} question @param {object} body */
  const alter = async (u, question, body) => {
    if (question && !confirm(t(question, { name: u.name }))) return;
    await change("PATCH", url`/api/admin/users/${u.id}`, body);
  };
  /** @param {User} u */
  const remove = async (u) => {
    if (!confirm(t("admin.user.sure", { name: u.name }))) return;
    await change("DELETE", url`/api/admin/users/${u.id}`);
    refocus("people-title");
  };
  /** @param {User} u */
  const renew = async (u) => {
    if (!confirm(t("admin.user.resetsure", { name: u.name }))) return;
    const answer = await change("POST", "/api/admin/passphrases", { name: u.name });
    if (answer) show("users", t("admin.user.newphrase", { name: u.name }), answer.passphrase);
  };
  const invite = async () => {
    const answer = await change("POST", "/api/admin/invites");
    if (!answer) return;
    const address = answer.url ?? joinAddress(signInAddress("/", answer.invite));
    const shown = show("invites", t("admin.invite.made"), address);
    shown.code = await qr(address, t("admin.invite.qr"));
    void update();
  };
  /** @param {"users" | "invites"} list @param {string} title @param {string} text */
  const show = (list, title, text) => {
    readOut(title);
    return (secret = { list, title, text, code: /** @type {unknown} */ (undefined) });
  };
  /** @param {User} u */
  const stub = (u) =>
    html`<li class=${u.disabled ? "off" : ""}>
      <div>
        <strong>${u.name}</strong> ${u.admin ? html`<span class="tag live">${t("admin.user.admin")}</span>` : nothing}
        ${u.disabled ? html`<span class="tag hot">${t("admin.user.disabled")}</span>` : nothing}<br />
        <small>
          ${t("account.since", { provider: label("provider", u.provider), when: formatTime(u.created_at) })}
        </small>
      </div>
      ${u.id === me.id
        ? html`<span class="tag">${t("admin.user.you")}</span>`
        : html`<div class="row">
            ${alterations(u).map(
              ([verb, question, body]) =>
                html`<button @click=${() => alter(u, question, body)} aria-label=${`${t(verb)}: ${u.name}`}>
                  ${t(verb)}
                </button>`,
            )}
            ${u.provider === "local"
              ? html`<button @click=${() => renew(u)} aria-label=${t("admin.user.resetlabel", { name: u.name })}>
                  ${t("admin.user.reset")}
                </button>`
              : nothing}
            <button
              class="danger"
              @click=${() => remove(u)}
              aria-label=${t("admin.user.deletelabel", { name: u.name })}
            >
              ${t("delete")}
            </button>
          </div>`}
    </li>`;
  return {
    render: () =>
      html`${leaf("people-title", t("admin.users"), html`${secret?.list === "users" ? revealed(secret) : nothing}
          ${!users
            ? loading()
            : html`<ul class="stubs" id="users">
                ${users.map(stub)}
              </ul>`}`)}
        ${leaf("invites-title", t("admin.invites"), html`<p>${t("admin.invites.text")}</p>
          <p><button class="primary" ?disabled=${!users} @click=${invite}>${t("admin.invite.make")}</button></p>
          ${secret?.list === "invites" ? revealed(secret) : nothing}
          ${invites.length
            ? html`<ul class="stubs" id="invites">
                ${invites.map(
                  (i) =>
                    html`<li>
                      <div>
                        ${t("admin.invite.until", {
                          when: when(new Date(Date.now() + i.expires_in * 1000).toISOString()),
                        })}
                      </div>
                      <button
                        aria-label=${t("admin.invite.revokelabel", { id: i.id })}
                        @click=${async () => {
                          await change("DELETE", `/api/admin/invites/${i.id}`);
                          refocus("invites-title");
                        }}
                      >
                        ${t("admin.revoke")}
                      </button>
                    </li>`,
                )}
              </ul>`
            : nothing}`)}`,
  };
}

/**
 * Renders a secret that the server does not show again.
 * @param {{ title: string, text: string, code?: unknown } | null} secret
 */
const revealed = (secret) =>
  secret
    ? html`<div class="good" id="secret">
        <p>${secret.title} ${t("admin.once")}</p>
        ${command(secret.text)} ${secret.code ?? nothing}
      </div>`
    : nothing;

// ---- API tokens

/** @type {Part} */
export function tokens({ gate }) {
  /** @type {Api["Token"][] | null} */ let all = null;
  /** @type {{ title: string, text: string } | null} */ let secret = null;
  const load = () =>
    gate.run(async () => {
      all = (await api("GET", "/api/admin/tokens")).tokens;
    });
  void load();
  const create = submitted(async (fields, form) => {
    const made = await gate.run(() =>
      api("POST", "/api/admin/tokens", {
        name: fields.get("name"),
        network: fields.get("network"),
        ttl: Number(fields.get("days")) * day,
        control: fields.get("control") === "on",
      }),
    );
    if (!made) return;
    form.reset();
    readOut(t("admin.token.made"));
    secret = { title: t("admin.token.made"), text: made.token };
    await load();
  });
  /** @param {string} id */
  const revoke = async (id) => {
    await gate.run(() => api("DELETE", url`/api/admin/tokens/${id}`));
    await load();
    refocus("tokens-title");
  };
  return {
    render: () =>
      html`${leaf("tokens-title", t("admin.part.tokens"), html`<p>${t("admin.tokens.text")}</p>
          ${revealed(secret)}
          ${listed(all, t("admin.tokens.none"), (all) =>
            html`<ul class="stubs" id="tokens">
                ${all.map(
                  (k) =>
                    html`<li>
                      <div>
                        <strong>${k.name}</strong>
                        ${k.control ? html`<span class="tag">${t("admin.token.control")}</span>` : nothing}<br />
                        <small>
                          ${[
                            formatTime(k.created_at),
                            k.network,
                            k.ttl
                              ? t("admin.token.until", {
                                  when: formatTime(
                                    new Date(Date.parse(k.created_at) + k.ttl * 1000).toISOString(),
                                  ),
                                })
                              : "",
                          ]
                            .filter(Boolean)
                            .join(" · ")}
                        </small>
                      </div>
                      <button
                        class="danger"
                        aria-label=${t("admin.token.revokelabel", { name: k.name })}
                        @click=${() => revoke(k.id)}
                      >
                        ${t("admin.revoke")}
                      </button>
                    </li>`,
                )}
              </ul>`)}`)}
        ${leaf("token-new", t("admin.token.new"), html`<form class="fields" @submit=${create}>
            <label>${t("name")} <input name="name" required maxlength="100" autocomplete="off" /></label>
            <label>
              ${t("admin.token.network")}
              <input name="network" placeholder="192.168.1.0/24" autocomplete="off" spellcheck="false"
            /></label>
            <label>${t("admin.token.days")} <input name="days" type="number" min="0" max="3650" value="0" /></label>
            <label class="check"><input name="control" type="checkbox" /> ${t("admin.token.maycontrol")}</label>
            <p><button class="primary" ?disabled=${!all}>${t("admin.token.make")}</button></p>
          </form>`)}`,
  };
}

// ---- voices

/** @typedef {Api["InstalledVoice"]} Installed */

const pollDelay = 700; // ms between two looks at an installation

/** @type {Part} */
export function voices({ gate, update }) {
  /** @type {Installed[] | null} */ let all = null;
  /** @type {Api["VoiceInstall"] | undefined} */ let install;
  /** @type {Api["Catalog"] | null} */ let shop = null;
  /** Why the last search failed. @type {Problem | null} */ let missing = null;
  let searching = false;
  let timer = 0;
  /** @type {import("./speech.js").Player | null} */ let player = null;
  let heard = ""; // the voice that is played, or was
  /** Plays a sample of a voice, or stops it. @param {Installed} v */
  const listen = async (v) => {
    const module = await gate.run(() => imported(import("./speech.js")));
    if (!module) return;
    player ??= module.newPlayer(update, gate.run);
    const again = Boolean(player.state) && heard === v.name;
    player.stop();
    heard = v.name;
    const message =
      /** @type {Record<string, string>} */ (samples)[v.language] ?? [1, 2, 3, 4, 5].map((n) => number(n)).join(", ");
    if (!again) await player.toggle(module.speechOf({ message, voice: v.name }));
  };
  /** @param {Api["InstalledVoices"]} list */
  const receive = (list) => {
    const before = install?.state;
    [all, install] = [list.voices, list.install];
    clearTimeout(timer);
    if (install?.state === "downloading") timer = setTimeout(() => void load(), pollDelay);
    else if (before === "downloading") {
      readOut(
        install?.state === "installed" ? t("admin.voice.ready", { name: install.name }) : t("admin.voice.failed"),
      );
      if (shop) void search(shop.language);
    }
  };
  const load = () => gate.run(async () => receive(await api("GET", "/api/admin/voices")));
  /** @param {string} [code] */
  const search = async (code) => {
    searching = true;
    void update();
    await gate.run(async () => {
      try {
        shop = await api("GET", `/api/admin/catalog${code ? url`?language=${code}` : ""}`);
        missing = null;
      } catch (err) {
        missing = problemOf(err);
        if (missing.code === "reauthentication_required") throw err;
      }
    });
    searching = false;
    void update();
  };
  void load().then(() => {
    if (all) void search();
  });
  /** @param {string} name @param {boolean} standard */
  const get = (name, standard) =>
    gate.run(async () =>
      receive(await api("POST", url`/api/admin/voices/${name}`, { default: standard })),
    );
  /** @param {string} name */
  const remove = async (name) => {
    if (install?.state !== "downloading" && !confirm(t("admin.voice.sure", { name }))) return;
    await gate.run(() => api("DELETE", url`/api/admin/voices/${name}`));
    await load();
    refocus("voices-title");
  };
  /** @param {string} name */
  const choose = async (name) => {
    await gate.run(() => api("PATCH", "/api/admin/settings", { DEFAULT_VOICE: name }));
    await load();
  };
  const busy = () => install?.state === "downloading";
  /** @param {Installed} v */
  const stub = (v) =>
    html`<li>
      <div>
        <strong>${v.label ?? v.name}</strong>
        ${v.default ? html`<span class="tag live">${t("say.voice.default")}</span>` : nothing}<br />
        <small>${megabytes(v.size_bytes)}${v.license ? html` · <span lang="en">${v.license}</span>` : nothing}</small>
        ${v.error ? html`<p class="quote" lang="en">${v.error}</p>` : nothing}
      </div>
      <div class="row">
        ${v.error
          ? nothing
          : html`<button
              @click=${() => listen(v)}
              aria-pressed=${Boolean(player?.state) && heard === v.name}
              aria-label=${t("admin.voice.hearlabel", { name: v.name })}
            >
              ${t("admin.voice.hear")}
            </button>`}
        ${v.default || v.error
          ? nothing
          : html`<button @click=${() => choose(v.name)} aria-label=${t("admin.voice.chooselabel", { name: v.name })}>
              ${t("admin.voice.choose")}
            </button>`}
        ${v.removable
          ? html`<button
              class="danger"
              @click=${() => remove(v.name)}
              aria-label=${t("admin.voice.removelabel", { name: v.name })}
            >
              ${t("remove")}
            </button>`
          : nothing}
      </div>
    </li>`;
  const progress = () => {
    if (!install) return nothing;
    if (install.state === "failed") return html`<p class="alert" role="alert" lang="en">${install.error}</p>`;
    if (install.state === "installed")
      return html`<p class="good">${t("admin.voice.ready", { name: install.name })}</p>`;
    const share = install.total ? install.done / install.total : 0;
    const name = install.name;
    return html`<div class="download">
      <label for="download">
        ${t("admin.voice.loading", { name, share: percent(share), size: megabytes(install.total) })}
      </label>
      <progress id="download" max="1" .value=${share}></progress>
      <button @click=${() => remove(name)}>${t("cancel")}</button>
    </div>`;
  };
  /** @param {Api["CatalogVoice"]} v */
  const offer = (v) =>
    html`<li>
      <div>
        <strong>${v.name}</strong>
        ${v.recommended ? html`<span class="tag live">${t("admin.voice.recommended")}</span>` : nothing}<br />
        <small>
          ${[
            v.language,
            label("admin.quality", v.quality),
            v.speakers > 1 ? t("admin.voice.speakers", { n: v.speakers }) : "",
            megabytes(v.size_bytes),
          ]
            .filter(Boolean)
            .join(" · ")}
          · ${v.license ? html`<span lang="en">${v.license}</span>` : t("admin.voice.nolicense")}
        </small>
      </div>
      ${v.installed
        ? html`<span class="tag">${t("admin.voice.installed")}</span>`
        : html`<button
            ?disabled=${busy()}
            @click=${() => get(v.name, false)}
            aria-label=${t("admin.voice.getlabel", { name: v.name })}
          >
            ${t("admin.voice.get")}
          </button>`}
    </li>`;
  const best = () => shop?.voices.find((v) => v.recommended && !v.installed);
  return {
    close: () => {
      clearTimeout(timer);
      player?.close();
    },
    render: () =>
      html`${leaf("voices-title", t("admin.part.voices"), html`${progress()}
          ${!all
            ? loading()
            : html`<ul class="stubs" id="voices">
                ${all.map(stub)}
              </ul>`}`)}
        ${leaf("shop-title", t("admin.voice.more"), html`${best()
            ? html`<p>
                  <button
                    class="primary"
                    id="natural"
                    ?disabled=${busy()}
                    @click=${() => get(best()?.name ?? "", true)}
                  >
                    ${t("admin.voice.natural")}
                  </button>
                </p>
                <p class="hint">
                  ${t("admin.voice.naturaltext", {
                    name: best()?.name ?? "",
                    size: megabytes(best()?.size_bytes ?? 0),
                    license: best()?.license ?? "",
                  })}
                </p>`
            : nothing}
          ${shop
            ? html`<label class="fields">
                ${t("language")}
                <select id="language" @change=${valued(search)}>
                  ${languageNames(shop.languages).map(
                    ([code, name]) =>
                      html`<option value=${code} ?selected=${code === shop?.language}>${name}</option>`,
                  )}
                </select>
              </label>`
            : nothing}
          ${alertBox(missing)}
          ${searching
            ? loading()
            : shop
              ? html`<ul class="stubs" id="shop">
                  ${shop.voices.map(offer)}
                </ul>`
              : all
                ? html`<p><button @click=${() => search()}>${t("admin.voice.search")}</button></p>`
                : nothing}
          <p class="hint">${t("admin.voice.text")}</p>`)}`,
  };
}

/** Returns the languages with their names, in order of these. @param {string[]} codes @returns {[string, string][]} */
function languageNames(codes) {
  const names = new Intl.DisplayNames([language], { type: "language" });
  return codes
    .map((code) => /** @type {[string, string]} */ ([code, names.of(code) ?? code]))
    .sort((a, b) => a[1].localeCompare(b[1], language));
}

/** What voices say as a sample, by their language. */
const samples = {
  en: "Dinner is ready. The bus to school leaves in ten minutes.",
  de: "Das Essen ist fertig. Der Schulbus fährt in zehn Minuten.",
  fr: "Le dîner est prêt. Le bus part dans dix minutes.",
  es: "La cena está lista. El autobús sale en diez minutos.",
  it: "La cena è pronta. L’autobus parte tra dieci minuti.",
  nl: "Het eten is klaar. De bus vertrekt over tien minuten.",
};
