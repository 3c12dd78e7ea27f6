// What is heard in this browser alone: messages before they are announced, samples of voices, sounds and recordings.
import { api } from "./ui.js";

/** @typedef {ReturnType<typeof newPlayer>} Player */

const samplesPerSecond = 24000; // of the API

/**
 * Returns what requests the samples of a text that is spoken.
 * @param {{ message: string, voice?: string }} spoken
 * @param {number} [rate] words per minute
 */
export const speechOf =
  ({ message, voice }, rate) =>
  async () => {
    const body = { input: message, rate, ...(voice ? { voice } : {}), response_format: "pcm" };
    /** @type {ArrayBuffer} */ const samples = await (
      await api("POST", "/api/v1/audio/speech", body, { raw: true })
    ).arrayBuffer();
    return samples;
  };

/**
 * Returns a player of one sound at a time.
 * @param {() => void} update
 * @param {<T>(send: () => Promise<T>) => Promise<T | undefined>} run sends a request and shows its problem
 */
export function newPlayer(update, run) {
  /** @type {AudioContext | null} */ let audio = null;
  /** @type {AudioBufferSourceNode | null} */ let playing = null;
  let turn = 0; // counts sounds: one that arrives late is dropped
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
    /** Plays samples of 16 bits, or stops. @param {() => Promise<ArrayBuffer>} load */
    async toggle(load) {
      if (player.state) return player.stop();
      const context = (audio ??= new AudioContext());
      void context.resume();
      player.state = "loading";
      const mine = ++turn;
      update();
      const answer = await run(load);
      if (player.state !== "loading" || mine !== turn) return undefined;
      const samples = new Int16Array(answer ?? new ArrayBuffer(0));
      if (!samples.length) return player.stop();
      const buffer = context.createBuffer(1, samples.length, samplesPerSecond);
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
