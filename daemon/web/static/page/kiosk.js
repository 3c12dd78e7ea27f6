// The wall display: what is played, or else the time, the last final, standings,
// leaders and the next games; the announcements, and how to join. An urgent
// announcement takes all of it. It takes no input, reconnects without help, shows
// since when it is cut off, and is black in quiet hours.
import { html, nothing } from "./lit-html.js";
import {
  t, label, reactions, reactionShown, qr, joinAddress, managerOf, openSide, pennant, inningName, clubStyle,
  fullScreen, formatTime, number, figure, innings, unbroken, cells, columns, language, when,
} from "./ui.js";
import { openStream } from "./streams.js";

// All in milliseconds.
const turn = 15e3; // each panel is shown for
const silence = 60e3; // without an event until the stream is opened again; the server sends one every 15 s
const finalAlone = 15 * 60e3; // a final is shown before anything else that is not played
const finalAge = 24 * 3600e3; // a final is shown at all
const idleGame = 30 * 60e3; // without a move until a game no longer counts as played
const aired = 10 * 60e3; // an announcement is shown after its end
const alarmed = 10e3; // an urgent one takes the whole display after its end
const lit = 60e3; // after the last input in quiet hours
const pointed = 3e3; // the pointer is shown after the last input

const maxGames = 6;
const maxRows = 6;
const maxInnings = 9;
const largest = 40; // characters of an urgent announcement in capitals of a twelfth of the height
const still = 200; // characters of one that does not move
const perSecond = 15; // characters that are spoken
const categories = ["avg", "hr", "rbi", "era", "w", "so"];

/**
 * @typedef {{ team: Club, manager: { name: string } | null, bot: boolean, line: number[], r: number, h: number, e:
 *   number }} Line
 * @typedef {{ id: string, rev: number, at: string, innings: number, away: Line, home: Line, now:
 *   NonNullable<Game["now"]>, batter: { name: string, ab: number, h: number },
 * pitcher: { name: string, outs: number, so: number }, text: string[], paused?: boolean, result?: { how: string }
 * }} Score
 * @typedef {{ season: number, standings: Api["Standing"][], leaders: Api["Category"][] }} Season
 * @typedef {{ kind: "game" | "standings" | "leaders" | "next" | "announced" | "clock", score?: Score }} Panel
 * @typedef {{ title?: string, message?: string, at: string, urgent?: boolean }} Planned
 * @typedef {{ of: Announcement, until: number }} Alarm shown until then: forever while it is spoken
 */

/**
 * Returns how much there is to see in a game: first late and close, then with
 * runners on base.
 * @param {Score} s
 */
const interest = (s) =>
  (s.now.inning >= s.innings - 1 && Math.abs(s.home.r - s.away.r) <= 2 ? 2 : 0) + (s.now.bases.some(Boolean) ? 1 : 0);

/** What the stream has sent. */
class Wall {
  constructor() {
    /** @type {Map<string, Game>} */ this.pending = new Map();
    /** @type {Map<string, Score>} */ this.scores = new Map();
    /** @type {Map<string, Announcement>} */ this.announcements = new Map();
    /** @type {Schedule[]} */ this.schedules = [];
    /** @type {Map<string, Alarm>} */ this.alarms = new Map();
    /** @type {Score | null} */ this.final = null;
    /** @type {Map<string, { name: Api["Reaction"]["name"], until: number }>} */
    this.reactions = new Map(); // by game and side
    /** @type {Season | null} */ this.season = null;
    /** @type {{ active: boolean, until?: string, reason?: string } | null} */ this.quiet = null;
    /** @type {{ ssid: string, code: string } | null} */ this.wifi = null;
  }

