// A game before its first pitch: the invitation and the line-up cards.
import { html, nothing } from "./lit-html.js";
import { Card } from "./lineup.card.js";
import { Live } from "./play.js";
import {
  t, label, api, session, signInAddress, qr, joinAddress, managerOf, openSide, alertBox, gameTitle, problemView,
  problemOf, readOut, pennant, loading, sides, url, linkState, notice, copy,
} from "./ui.js";

/** @type {Page} */
export function lineup({ params, update, go }) {
  /** @type {Game | null} */ let game = null;
  /** @type {Problem | null} */ let problem = null;
  /** @type {Map<Side, Card>} */ const cards = new Map();
  const room = html`<span class="qr"></span>`; // for the code, until it is made
  /** @type {unknown} */ let code = room;
  /** @type {Live | null} */ let live = null;
  let rev = 0;
  let closed = false;
  let copied = false;
  let address = ""; // that others open
  let seat = false; // it is a guest's
  let canceling = false;
  let over = "";
  const path = url`/api/games/${params.id}`;

  const load = async () => {
    try {
      // a game that has started has no invitation
      receive(await api("GET", session.me || game?.options.visibility === "listed" ? path : `${path}/invitation`));
    } catch (err) {
      problem = problemOf(err);
    }
    update();
  };
  /** @param {Game} next */
  const receive = (next) => {
    if (closed) return;
    if (next.status !== "pending") return go(`/games/${next.id}`, true);
    game = next;
    rev = Math.max(rev, next.rev);
    for (const side of sides) {
      if ((next.you === side || next.you === "both") && !cards.has(side))
        cards.set(side, new Card(next, side, update, receive));
    }
    if (next.you && openSide(next) && !next.reserved && !address) show(joinAddress(`/games/${next.id}`));
    if (session.me || next.options.visibility === "listed")
      live ??= new Live(next.id, {
        rev: () => rev,
        frame: receiveFrame,
        link: (_, reason) => {
          if (live?.link === "over") over = reason;
          void update();
        },
        answered: () => undefined,
      });
  };
  /** Shows an address and its code. @param {string} to */
  const show = (to) => {
    [address, copied, code] = [to, false, room];
    void qr(to).then((svg) => {
      code = svg;
      update();
    });
  };
  const inviteGuest = async () => {
    try {
      show((await api("POST", `${path}/guest`)).url);
      seat = true;
    } catch (err) {
      problem = problemOf(err);
    }
    update();
  };
  /** @param {Frame} frame */
  const receiveFrame = (frame) => {
    if (frame.t === "event" || frame.t === "skip") {
      rev = Number(frame.rev);
      for (const line of frame.d?.text ?? []) readOut(line, "en");
      void load();
    }
    if (frame.t === "state" && frame.d?.state?.status && frame.d.state.status !== "pending") void load();
  };
  const join = async () => {
    try {
      receive(await api("POST", `${path}/join`));
    } catch (err) {
      problem = problemOf(err);
    }
    update();
  };
  const cancel = async () => {
    if (!confirm(t("card.off.sure"))) return;
    try {
      canceling = true;
      await api("DELETE", path);
      go("/", true);
    } catch (err) {
      [canceling, problem] = [false, problemOf(err)];
    }
    update();
  };
  void load();

  /** @param {Game} g */
  const invite = (g) => {
    const copyLink = async () => {
      await copy(address);
      copied = true;
      update();
    };
    return html`<section class="leaf invite">
      <div>
        <h2>${t("invite.title")}</h2>
        <p>${t(seat ? "invite.guest" : "invite.text", { club: g[/** @type {Side} */ (openSide(g))].team.name })}</p>
        <label for="invite">${t("invite.link")}</label>
        <div class="row">
          <input id="invite" readonly .value=${address} /><button @click=${copyLink}>
            ${copied ? t("invite.copied") : t("copy")}
          </button>
        </div>
        ${seat ? nothing : html`<p><button @click=${inviteGuest}>${t("invite.seat")}</button></p>`}
      </div>
      ${code}
    </section>`;
  };
  /** Renders to whom a rematch is offered, and until when. @param {string} name */
  const offer = (name) =>
    html`<section class="leaf">
      <h2>${t("offer.title", { name })}</h2>
      <p>${t("offer.text", { name })}</p>
    </section>`;
  /** Renders who invites to what. @param {Game} g @param {Side} open */
  const invited = (g, open) => {
    const by = g[open === "home" ? "away" : "home"];
    const values = { name: managerOf(by), club: g[open].team.name, innings: g.options.innings };
    const reserved = g[open].reserved;
    if (reserved && session.me && session.me.id !== reserved.id)
      return html`<p>${t("invited.other", { ...values, opponent: reserved.name })}</p>`;
    return html`<h2>${t(g.reserved ? "invited.rematch" : "invited.title", values)}</h2>
      <p>${t("invited.text", values)}</p>
      <p>
        ${session.me
          ? html`<button class="primary" @click=${join}>${t("lobby.joinlabel", values)}</button>`
          : html`<a class="button primary" href=${signInAddress()}>${t("cover.enter")}</a>`}
      </p>`;
  };
  /** @param {Game} g */
  const managers = (g) =>
    sides.map(
      (side) =>
        html`<li>
          <div class="club-row">
            ${pennant(g[side].team)}<span class="club-name">
              ${g[side].team.name}<small>${managerOf(g[side])}</small>
            </span>
          </div>
          <span class=${`tag ${g[side].lineup_submitted ? "live" : ""}`}>
            ${g[side].lineup_submitted ? t("card.in") : t("card.notin")}
          </span>
        </li>`,
    );

  return {
    title: () => t("card.title"),
    render: () => {
      const g = game;
      if (over && !canceling)
        return notice(
          t("card.title"),
          html`<p role="alert">${label("link.over", over, t("link.over.closed"))}</p>`,
        );
      if (!g) return problem ? problemView(problem) : loading();
      const open = openSide(g);
      return html`<div class="game-head">
          ${gameTitle(g)}
          ${live ? html`<p class="link-line">${linkState(live.link)}</p>` : nothing}
        </div>
        ${alertBox(problem)}
        <section class="leaf">
          <p class="kicker">
            ${t("card.rules", { innings: g.options.innings, dh: t(g.options.dh ? "card.dh" : "card.nodh") })}
          </p>
          <ul class="stubs">
            ${managers(g)}
          </ul>
          ${!g.you && open ? invited(g, open) : nothing} ${!g.you && !open ? html`<p>${t("card.watch")}</p>` : nothing}
          ${g.you && (g.you === "both" || g.you === g.options.side)
            ? html`<p><button class="danger" ?disabled=${canceling} @click=${cancel}>${t("card.off")}</button></p>`
            : nothing}
        </section>
        ${!g.you || !open ? nothing : g[open].reserved ? offer(g[open].reserved.name) : invite(g)}
        ${[...cards.values()].map((card) => card.render(g))}`;
    },
    close: () => {
      closed = true;
      live?.close();
    },
  };
}
