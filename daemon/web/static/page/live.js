// The connection to a game that is played: join, resume by revision, commands
// that happen once. It knows nothing of baseball.
import { renew, session } from "./app.js";

const pingEvery = 5000, pongWithin = 4000, resendAfter = 2500; // milliseconds
const firstWait = 500, longestWait = 10000; // milliseconds between two tries

/** Close codes after which there is no use in coming back. */
const final = new Set([4000, 4003, 4004]);

/**
 * How the connection is: "joining" until the game's present state is known,
 * "live", "lost" while it is tried again, "over" for good.
 * @typedef {"joining" | "live" | "lost" | "over"} Link
 */

/**
 * What is told of a game, in order. An event and a skip come with revisions
 * that have no holes.
 * @typedef {object} Hearer
 * @property {() => number} rev the last revision that is known
 * @property {(frame: Frame) => void} frame hears event, skip, state, presence, clock, hello
 * @property {(link: Link, why: string) => void} link hears how the connection is
 * @property {(cid: string, refusal: { code: string, detail: string } | null, rev: number) => void} answered hears what became of a command: refused, or kept as a revision
 */

export class Live {
  /** @param {string} game @param {Hearer} hearer */
  constructor(game, hearer) {
    this.game = game;
    this.hearer = hearer;
    /** @type {Link} */ this.link = "joining";
    /** @type {WebSocket | null} */ this.socket = null;
    /** Commands without an answer. @type {Map<string, { frame: Frame, sent: number }>} */ this.unanswered = new Map();
    this.tries = 0;
    this.lag = 0; // milliseconds, a moving mean
    this.retry = this.beat = this.pong = 0; // timers
    this.offline = () => this.lose("offline");
    this.online = () => this.connect();
    this.visible = () => { if (!document.hidden && this.link === "lost") this.connect(); };
    addEventListener("offline", this.offline);
    addEventListener("online", this.online);
    document.addEventListener("visibilitychange", this.visible);
    this.connect();
  }

  /** Hangs up for good. */
  close() {
    this.end("over", "");
    removeEventListener("offline", this.offline);
    removeEventListener("online", this.online);
    document.removeEventListener("visibilitychange", this.visible);
  }

  /**
   * Sends a command, again and again until it is answered; it happens once.
   * @param {unknown} action
   * @returns {string} its id
   */
  command(action) {
    const bytes = crypto.getRandomValues(new Uint8Array(12));
    const cid = Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
    const frame = { t: "cmd", g: this.game, cid, rev: this.hearer.rev(), d: { action } };
    this.unanswered.set(cid, { frame, sent: 0 });
    this.resend();
    return cid;
  }

  connect() {
    if (this.link === "over" || this.socket) return;
    clearTimeout(this.retry);
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/ws`, "pressbox.v1");
    this.socket = socket;
    socket.onopen = () => this.send({ t: "join", g: this.game, d: { since: this.hearer.rev() } });
    socket.onmessage = (e) => { if (socket === this.socket) this.take(JSON.parse(e.data)); };
    socket.onclose = (e) => { if (socket === this.socket) void this.closed(e.code); };
    this.expect();
  }

  /** @param {Frame} frame */
  take(frame) {
    switch (frame.t) {
      case "pong":
        this.lag += ((performance.now() - frame.d.ts) - this.lag) * (this.lag ? 0.2 : 1);
        clearTimeout(this.pong);
        return;
      case "ack":
      case "nak":
        if (frame.cid === undefined || !this.unanswered.delete(frame.cid)) {
          if (frame.t === "nak") this.refused(frame);
          return;
        }
        this.hearer.answered(frame.cid, frame.t === "nak" ? frame.d : null, Number(frame.rev));
        return;
      case "bye":
        if (frame.d?.code === "cancelled") this.end("over", "cancelled");
        return;
      case "event":
      case "skip": {
        const gap = Number(frame.rev) - this.hearer.rev();
        if (gap <= 0) return; // known
        if (gap > 1) return this.send({ t: "sync", g: this.game, d: { since: this.hearer.rev() } });
        break;
      }
      case "state":
        this.hearer.frame(frame);
        this.arrived();
        return;
    }
    this.hearer.frame(frame);
  }

  /** A refusal of something that was no command: joining. @param {Frame} frame */
  refused(frame) {
    const code = frame.d?.code;
    if (code === "unknown_game" || code === "forbidden") this.end("over", code);
  }

  /** The present state is known. */
  arrived() {
    this.tries = 0;
    clearTimeout(this.pong);
    if (this.link !== "live") {
      this.link = "live";
      this.hearer.link("live", "");
      for (const u of this.unanswered.values()) u.sent = 0;
    }
    this.resend();
    clearInterval(this.beat);
    this.beat = window.setInterval(() => {
      this.send({ t: "ping", d: { ts: performance.now(), lag: Math.round(this.lag) } });
      this.expect();
      this.resend();
    }, pingEvery);
  }

  /** Something must come soon, or the connection is taken for lost. */
  expect() {
    clearTimeout(this.pong);
    this.pong = window.setTimeout(() => this.lose("silent"), pongWithin);
  }

  resend() {
    if (this.link !== "live") return;
    const now = performance.now();
    for (const u of this.unanswered.values()) {
      if (u.sent && now - u.sent < resendAfter) continue;
      u.sent = now;
      this.send(u.frame);
    }
  }

  /** @param {Frame} frame */
  send(frame) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  /** @param {number} code */
  async closed(code) {
    this.socket = null;
    if (final.has(code)) return this.end("over", code === 4004 ? "unknown_game" : "closed");
    this.lose(code === 4001 ? "restart" : "closed");
    if (code === 4401 && !(await renew())) {
      this.end("over", "signed_out");
      session.set(null);
    }
  }

  /** Shows at once that nothing comes any more, and tries again. @param {string} why */
  lose(why) {
    if (this.link === "over") return;
    this.drop();
    this.link = "lost";
    this.hearer.link("lost", why);
    const wait = Math.min(longestWait, firstWait * 2 ** this.tries++) * (0.75 + Math.random() / 2);
    clearTimeout(this.retry);
    this.retry = window.setTimeout(() => this.connect(), wait);
  }

  /** @param {Link} link @param {string} why */
  end(link, why) {
    if (this.link === "over") return;
    this.link = link;
    clearTimeout(this.retry);
    this.drop();
    if (why) this.hearer.link(link, why);
  }

  drop() {
    const socket = this.socket;
    this.socket = null;
    clearInterval(this.beat);
    clearTimeout(this.pong);
    socket?.close();
  }
}