  /** The handlers of the events by type. @type {Record<string, (data: any) => void>} */
  receivers = {
    game: (g) => this.pending.set(g.id, g),
    score: (s) => {
      if (s.rev < (this.scores.get(s.id)?.rev ?? 0)) return; // sent while the display connected
      this.pending.delete(s.id);
      this.scores.set(s.id, s);
    },
    final: (s) => {
      this.final = s;
    },
    reaction: ({ id, side, name }) => this.reactions.set(`${id} ${side}`, { name, until: Date.now() + reactionShown }),
    gone: ({ id }) => {
      this.pending.delete(id);
      this.scores.delete(id);
    },
    season: (s) => {
      this.season = s;
    },
    quiet: (q) => {
      this.quiet = q;
    },
    wifi: (w) => {
      this.wifi = w;
    },
    schedules: (s) => {
      this.schedules = s.schedules;
    },
    announcement: (a) => {
      this.alarm(a);
      this.announcements.delete(a.id);
      if (a.message || !a.ended_at) this.announcements.set(a.id, a); // HISTORY=off keeps no texts
      for (const { id } of this.recent().slice(maxRows)) this.announcements.delete(id);
    },
    alive: () => {},
  };

  /**
   * Begins or ends the time for which an urgent announcement takes the whole display, by the display's clock.
   * @param {Announcement} a
   */
  alarm(a) {
    const now = Date.now();
    const shown = this.alarms.get(a.id);
    if (a.urgent && a.status === "playing") this.alarms.set(a.id, { of: a, until: Infinity });
    else if (shown) shown.until = Math.min(shown.until, now + alarmed);
    for (const [id, { until }] of this.alarms) if (until <= now) this.alarms.delete(id);
  }

  /** What a manager shows. @param {string} game @param {Side} side */
  reaction(game, side) {
    const shown = this.reactions.get(`${game} ${side}`);
    return shown && Date.now() < shown.until ? reactions[shown.name] : "";
  }

  /** The urgent announcement that takes the whole display: the newest, before those that have ended. */
  alarming() {
    const now = Date.now();
    return [...this.alarms.values()]
      .filter(({ until }) => now < until)
      .sort((a, b) => b.until - a.until || b.of.created_at.localeCompare(a.of.created_at))[0]?.of;
  }

  /** The announcement that is planned next and will be heard. @param {number} now @returns {Planned | undefined} */
  planned(now) {
    const once = [...this.announcements.values()].filter((a) => a.status === "scheduled");
    return [...once.map((a) => ({ ...a, at: a.speaks_at })), ...this.schedules.map((s) => ({ ...s, at: s.next_at }))]
      .filter((p) => Date.parse(p.at ?? "") > now && (p.urgent || !this.silentAt(p.at ?? "")))
      .map((p) => ({ ...p, at: p.at ?? "" }))
      .sort((a, b) => Date.parse(a.at) - Date.parse(b.at))[0];
  }

  /** Whether do not disturb, as it is now, lasts until then. @param {string} at */
  silentAt(at) {
    return Boolean(this.quiet?.active && (!this.quiet.until || Date.parse(at) < Date.parse(this.quiet.until)));
  }

  /** Announcements that were spoken, newest first. */
  recent() {
    return [...this.announcements.values()]
      .filter((a) => a.ended_at && a.status === "done")
      .sort((a, b) => (b.ended_at ?? "").localeCompare(a.ended_at ?? ""));
  }

  /** The announcement that is spoken or is next, or else was spoken lately. @param {number} now */
  onAir(now) {
    const queue = [...this.announcements.values()]
      .filter((a) => a.position !== undefined)
      .sort((a, b) => (a.position ?? 0) - (b.position ?? 0));
    return (
      queue.find((a) => a.status === "playing") ??
      queue[0] ??
      this.recent().find((a) => now - Date.parse(a.ended_at ?? "") < aired)
    );
  }

  /** Whether the display is black: in quiet hours, unless an announcement is spoken. @param {number} now */
  dark(now) {
    const hours = this.quiet?.active && this.quiet.reason === "hours" && now < Date.parse(this.quiet.until ?? "");
    return hours && this.onAir(now)?.status !== "playing" && !this.alarming();
  }

