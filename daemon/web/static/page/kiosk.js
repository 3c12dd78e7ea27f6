// The wall display: the game in progress, the announcements, and how to join.
// It takes no input and reconnects without help.
import { html, nothing } from "./lit-html.js";
import { t, qr, joinAddress, managerOf, pennant, inningName, clubStyle, fullScreen } from "./ui.js";
import { openStream } from "./streams.js";

const idleTimeout = 15 * 60 * 1000; // milliseconds without an event until the stream is opened again
const maxOthers = 4;

/** @param {PageContext} page @returns {View} */
export function kiosk({ update }) {
  /** @type {Map<string, Game>} */ const games = new Map();
  /** @type {Map<string, { text: string[], at: number }>} */ const lastPlays = new Map();
  /** @type {Announcement[]} */ let queue = [];
  /** @type {{ close: () => void } | null} */ let stream = null;
  /** @type {unknown} */ let code = nothing;
  let online = false, rejected = false, watchdog = 0;
  const address = joinAddress("/");

  /** What the stream sends. @type {Record<string, (data: any) => void>} */
  const receivers = {
    game: (g) => games.set(g.id, g),
    gone: (g) => { games.delete(g.id); lastPlays.delete(g.id); },
    play: (p) => {
      const g = games.get(p.g);
      if (!g) return;
      if (p.now) games.set(p.g, { ...g, now: p.now, score: p.now.score, inning: p.now.inning, half: p.now.half });
      if (p.text?.length) lastPlays.set(p.g, { text: p.text, at: Date.now() });
    },
    announcement: (a) => {
      queue = queue.filter((q) => q.id !== a.id);
      if (a.position !== undefined) queue = [...queue, a].sort((x, y) => (x.position ?? 0) - (y.position ?? 0));
    },
  };
  const open = () => {
    stream?.close();
    stream = openStream("/api/kiosk", {
      kept: ["game", "announcement"],
      on: Object.fromEntries(Object.entries(receivers).map(([type, receive]) => [type, (data) => { receive(data); alive(); }])),
      state: (state) => {
        [online, rejected] = [state === "open", state === "refused"];
        if (!online) return void update();
        queue = [];
        games.clear();
        alive();
      },
    });
  };
  const alive = () => {
    clearTimeout(watchdog);
    watchdog = window.setTimeout(open, idleTimeout);
    update();
  };
  open();
  void qr(address).then((svg) => { code = svg; update(); });

  /** Returns the active game with the latest play. */
  const featured = () => {
    const active = [...games.values()].filter((g) => g.status === "active");
    return active.sort((a, b) => (lastPlays.get(b.id)?.at ?? 0) - (lastPlays.get(a.id)?.at ?? 0) || (b.started_at ?? "").localeCompare(a.started_at ?? ""))[0];
  };
  /** @param {Game} g @param {Side} side */
  const clubLine = (g, side) => html`<div class="wall-club" .style=${clubStyle(g[side].team)}><span class="wall-name">${g[side].team.name}<small>${managerOf(g[side])}</small></span><span class="plate">${g.score?.[side] ?? 0}</span></div>`;
  /** @param {Game} g */
  const board = (g) => {
    const now = g.now;
    const base = (/** @type {number} */ i) => (now?.bases?.[i] ? "base taken" : "base");
    return html`<section class="wall-game" aria-label=${t("kiosk.game", { away: g.away.team.name, home: g.home.team.name })}>
      <div class="wall-lines">${clubLine(g, "away")}${clubLine(g, "home")}</div>
      <div class="wall-now"><p class="inning">${g.inning ? inningName(g.half, g.inning) : ""}</p>
        <svg viewBox="0 0 100 66" role="img" aria-label=${t("kiosk.bases", { n: now?.bases?.filter(Boolean).length ?? 0 })}><rect class=${base(0)} x="66" y="30" width="20" height="20" transform="rotate(45 76 40)"></rect><rect class=${base(1)} x="40" y="6" width="20" height="20" transform="rotate(45 50 16)"></rect><rect class=${base(2)} x="14" y="30" width="20" height="20" transform="rotate(45 24 40)"></rect></svg>
        <p class="outs">${t("count.outs", { n: now?.outs ?? 0 })}</p></div>
      <p class="wall-play" aria-live="polite" lang=${lastPlays.has(g.id) ? "en" : nothing}>${lastPlays.get(g.id)?.text.join(" ") ?? t("kiosk.begun")}</p></section>`;
  };

  return {
    title: () => t("kiosk.title"),
    bare: true,
    awake: true,
    render: () => {
      const game = featured();
      const rest = [...games.values()].filter((g) => g !== game).sort((a, b) => b.created_at.localeCompare(a.created_at)).slice(0, maxOthers);
      const air = queue.find((a) => a.status === "playing") ?? queue[0];
      return html`<main id="main" class="wall" tabindex="-1">
        <header><h1><span class="ball" aria-hidden="true"></span>Pressbox</h1>${fullScreen()}<span class=${`link-state ${online ? "on" : "off"}`}>${online ? t("live.on") : rejected ? t("kiosk.refused") : t("live.off")}</span></header>
        <div class="wall-main">${game ? board(game) : html`<section class="wall-game quiet"><p class="wall-play">${t("kiosk.quiet")}</p></section>`}</div>
        <section class="wall-air" aria-live="polite"><h2>${t("queue.title")}</h2><p>${air ? html`${air.status === "playing" ? nothing : html`<span class="tag hot">${t(/** @type {any} */ (`status.${air.status}`))}</span> `}${air.message}` : t("queue.empty")}</p></section>
        <aside class="wall-side">
          <section class="wall-join">${code}<div><h2>${t("kiosk.join")}</h2><p>${address.replace(/^http:\/\//, "").replace(/\/$/, "")}</p></div></section>
          ${rest.length ? html`<section><h2>${t("kiosk.also")}</h2><ul>${rest.map((g) => html`<li>${pennant(g.away.team)} ${g.score?.away ?? ""} <span>${t("game.at")}</span> ${pennant(g.home.team)} ${g.score?.home ?? ""}
            <small>${g.status === "pending" ? t("lobby.cards") : g.status === "finished" ? t("how.final") : g.inning ? inningName(g.half, g.inning) : ""}</small></li>`)}</ul></section>` : nothing}
        </aside></main>`;
    },
    close: () => {
      stream?.close();
      clearTimeout(watchdog);
    },
  };
}
