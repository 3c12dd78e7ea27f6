// The replay of a game. Each play has its own address.
import { html, nothing } from "./lit-html.js";
import {
  t, label, readOut, gameTitle, problemView, problemOf, joinAddress, clubStyle, loading, valued, notice, copy,
} from "./ui.js";
import { Scene, fetchGame, fetchScorebook } from "./board.js";

const speeds = [2400, 1200, 500]; // milliseconds per play

/** @type {Page} */
export function replay({ params, update }) {
  /** @type {Game | null} */ let game = null;
  /** @type {Problem | null} */ let problem = null;
  /** @type {Entry[]} */ let plays = [];
  /** @type {Scene | null} */ let scene = null;
  let i = 0;
  let timer = 0;
  let speed = 1;
  let copied = false;

  const load = async () => {
    try {
      game = await fetchGame(params.id);
      const book = await fetchScorebook(game);
      scene = new Scene(book, update);
      plays = book.entries.filter((e) => e.text.length);
      const wanted = Number(params.rev || 0);
      const found = plays.findIndex((e) => e.rev >= wanted);
      i = found < 0 ? plays.length - 1 : found;
    } catch (err) {
      problem = problemOf(err);
    }
    await update();
    if (!params.rev) return;
    scrollToPlay();
    const moment = document.getElementById("moment");
    moment?.focus({ preventScroll: true });
    moment?.closest("section")?.scrollIntoView({ block: "nearest" });
  };
  /** @param {number} to @param {boolean} [quiet] */
  const show = (to, quiet = false) => {
    if (!game || to < 0 || to >= plays.length) return stop();
    i = to;
    copied = false;
    history.replaceState(null, "", `/games/${game.id}/replay/${plays[i].rev}`);
    if (!quiet) readOut(plays[i].text.join(" "), "en");
    void update().then(scrollToPlay);
  };
  /** Scrolls the list to the play that is shown, and not the page. */
  const scrollToPlay = () => {
    const line = document.querySelector('.plays [aria-current="true"]');
    const list = line?.closest(".scroller");
    if (!line || !list) return;
    const at = line.getBoundingClientRect();
    const box = list.getBoundingClientRect();
    if (at.top < box.top || at.bottom > box.bottom) list.scrollTop += at.top - box.top - (box.height - at.height) / 2;
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    update();
  };
  const play = () => {
    if (timer) return stop();
    if (i === plays.length - 1) show(0);
    timer = window.setInterval(() => show(i + 1), speeds[speed]);
    update();
  };
  /** @param {KeyboardEvent} e */
  const pressed = (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || /** @type {Element} */ (e.target).matches?.("input, select, textarea"))
      return;
    const to = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: plays.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    show(Math.max(0, Math.min(plays.length - 1, to)));
  };
  /** @param {Event} e */
  const clicked = (e) => {
    // a link to another play of this game stays in this view
    const a = /** @type {Element} */ (e.target).closest("a[href*='/replay/']");
    const rev = Number(a?.getAttribute("href")?.split("/").at(-1));
    const at = plays.findIndex((m) => m.rev === rev);
    if (!a || at < 0) return;
    e.preventDefault();
    show(at);
  };
  const copyLink = async () => {
    await copy(joinAddress(location.pathname));
    copied = true;
    update();
  };
  addEventListener("keydown", pressed);
  void load();

  return {
    title: () =>
      game ? t("replay.title", { away: game.away.team.abbrev, home: game.home.team.abbrev }) : t("replay.name"),
    render: () => {
      const at = plays[i];
      if (!game || !scene) return problem ? problemView(problem) : loading();
      if (!at)
        return notice(
          t("replay.name"),
          html`<p>${t("curve.none")}</p>`,
          html`<a class="button" href=${`/games/${game.id}`}>${t("replay.live")}</a>`,
        );
      const end = i === plays.length - 1 && game.status === "finished";
      return html`<div class="game">
        <div class="now">
          ${scene.scoreboard(at, end)} ${scene.situation(at.now, end)}
          <div class="view">
            <section class="leaf park" aria-label=${t("game.park")}>
              <div class="stage">${scene.field(at, end)}</div>
            </section>
          </div>
          <section
            class="leaf panel"
            .style=${clubStyle(game[at.half === "top" ? "away" : "home"].team)}
            aria-labelledby="moment"
          >
            <p class="kicker">${t("replay.count", { n: i + 1, of: plays.length })}</p>
            <h2 id="moment" class="moment" lang="en" tabindex="-1">
              ${at.text[0]} <span>${at.text.slice(1).join(" ")}</span>
            </h2>
            <input
              type="range"
              min="0"
              max=${plays.length - 1}
              .value=${String(i)}
              aria-label=${t("replay.where")}
              aria-valuetext=${t("replay.count", { n: i + 1, of: plays.length })}
              @input=${valued((value) => show(Number(value), true))}
            />
            <p class="row">
              <span class="transport">
                <button aria-label=${t("replay.first")} @click=${() => show(0)}>«</button>
                <button aria-label=${t("replay.back")} ?disabled=${i === 0} @click=${() => show(i - 1)}>‹</button>
                <button class="primary" @click=${play}>${timer ? t("replay.stop") : t("replay.play")}</button>
                <button
                  aria-label=${t("replay.next")}
                  ?disabled=${i === plays.length - 1}
                  @click=${() => show(i + 1)}
                >
                  ›
                </button>
                <button aria-label=${t("replay.last")} @click=${() => show(plays.length - 1)}>»</button>
              </span>
              <label class="inline">
                ${t("say.rate")}
                <select
                  @change=${valued((_, { selectedIndex }) => {
                    speed = selectedIndex;
                    if (timer) {
                      stop();
                      play();
                    }
                  })}
                >
                  ${speeds.map(
                    (_, s) =>
                      html`<option ?selected=${s === speed}>
                        ${label("replay.speed", String(s))}
                      </option>`,
                  )}
                </select>
              </label>
              <button @click=${copyLink}>${copied ? t("invite.copied") : t("replay.copy")}</button>
            </p>
            <p class="hint keys">${t("replay.keys")}</p>
            ${at.win === undefined ? nothing : scene.curve(at)}
          </section>
          <section
            class="leaf scroller details"
            tabindex="0"
            role="region"
            aria-label=${t("tab.plays")}
            @click=${clicked}
          >
            <h2>${t("tab.plays")}</h2>
            ${scene.plays(at.rev)}
          </section>
        </div>
        <div class="game-head">
          ${gameTitle(game)}
          <p class="link-line"><a class="button" href=${`/games/${game.id}`}>${t("replay.live")}</a></p>
        </div>
      </div>`;
    },
    close: () => {
      clearInterval(timer);
      removeEventListener("keydown", pressed);
    },
  };
}