  /** Returns what is shown by turns. @param {number} now @returns {Panel[]} */
  panels(now) {
    const played = [...this.scores.values()]
      .filter((s) => now - Date.parse(s.at) < idleGame)
      .sort((a, b) => interest(b) - interest(a) || b.at.localeCompare(a.at));
    const age = this.final ? now - Date.parse(this.final.at) : Infinity;
    /** @type {Panel[]} */ const final =
      this.final && age < (played.length ? finalAlone : finalAge) ? [{ kind: "game", score: this.final }] : [];
    if (played.length)
      return [...played.slice(0, maxGames).map((score) => ({ kind: /** @type {const} */ ("game"), score })), ...final];
    if (age < finalAlone) return final;
    /** @type {Panel[]} */ const idle = [{ kind: "clock" }, ...final];
    if (this.season?.standings.length) idle.push({ kind: "standings" });
    if (this.season?.leaders.some((c) => c.leaders.length)) idle.push({ kind: "leaders" });
    if (this.pending.size) idle.push({ kind: "next" });
    if (this.recent().length) idle.push({ kind: "announced" });
    return idle;
  }
}

/** @type {Page} */
export function kiosk({ update }) {
  let wall = new Wall();
  /** @type {{ close: () => void } | null} */ let stream = null;
  /** @type {"" | "open" | "lost" | "refused"} */ let state = "";
  /** @type {unknown} */ let join = nothing;
  /** @type {unknown} */ let wifi = nothing;
  let last = Date.now(); // when the stream was last heard of
  let touched = -Infinity;
  let rest = 0; // when there was input, and a timer since then
  const address = joinAddress("/");
  const kept = Object.keys(wall.receivers).filter((type) => !["alive", "gone", "reaction"].includes(type));

  const open = () => {
    stream?.close();
    last = Date.now();
    stream = openStream("/api/kiosk", {
      kept,
      on: Object.fromEntries(
        Object.keys(wall.receivers).map((type) => [
          type,
          (data) => {
            last = Date.now();
            wall.receivers[type](data);
            if (type === "wifi")
              void qr(data.code, t("kiosk.wifi.label", { name: data.ssid })).then((svg) => {
                wifi = svg;
                void update();
              });
            if (type !== "alive") void update();
            if (wall.alarming()) setTimeout(update, alarmed);
            if (type === "reaction") setTimeout(update, reactionShown);
          },
        ]),
      ),
      state: (now) => {
        if (now === "open") [wall, last] = [new Wall(), Date.now()];
        state = now;
        void update();
      },
    });
  };
  const timer = window.setInterval(() => {
    if (state === "open" && Date.now() - last > silence) {
      state = "lost";
      open();
    }
    void update();
  }, turn);
  const inputs = ["pointermove", "pointerdown", "keydown"];
  const touch = () => {
    const was = touched;
    touched = Date.now();
    clearTimeout(rest);
    rest = setTimeout(update, pointed);
    if (touched - was >= pointed) void update();
  };
  for (const type of inputs) addEventListener(type, touch);
  open();
  void qr(address).then((svg) => {
    join = svg;
    void update();
  });

  return {
    title: () => t("nav.kiosk"),
    bare: true,
    awake: true,
    render: () => {
      const now = Date.now();
      const used = now - touched < pointed ? "used" : "";
      if (wall.dark(now) && now - touched > lit)
        return html`<main id="main" class="wall dark" tabindex="-1"><h1 class="unseen">Pressbox</h1></main>`;
      const alarm = wall.alarming();
      if (alarm) return wholeDisplay(alarm, now);
      const panels = wall.panels(now);
      const panel = panels[Math.floor(now / turn) % panels.length];
      const move = Math.floor(now / 60e3); // everything moves, so that nothing burns in
      return html`<main
        id="main"
        class=${`wall ${used} ${state === "open" ? "live" : ""} ${move % 20 < 10 ? "" : "swapped"}`}
        tabindex="-1"
        .style=${`--x:${(move % 3) - 1};--y:${(Math.floor(move / 3) % 3) - 1}`}
      >
        ${header(wall, now)} ${stale(state, last, now)}
        <div class="wall-main">${render(panel, wall, now)}</div>
        <aside class="wall-side" aria-label=${t("kiosk.join")}>
          <section class="wall-join">
            ${join}
            <div>
              <h2>${t("kiosk.join")}</h2>
              <p>${address.replace(/^http:\/\//, "").replace(/\/$/, "")}</p>
            </div>
          </section>
          ${wall.wifi
            ? html`<section class="wall-join">
                ${wifi}
                <div>
                  <h2>${t("kiosk.wifi")}</h2>
                  <p>${wall.wifi.ssid}</p>
                </div>
              </section>`
            : others(wall, panel, wall.onAir(now) ? 1 : 3)}
        </aside>
        ${air(wall.onAir(now), wall.planned(now))}
      </main>`;
    },
    close: () => {
      for (const type of inputs) removeEventListener(type, touch);
      stream?.close();
      clearInterval(timer);
      clearTimeout(rest);
    },
  };
}

