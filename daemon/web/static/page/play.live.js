// The connection to a game.
import { renewSession, session } from "./ui.js";

const pingInterval = 5000;
const pongTimeout = 4000;
const resendAfter = 2500; // milliseconds
const minBackoff = 500;
const maxBackoff = 10000; // milliseconds

/** Close codes after which it does not reconnect. */
const final = new Set([4000, 4003, 4004]);

/**
 * The state of a connection: "joining" until the state of the game has arrived,
 * "live", "lost" while it reconnects, "over" once it no longer does.
 * @typedef {"joining" | "live" | "lost" | "over"} Link
 */

/**
 * The receiver of a connection. Event and skip frames arrive in order, without
 * gaps between their revisions.
 * @typedef {object} Handler
 * @property {() => number} rev returns the last revision that was received
 * @property {(frame: Frame) => void} frame receives event, skip, state, presence, clock and hello frames
 * @property {(link: Link, reason: string) => void} link receives the state of the connection
 * @property {(cid: string, error: { code: string, detail: string } | null, rev: number) => void} answered receives
 *   the answer to a command: an error, or the revision that it became
 */

export class Live {
  /** @param {string} game @param {Handler} handler */
  constructor(game, handler) {
    this.game = game;
    this.handler = handler;
    /** @type {Link} */ this.link = "joining";
    /** @type {WebSocket | null} */ this.socket = null;
    /**
     * Commands that are not answered yet, by cid.
     * @type {Map<string, { frame: Frame, sent: number }>}
     */
    this.unanswered = new Map();
    this.attempts = 0;
    this.lag = 0; // milliseconds, a moving average
    this.retry = this.beat = this.pong = 0; // timers
    this.offline = () => this.lose("offline");
    this.online = () => this.connect();
    this.visible = () => {
      if (!document.hidden && this.link === "lost") this.connect();
    };
    addEventListener("offline", this.offline);
    addEventListener("online", this.online);
    document.addEventListener("visibilitychange", this.visible);
    this.connect();
  }

  /** Closes the connection. It does not reconnect. */
  close() {
    this.end("over", "");
    removeEventListener("offline", this.offline);
    removeEventListener("online", this.online);
    document.removeEventListener("visibilitychange", this.visible);
  }

  /**
   * Sends a command until it is answered. The server applies it once.
   * @param {unknown} action
   * @returns {string} its cid
   */
  command(action) {
    const bytes = crypto.getRandomValues(new Uint8Array(12));
    const cid = Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
    const frame = { t: "cmd", g: this.game, cid, rev: this.handler.rev(), d: { action } };
    this.unanswered.set(cid, { frame, sent: 0 });
    this.resend();
    return cid;
  }

  /** Shows a reaction to all who follow the game; it is lost without a connection. @param {string} name */
  react(name) {
    if (this.link === "live") this.send({ t: "react", g: this.game, d: { name } });
  }

  connect() {
    if (this.link === "over" || this.socket) return;
    clearTimeout(this.retry);
    const socket = new WebSocket(
      `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/ws`,
      "pressbox.v1",
    );
    this.socket = socket;
    socket.onopen = () => this.send({ t: "join", g: this.game, d: { since: this.handler.rev() } });
    socket.onmessage = (e) => {
      if (socket === this.socket) this.receive(JSON.parse(e.data));
    };
    socket.onclose = (e) => {
      if (socket === this.socket) void this.closed(e.code);
    };
    this.expect();
  }

  /** @param {Frame} frame */
  receive(frame) {
    switch (frame.t) {
      case "pong":
        this.lag += (performance.now() - frame.d.ts - this.lag) * (this.lag ? 0.2 : 1);
        clearTimeout(this.pong);
        return;
      case "ack":
      case "nak":
        if (frame.cid === undefined || !this.unanswered.delete(frame.cid)) {
          if (frame.t === "nak") this.joinRejected(frame);
          return;
        }
        this.handler.answered(frame.cid, frame.t === "nak" ? frame.d : null, Number(frame.rev));
        return;
      case "bye":
        if (frame.d?.code === "cancelled") this.end("over", "cancelled");
        return;
      case "hello":
        if (frame.d.role === "visitor" && session.me) {
          // the session has to be renewed
          this.drop();
          return void this.closed(4401);
        }
        break;
      case "event":
      case "skip": {
        const gap = Number(frame.rev) - this.handler.rev();
        if (gap <= 0) return; // a duplicate
        if (gap > 1) return this.send({ t: "sync", g: this.game, d: { since: this.handler.rev() } });
        break;
      }
      case "state":
        this.handler.frame(frame);
        this.arrived();
        return;
    }
    this.handler.frame(frame);
  }

  /** Handles a nak without a command: joining failed. @param {Frame} frame */
  joinRejected(frame) {
    const code = frame.d?.code;
    if (code === "unknown_game" || code === "forbidden") this.end("over", code);
  }

  /** Handles the arrival of the state: the connection is live. */
  arrived() {
    this.attempts = 0;
    clearTimeout(this.pong);
    if (this.link !== "live") {
      this.link = "live";
      this.handler.link("live", "");
      for (const u of this.unanswered.values()) u.sent = 0;
    }
    this.resend();
    clearInterval(this.beat);
    this.beat = window.setInterval(() => {
      this.send({ t: "ping", d: { ts: performance.now(), lag: Math.round(this.lag) } });
      this.expect();
      this.resend();
    }, pingInterval);
  }

  /** Loses the connection unless a frame arrives in time. */
  expect() {
    clearTimeout(this.pong);
    this.pong = window.setTimeout(() => this.lose("silent"), pongTimeout);
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
    if (code === 4401 && !(await renewSession())) {
      this.end("over", "signed_out");
      session.set(null);
    }
  }

  /** Closes the socket and schedules the next attempt. @param {string} reason */
  lose(reason) {
    if (this.link === "over") return;
    this.drop();
    this.link = "lost";
    this.handler.link("lost", reason);
    const backoff = Math.min(maxBackoff, minBackoff * 2 ** this.attempts++) * (0.75 + Math.random() / 2);
    clearTimeout(this.retry);
    this.retry = window.setTimeout(() => this.connect(), backoff);
  }

  /** @param {Link} link @param {string} reason */
  end(link, reason) {
    if (this.link === "over") return;
    this.link = link;
    clearTimeout(this.retry);
    this.drop();
    if (reason) this.handler.link(link, reason);
  }

  drop() {
    const socket = this.socket;
    this.socket = null;
    clearInterval(this.beat);
    clearTimeout(this.pong);
    if (socket?.readyState === WebSocket.CONNECTING)
      socket.onopen = () => socket.close(); // at once would be an error to browsers
    else socket?.close();
  }
}
