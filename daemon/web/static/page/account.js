// The account, the result of a failed sign-in, and the About view.
import { html, nothing } from "./lit-html.js";
import {
  t, label, api, session, meta, formatTime, signInAddress, alertBox, imported, problemOf, requests, loading, language,
  url, submitted,
} from "./ui.js";

/** @type {Page} */
export function account({ me, update }) {
  const user = /** @type {Account} */ (me);
  /** @type {Session[]} */ let sessions = [];
  /** @type {Problem | null} */ let problem = null;
  const phrase = requests(update);
  let changed = false;
  let loaded = false;

  /** Whether there is an administrator, and an unused administrator code. */
  let administration = { exists: true, code: false };
  const loadAdministration = async () => {
    if (!user.admin) administration = await api("GET", "/api/admin").catch(() => administration);
  };
  const redeemed = requests(update);
  const redeem = submitted((fields) =>
    redeemed.run(async () => {
      await api("POST", "/api/auth/admin-code", { code: fields.get("code") });
      session.set({ ...user, admin: true });
    }),
  );
  const load = async () => {
    try {
      sessions = (await api("GET", "/api/auth/sessions")).sessions;
    } catch (err) {
      problem = problemOf(err);
    }
  };
  /** @param {string} method @param {string} path */
  const request = async (method, path) => {
    try {
      await api(method, path);
      problem = null;
    } catch (err) {
      problem = problemOf(err);
    }
  };
  /** Asks for the passphrase again, once a request has needed it. @type {AdminGate | undefined} */ let gate;
  /** Sends a request that ends the session. @param {string} method @param {string} path */
  const end = async (method, path) => {
    await request(method, path);
    if (!problem) session.set(null);
    else if (problem.code === "reauthentication_required") {
      problem = null;
      gate ??= (await imported(import("./admin.js"))).gatekeeper(user, update);
      await gate.run(async () => {
        await api(method, path);
        session.set(null);
      });
    } else update();
  };
  const change = submitted((fields, form) => {
    changed = false;
    return phrase.run(async () => {
      await api("PUT", "/api/auth/passphrase", {
        current: fields.get("current"),
        passphrase: fields.get("passphrase"),
        sign_out_everywhere: fields.get("everywhere") === "on",
      });
      changed = true;
      form.reset();
      await load();
    });
  });
  void Promise.all([load(), loadAdministration()]).then(() => {
    loaded = true;
    update();
  }); // together, as each moves what is below

  return {
    title: () => t("account.title"),
    render: () =>
      !loaded
        ? loading()
        : html`<section class="leaf">
              <p class="kicker">${t("account.kicker")}</p>
              <h1>${user.name}</h1>
              <p>
                ${t("account.since", { provider: label("provider", user.provider), when: formatTime(user.created_at) })}
              </p>
              ${alertBox(problem)} ${gate?.render() ?? nothing}
              ${!administration.exists && !administration.code
                ? html`<p>${t("admin.leaderless")} <a href="/admin">${t("admin.how")}</a></p>`
                : nothing}
              <p class="row">
                <button class="primary" @click=${() => end("POST", "/api/auth/logout")}>${t("account.out")}</button>
                <button @click=${() => end("POST", "/api/auth/logout-all")}>${t("account.outall")}</button>
              </p>
            </section>
            ${administration.code
              ? html`<section class="leaf">
                  <h2>${t("account.code.title")}</h2>
                  <p>${t("account.code.text")}</p>
                  ${redeemed.problem ? html`<p class="alert" role="alert">${codeText(redeemed.problem)}</p>` : nothing}
                  <form class="fields" id="admin-code" @submit=${redeem}>
                    <label>
                      ${t("account.code")}
                      <input name="code" required autocomplete="off" autocapitalize="none" spellcheck="false"
                    /></label>
                    <p><button>${t("account.code.use")}</button></p>
                  </form>
                </section>`
              : nothing}
            <section class="leaf">
              <h2>${t("account.sessions")}</h2>
              <ul class="stubs">
                ${sessions.map(
                  (s) =>
                    html`<li>
                      <div>
                        <strong>${s.device || t("account.device")}</strong>
                        ${s.current ? html` <span class="tag">${t("account.here")}</span>` : nothing}<br />
                        <small>
                          ${t("account.session", {
                            network: s.network,
                            age: formatAge(s.age_seconds),
                            idle: formatAge(s.idle_seconds),
                          })}
                        </small>
                      </div>
                      ${s.current
                        ? nothing
                        : html`<button
                            aria-label=${t("account.endlabel", { device: s.device })}
                            @click=${async () => {
                              await request("DELETE", url`/api/auth/sessions/${s.id}`);
                              await load();
                              update();
                            }}
                          >
                            ${t("account.out")}
                          </button>`}
                    </li>`,
                )}
              </ul>
            </section>
            ${user.provider === "local"
              ? html`<section class="leaf">
                  <h2>${t("passphrase.title")}</h2>
                  ${alertBox(phrase.problem)}
                  ${changed ? html`<p class="good" role="status">${t("passphrase.changed")}</p>` : nothing}
                  <form class="fields" @submit=${change}>
                    <input type="text" name="username" autocomplete="username" .value=${user.name} hidden />
                    <label>
                      ${t("passphrase.current")}
                      <input name="current" type="password" autocomplete="current-password" required
                    /></label>
                    <label>
                      ${t("passphrase.new")}
                      <input
                        name="passphrase"
                        type="password"
                        autocomplete="new-password"
                        minlength="8"
                        required
                        aria-describedby="phrase-hint"
                    /></label>
                    <p id="phrase-hint" class="hint">${t("passphrase.hint")}</p>
                    <label class="check">
                      <input name="everywhere" type="checkbox" /> ${t("passphrase.everywhere")}
                    </label>
                    <p><button>${t("passphrase.change")}</button></p>
                  </form>
                </section>`
              : nothing}
            <section class="leaf">
              <h2>${t("account.delete")}</h2>
              <p>${t("account.delete.text")}</p>
              <p>
                <button
                  class="danger"
                  @click=${() => confirm(t("account.delete.sure")) && end("DELETE", "/api/auth/me")}
                >
                  ${t("account.delete")}
                </button>
              </p>
            </section>`,
  };
}