/** @param {string | number} at */
const clock = (at) =>
  new Date(at).toLocaleTimeString(language, { hour: "numeric", minute: "2-digit" });

/** @param {Wall} wall @param {number} now */
const header = (wall, now) =>
  html`<header>
    <h1><span class="ball" aria-hidden="true"></span>Pressbox</h1>
    ${fullScreen()}
    ${wall.quiet?.active
      ? html`<span class="wall-quiet">
          ${wall.quiet.until ? t("kiosk.until", { when: clock(wall.quiet.until) }) : t("quiet.title")}
        </span>`
      : nothing}
    <time>${clock(now)}</time>
  </header>`;

/** Renders the warning that what is shown is old. @param {string} state @param {number} last @param {number} now */
function stale(state, last, now) {
  if (state === "open" || state === "") return nothing;
  const minutes = Math.floor((now - last) / 60e3);
  return html`<p class="wall-stale" role="alert">
    ${state === "refused" ? t("kiosk.refused") : t("kiosk.stale", { at: clock(last), n: minutes })}
  </p>`;
}

/** @param {Panel} panel @param {Wall} wall @param {number} now */
function render(panel, wall, now) {
  switch (panel.kind) {
    case "game":
      return panel.score ? board(panel.score, wall) : nothing;
    case "standings":
      return standings(wall);
    case "leaders":
      return leaders(wall);
    case "next":
      return html`<section class="wall-panel">
        <h2>${t("kiosk.next")}</h2>
        <ul class="wall-list">
          ${[...wall.pending.values()].slice(-maxRows).map(
            (g) =>
              html`<li>
                <span>${pennant(g.away.team)} ${g.away.team.name}</span> <span>${t("game.at")}</span>
                <span>${pennant(g.home.team)} ${g.home.team.name}</span>
                <small>${t(openSide(g) ? "lobby.seat" : "lobby.cards")}</small>
              </li>`,
          )}
        </ul>
      </section>`;
    case "announced":
      return html`<section class="wall-panel">
        <h2>${t("kiosk.announced")}</h2>
        <ul class="wall-list">
          ${wall
            .recent()
            .slice(0, maxRows - 1)
            .map(
              (a) =>
                html`<li>
                  <small>${formatTime(a.ended_at)}</small> <span lang="en">${shortened(a.message, 90)}</span>
                </li>`,
            )}
        </ul>
      </section>`;
    case "clock":
      return html`<section class="wall-panel wall-clock">
        <time>${clock(now)}</time>
        <p>${new Date(now).toLocaleDateString(language, { weekday: "long", day: "numeric", month: "long" })}</p>
        <p>${t("kiosk.quiet")}</p>
      </section>`;
  }
}

/** @param {string} text @param {number} most characters */
const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text);

/** Joins as many texts as fit. @param {string[]} texts @param {number} most characters */
function fitting(texts, most) {
  let n = texts.length;
  while (n > 1 && texts.slice(0, n).join(" ").length > most) n--;
  return shortened(texts.slice(0, n).join(" "), most);
}

/**
 * Returns the class of a text that has to be smaller.
 * @param {string} text
 * @param {number} long
 * @param {number} longer
 */
const sizeOf = (text, long, longer) => (text.length > longer ? "longer" : text.length > long ? "long" : "");

