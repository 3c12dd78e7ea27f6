// Speech in this browser: messages before they are announced, and samples of voices.
import { api } from "./ui.js";

/** @typedef {ReturnType<typeof newPlayer>} Player */

/**
 * Returns a player of one text at a time.
 * @param {() => void} update
 * @param {<T>(send: () => Promise<T>) => Promise<T | undefined>} run sends a request and shows its problem
 */
export function newPlayer(update, run) {
  /** @type {AudioContext | null} */ let audio = null;
  /** @type {AudioBufferSourceNode | null} */ let playing = null;
  let turn = 0; // counts texts: a sample that arrives late is dropped
  const player = {
    /** @type {"" | "loading" | "playing"} */ state: "",
    stop() {
      if (playing) playing.onended = null;
      playing?.stop();
      [playing, player.state] = [null, ""];
      update();
    },
    close() {
      player.stop();
      void audio?.close();
    },
    /** @param {{ message: string, voice?: string }} spoken @param {number} [rate] words per minute */
    async toggle({ message, voice }, rate) {
      if (player.state) return player.stop();
      const context = (audio ??= new AudioContext());
      void context.resume();
      player.state = "loading";
      const mine = ++turn;
      update();
      const answer = await run(async () => {
        const body = { input: message, rate, ...(voice ? { voice } : {}), response_format: "pcm" };
        return (await api("POST", "/api/v1/audio/speech", body, { raw: true })).arrayBuffer();
      });
      if (player.state !== "loading" || mine !== turn) return undefined;
      const samples = new Int16Array(answer ?? new ArrayBuffer(0));
      if (!samples.length) return player.stop();
      const buffer = context.createBuffer(1, samples.length, 24000);
      buffer.copyToChannel(
        Float32Array.from(samples, (s) => s / 32768),
        0,
      );
      playing = new AudioBufferSourceNode(context, { buffer });
      playing.connect(context.destination);
      playing.onended = player.stop;
      playing.start();
      player.state = "playing";
      return update();
    },
  };
  return player;
}