/** Returns why an administrator code was not taken. @param {Problem} problem */
function codeText(problem) {
  if (problem.status === 429) return t("account.code.wait");
  return problem.errors.some((e) => e.code === "wrong") ? t("account.code.wrong") : problem.message;
}

/** The form that starts a sign-in with an invite. */
const inviteForm = () =>
  html`<form
    class="fields"
    @submit=${submitted((fields) => location.assign(signInAddress("/", String(fields.get("invite")).trim())))}
  >
    <label>
      ${t("callback.invite")}
      <input name="invite" required autocomplete="off" autocapitalize="none" spellcheck="false"
    /></label>
    <p><button class="primary">${t("callback.invited")}</button></p>
  </form>`;

/** @type {Page} */
export function callback({ query, me }) {
  const code = query.get("error") ?? "";
  const id = query.get("error_id") ?? "";
  const cancelled = code === "access_denied";
  return {
    title: () => t("callback.title"),
    render: () =>
      html`<section class="leaf narrow">
        <p class="kicker">${t("callback.kicker")}</p>
        <h1>${cancelled ? t("callback.cancelled") : t("callback.title")}</h1>
        <p role="alert">${code ? label("callback", code, t("callback.unknown")) : t("callback.none")}</p>
        ${label("callback.out", code, "") ? html`<p>${label("callback.out", code, "")}</p>` : nothing}
        ${code === "not_invited" && !me ? inviteForm() : nothing}
        <p class="row">
          ${me
            ? html`<a class="button primary" href="/">${t("lost.out")}</a>`
            : html`<a class="button primary" href=${signInAddress("/")}>${t("callback.again")}</a>
                <a class="button" href="/">${t("lost.out")}</a>`}
        </p>
        ${id
          ? html`<p class="hint">
              ${t("callback.id")} <code>${id}</code>${code ? html` · <code>${code}</code>` : nothing}
            </p>`
          : nothing}
      </section>`,
  };
}

/** @returns {View} */
export function about() {
  const files = new URL(".", import.meta.url).pathname;
  return {
    title: () => t("about.title"),
    render: () =>
      html`<section class="leaf prose">
        <p class="kicker">${t("about.version", { version: meta("version") })}</p>
        <h1>${t("about.title")}</h1>
        <p>${t("about.text")}</p>
        <p>${t("about.dice")}</p>
        <h2>${t("about.install")}</h2>
        <p>${t(isSecureContext ? "about.install.secure" : "about.install.insecure")}</p>
        <h2>${t("about.links")}</h2>
        <ul>
          <li><a href="/docs">${t("about.docs")}</a></li>
          <li><a href="/health">${t("about.health")}</a></li>
          <li><a href="/voices">${t("admin.part.voices")}</a></li>
        </ul>
        <h2>${t("about.notices")}</h2>
        <p>${t("about.mit")}</p>
        <ul>
          <li>
            lit-html, BSD-3-Clause, © Google LLC:
            <a href=${`${files}lit-html.LICENSE`}>${t("about.license", { name: "lit-html" })}</a>
          </li>
          <li>
            lean-qr, MIT, © David Evans:
            <a href=${`${files}lean-qr.LICENSE`}>${t("about.license", { name: "lean-qr" })}</a>
          </li>
          <li>
            Bevan, SIL Open Font License 1.1, © The Bevan Project Authors:
            <a href=${`${files}bevan.LICENSE`}>${t("about.license", { name: "Bevan" })}</a>
          </li>
          <li>Swagger UI, Apache-2.0, © SmartBear Software</li>
          <li>ONNX Runtime, MIT, © Microsoft Corporation</li>
        </ul>
        <p>${t("about.retrosheet")}</p>
        <p>${t("about.people")}</p>
      </section>`,
  };
}

/** Returns an age as in "3 hours ago". @param {number} seconds */
function formatAge(seconds) {
  const format = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  for (const [unit, size] of /** @type {const} */ ([
    ["day", 86400],
    ["hour", 3600],
    ["minute", 60],
  ])) {
    if (seconds >= size) return format.format(-Math.floor(seconds / size), unit);
  }
  return t("time.now");
}