/** @param {Score} s @param {Wall} wall */
function board(s, wall) {
  const over = Boolean(s.result);
  const text = unbroken(fitting(s.text, 175));
  const from = Math.max(0, Math.max(s.innings, s.now.inning) - maxInnings); // extra innings replace the first ones
  const innings = Array.from({ length: Math.min(maxInnings, Math.max(s.innings, s.now.inning)) }, (_, i) => from + i);
  /** @param {Line} l @param {Side} side */
  const row = (l, side) =>
    html`<tr .style=${clubStyle(l.team)}>
      <th scope="row" class=${sizeOf(l.team.name, 18, 40)}>
        ${shortened(l.team.name, 60)}
        <small>${shortened(managerOf(/** @type {any} */ (l)), 30)} ${wall.reaction(s.id, side)}</small>
      </th>
      ${innings.map((i) => html`<td>${l.line[i] ?? ""}</td>`)}
      ${[l.r, l.h, l.e].map((n) => html`<td class="total">${n}</td>`)}
    </tr>`;
  return html`<section
    class="wall-panel wall-game"
    aria-label=${t("leagues.at", { away: s.away.team.name, home: s.home.team.name })}
  >
    <table>
      <thead>
        <tr>
          <th scope="col"><span class="unseen">${t("board.club")}</span></th>
          ${columns([...innings.map((i) => i + 1), t("kiosk.r"), t("kiosk.h"), t("kiosk.e")])}
        </tr>
      </thead>
      <tbody>
        ${row(s.away, "away")}${row(s.home, "home")}
      </tbody>
    </table>
    ${over
      ? html`<p class="wall-final">
          ${label("how", s.result?.how, t("how.final"))}<small>${formatTime(s.at)}</small>
        </p>`
      : situation(s)}
    <p class=${`wall-play ${sizeOf(text, 80, 130)}`} aria-live="polite" lang="en">${text}</p>
  </section>`;
}

/** @param {Score} s */
function situation(s) {
  const base = (/** @type {number} */ i) => (s.now.bases[i] ? "base taken" : "base");
  return html`<div class="wall-now">
    <svg viewBox="8 0 84 56" role="img" aria-label=${t("kiosk.bases", { n: s.now.bases.filter(Boolean).length })}>
      <rect class=${base(0)} x="66" y="30" width="20" height="20" transform="rotate(45 76 40)"></rect>
      <rect class=${base(1)} x="40" y="6" width="20" height="20" transform="rotate(45 50 16)"></rect>
      <rect class=${base(2)} x="14" y="30" width="20" height="20" transform="rotate(45 24 40)"></rect>
    </svg>
    <div>
      <p class="inning">
        ${s.paused ? t("kiosk.paused") : inningName(s.now.half === "top" ? "top" : "bottom", s.now.inning)}
      </p>
      <p>
        ${t("count.outs", { n: s.now.outs })}
        ${s.now.count ? html` · ${s.now.count.balls}–${s.now.count.strikes}` : nothing}
      </p>
    </div>
    <dl>
      <div>
        <dt>${t("game.batter")}</dt>
        <dd>${shortened(s.batter.name, 22)} <small>${t("kiosk.batter", s.batter)}</small></dd>
      </div>
      <div>
        <dt>${t("game.pitcher")}</dt>
        <dd>
          ${shortened(s.pitcher.name, 22)}
          <small>
            ${t("kiosk.pitcher", {
              innings: innings(s.pitcher.outs),
              so: s.pitcher.so,
            })}
          </small>
        </dd>
      </div>
    </dl>
  </div>`;
}

