// A guest: who takes the seat of one game by its code and a name, and may become an account later.
import { html, nothing } from "./lit-html.js";
import { t, api, session, alertBox, requests, store, submitted, url, violationsAt } from "./ui.js";

/** The seat of a game: a name, one tap. @type {Page} */
export function join({ params, update, go }) {
  const asked = requests(update);
  let busy = false;
  const take = submitted(async (fields) => {
    if (busy) return;
    busy = true;
    await asked.run(async () => {
      const me = await api("POST", "/api/auth/guest", { code: params.code, name: fields.get("name") });
      store("guest", me.guest, "sessionStorage");
      session.set(me);
      go(url`/games/${me.guest}/lineup`, true);
    });
    busy = false;
    update();
  });
  return {
    title: () => t("guest.title"),
    render: () =>
      html`<section class="leaf">
        <p class="kicker">${t("guest.kicker")}</p>
        <h1>${t("guest.title")}</h1>
        <p>${t("guest.text")}</p>
        ${session.me ? html`<p class="hint">${t("guest.replaces", { name: session.me.name })}</p>` : nothing}
        ${alertBox(asked.problem)}
        <form class="fields" @submit=${take}>
          <label>
            ${t("guest.name")}
            <input name="name" required maxlength="32" autocomplete="nickname" autofocus />
          </label>
          ${violationsAt(asked.problem, "/name")}
          <p><button class="primary" ?disabled=${busy}>${t("guest.take")}</button></p>
        </form>
      </section>`,
  };
}

/** The account of a guest. @type {Page} */
export function account({ me, update }) {
  const user = /** @type {Account} */ (me);
  const kept = requests(update);
  const left = requests(update);
  return {
    title: () => t("account.title"),
    render: () =>
      html`<section class="leaf">
          <p class="kicker">${t("account.kicker")}</p>
          <h1>${user.name}</h1>
          <p>${t("guest.until")} <a href=${url`/games/${user.guest ?? ""}`}>${t("guest.game")}</a></p>
          ${alertBox(left.problem)}
          <p>
            <button
              @click=${() =>
                left.run(async () => {
                  await api("POST", "/api/auth/logout");
                  session.set(null);
                })}
            >
              ${t("account.out")}
            </button>
          </p>
        </section>
        ${keepForm(kept)}`,
  };
}

/** The form that makes a guest an account. @param {ReturnType<typeof requests>} kept */
export const keepForm = (kept) =>
  html`<section class="leaf" id="keep">
    <h2>${t("guest.keep")}</h2>
    <p>${t("guest.keep.text")}</p>
    ${alertBox(kept.problem)}
    <form
      class="fields"
      @submit=${submitted((fields) =>
        kept.run(async () => {
          session.set(await api("POST", "/api/auth/keep", Object.fromEntries(fields)));
        }),
      )}
    >
      <label>${t("guest.name")} <input name="name" required maxlength="40" autocomplete="username" /></label>
      ${violationsAt(kept.problem, "/name")}
      <label>
        ${t("passphrase.new")}
        <input name="passphrase" type="password" autocomplete="new-password" minlength="8" required />
      </label>
      ${violationsAt(kept.problem, "/passphrase")}
      ${kept.problem?.code === "invite_required"
        ? html`<label>${t("callback.invite")} <input name="invite" required autocomplete="off" /></label>`
        : nothing}
      <p><button class="primary">${t("guest.keep.make")}</button></p>
    </form>
  </section>`;
