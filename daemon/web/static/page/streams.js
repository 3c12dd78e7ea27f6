// Event streams that all tabs of a browser share. With HTTP/1.1 a browser has six
// connections to a host: a stream of each tab would use them up, and further
// pages would not load. A shared worker has one stream for each address; it needs
// no https, unlike Web Locks. This file is also the worker's script, so that a
// page loads it once. A browser without shared workers, such as Chrome on
// Android, has a stream for each visible page.

const retryAfter = 10000; // milliseconds, after the server refused a stream

/**
 * What a page wants to receive. Events of the types in "kept" are a state: a
 * page that comes later receives the last one of each id at once.
 * @typedef {{ url: string, account: string, types: string[], kept: string[] }} Wish
 * "state" is "open" when the stream begins, again or for this page, "lost" when
 * it was cut, and "refused" when the server does not send it.
 * @typedef {{ state?: "open" | "lost" | "refused", type?: string, data?: any }} Message
 * @typedef {(message: Message) => void} Send
 */

/** A stream and who receives it. */
class Source {
  /** @param {string} url */
  constructor(url) {
    this.url = url;
    /** @type {Map<Send, string[]>} */ this.receivers = new Map();
    /** @type {Map<string, Message>} */ this.last = new Map(); // by type and id
    /** @type {Set<string>} */ this.kept = new Set();
    /** @type {Set<string>} */ this.types = new Set();
    /** @type {Message["state"]} */ this.state = undefined;
    this.retry = 0;
    this.open();
  }

  open() {
    this.source = new EventSource(this.url, { withCredentials: true });
    this.source.onopen = () => {
      this.last.clear();
      this.publish("open");
    };
    this.source.onerror = () => {
      const refused = this.source?.readyState === EventSource.CLOSED;
      this.publish(refused ? "refused" : "lost");
      if (refused) this.retry = Number(setTimeout(() => this.open(), retryAfter));
    };
    for (const type of this.types) this.listen(type);
  }

  /** @param {Message["state"]} state */
  publish(state) {
    this.state = state;
    for (const send of this.receivers.keys()) send({ state });
  }

  /** @param {string} type */
  listen(type) {
    this.source?.addEventListener(type, (e) => {
      const data = JSON.parse(e.data);
      this.keep(type, data);
      for (const [send, types] of this.receivers) if (types.includes(type)) send({ type, data });
    });
  }

  /** Keeps an event, unless what it is about is over. @param {string} type @param {any} data */
  keep(type, data) {
    if (type === "gone") for (const about of ["game", "score", "rematch"]) this.last.delete(`${about} ${data.id}`);
    if (!this.kept.has(type)) return;
    const key = `${type} ${data.id ?? ""}`;
    this.last.delete(key); // so that the order is that of the events
    if (!data.ended_at && !data.finished_at) this.last.set(key, { type, data });
  }

  /** @param {Send} send @param {Wish} wish */
  add(send, { types, kept }) {
    for (const type of kept) this.kept.add(type);
    for (const type of types.filter((type) => !this.types.has(type))) {
      this.types.add(type);
      this.listen(type);
    }
    this.receivers.set(send, types);
    if (this.state) send({ state: this.state });
    if (this.state === "open") for (const message of this.last.values()) send(message);
  }

  close() {
    clearTimeout(this.retry);
    this.source?.close();
  }
}

/** @type {Map<string, Source>} */
const sources = new Map();

/** Subscribes to the source of an address. Returns a function that ends it. @param {Wish} wish @param {Send} send */
function subscribe(wish, send) {
  const key = `${wish.url} ${wish.account}`; // what the server sends depends on who is signed in
  const source = sources.get(key) ?? new Source(wish.url);
  sources.set(key, source);
  source.add(send, wish);
  return () => {
    source.receivers.delete(send);
    if (source.receivers.size) return;
    source.close();
    sources.delete(key);
  };
}

// ---- the worker

if ("SharedWorkerGlobalScope" in globalThis) {
  addEventListener("connect", (e) => {
    const [port] = /** @type {MessageEvent} */ (e).ports;
    let end = () => {};
    port.onmessage = ({ data: wish }) => {
      if (!wish) return end();
      end = subscribe(wish, (message) => port.postMessage(message));
    };
  });
}

// ---- the page

/** Subscribes through the worker. @param {Wish} wish @param {Send} send @param {() => void} failed */
function share(wish, send, failed) {
  const worker = new SharedWorker(import.meta.url, { type: "module", name: "streams" });
  worker.onerror = failed;
  worker.port.onmessage = ({ data }) => send(data);
  worker.port.postMessage(wish);
  return () => {
    worker.port.postMessage(null);
    worker.port.close();
  };
}

let shared = "SharedWorker" in globalThis;

/**
 * Receives the events of an address until it is closed, and not while the page
 * is in the browser's cache of pages that were left.
 * @param {string} url
 * @param {{ account?: string, on: Record<string, (data: any) => void>, kept?: string[], state: (state: "open" |
 *   "lost" | "refused") => void }} options
 *   account is the id of the account that is signed in
 */
export function openStream(url, { account = "", on, kept = [], state }) {
  /** @type {(() => void) | null} */ let end = null;
  const receive = (/** @type {Message} */ message) => {
    if (message.state) state(message.state);
    else if (message.type) on[message.type](message.data);
  };
  const begin = () => {
    if (end) return;
    const wish = { url, account, types: Object.keys(on), kept };
    end = shared
      ? share(wish, receive, () => {
          shared = false;
          stop();
          begin();
        })
      : subscribe(wish, receive);
  };
  const stop = () => {
    end?.();
    end = null;
  };
  const seen = () => {
    if (!shared && document.hidden) stop();
    else begin();
  };
  addEventListener("pagehide", stop);
  addEventListener("pageshow", begin);
  document.addEventListener("visibilitychange", seen);
  seen();
  return {
    close() {
      removeEventListener("pagehide", stop);
      removeEventListener("pageshow", begin);
      document.removeEventListener("visibilitychange", seen);
      stop();
    },
  };
}