/** @param {Wall} wall */
const standings = (wall) =>
  html`<section class="wall-panel">
    <h2>${t("standings.title")}</h2>
    <table class="wall-table">
      <thead>
        <tr>
          <th scope="col"><span class="unseen">${t("board.club")}</span></th>
          ${columns(["w", "l", "gb"].map((c) => label("kiosk", c)))}
        </tr>
      </thead>
      <tbody>
        ${wall.season?.standings.map(
          (s) =>
            html`<tr>
              <th scope="row">${pennant(s.team)} ${shortened(s.team.name, 26)}</th>
              ${cells([s.w, s.l, s.gb ? number(s.gb, { minimumFractionDigits: 1 }) : "–"])}
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`;

/** @param {Wall} wall */
const leaders = (wall) =>
  html`<section class="wall-panel">
    <h2>${t("leaders.title")}</h2>
    <div class="wall-leaders">
      ${wall.season?.leaders
        .filter(
          (c, i, all) =>
            categories.includes(c.statistic) &&
            c.leaders.length &&
            all.findIndex((o) => o.statistic === c.statistic) === i,
        )
        .slice(0, maxRows)
        .map(
          (c) =>
            html`<div>
              <h3>${label("leaders", c.statistic)}</h3>
              <ol>
                ${c.leaders.map(
                  (l) =>
                    html`<li>
                      <span>${shortened(l.name, 20)} <small>${l.team.abbrev}</small></span>
                      <b>${figure(c.statistic, l.value)}</b>
                    </li>`,
                )}
              </ol>
            </div>`,
        )}
    </div>
  </section>`;

/** Renders the games that are not in the main panel. @param {Wall} wall @param {Panel} panel @param {number} most */
function others(wall, panel, most) {
  const rest = [...wall.scores.values()].filter((s) => s !== panel.score).slice(0, most);
  return rest.length
    ? html`<section>
        <h2>${t("kiosk.also")}</h2>
        <ul>
          ${rest.map(
            (s) =>
              html`<li>
                <b>${pennant(s.away.team)} ${s.away.r}</b> <span>${t("game.at")}</span>
                <b>${pennant(s.home.team)} ${s.home.r}</b>
                <small>${inningName(s.now.half === "top" ? "top" : "bottom", s.now.inning)}</small>
              </li>`,
          )}
        </ul>
      </section>`
    : nothing;
}

/** Returns what an announcement says. @param {{ title?: string, message?: string, sound?: string }} a */
const said = (a) =>
  [a.title, a.message || (a.sound && label("say.sound", a.sound, label("say.chime", a.sound)))]
    .filter(Boolean)
    .join(". ");

/**
 * Renders an urgent announcement over the whole display. A text that does not fit moves while it is spoken.
 * @param {Announcement} a
 * @param {number} now
 */
function wholeDisplay(a, now) {
  const text = said(a);
  const size = sizeOf(text, largest, still);
  const spoken = text.length / perSecond;
  const since = a.started_at ? (now - Date.parse(a.started_at)) / 1e3 : 0;
  return html`<main id="main" class="wall alarm" tabindex="-1">
    <h1><span class="ball" aria-hidden="true"></span>${t("say.urgenttag")} · ${clock(a.started_at ?? a.created_at)}</h1>
    <div class=${size}>
      <p role="alert" lang="en" .style=${`--spoken:${spoken}s;--since:${-Math.max(0, Math.min(since, spoken))}s`}>
        ${text}
      </p>
    </div>
  </main>`;
}

/**
 * Renders what is or was on the air, or else the next that is planned.
 * @param {Announcement | undefined} a
 * @param {Planned | undefined} planned
 */
function air(a, planned) {
  const of = a ?? planned;
  const text = of ? shortened(said(of), 160) : "";
  return html`<section
    class=${`wall-air ${a?.urgent ? "urgent" : ""} ${of ? "" : "idle"}`}
    aria-live="polite"
    aria-label=${t("queue.title")}
  >
    ${of
      ? html`<h2>${airTitle(a, planned)}</h2>
          <p class=${sizeOf(text, 60, 110)} lang="en">${text}</p>`
      : nothing}
  </section>`;
}

/** @param {Announcement | undefined} a @param {Planned | undefined} planned */
function airTitle(a, planned) {
  if (!a) return t("kiosk.planned", { when: when(planned?.at ?? "") });
  if (a.status === "playing") return t("queue.title");
  return a.ended_at ? formatTime(a.ended_at) : label("status", a.status);
}
