// Recordings of this browser, and sounds of its files, as files that every server reads: WAV, mono, 16 bits, 24 kHz.

const rate = 24000; // samples per second
const longest = 60e3; // milliseconds of a recording, which the server takes at most
const headerBytes = 44;

/** Converts what the browser can play. @param {Blob} file */
export async function toWav(file) {
  const decoded = await new OfflineAudioContext(1, rate, rate).decodeAudioData(await file.arrayBuffer());
  const channels = Array.from({ length: decoded.numberOfChannels }, (_, i) => decoded.getChannelData(i));
  const wav = new DataView(new ArrayBuffer(headerBytes + 2 * decoded.length));
  const words = [0x52494646, wav.byteLength - 8, 0x57415645, 0x666d7420, 16, 0x10001, rate, 2 * rate, 0x100002];
  // RIFF, its length, WAVE, "fmt ", its length, PCM and one channel, rates, bytes of a sample and its bits
  words.forEach((word, i) => wav.setUint32(4 * i, word, ![0, 2, 3].includes(i)));
  wav.setUint32(36, 0x64617461); // data
  wav.setUint32(40, 2 * decoded.length, true);
  for (let i = 0; i < decoded.length; i++) {
    const mean = channels.reduce((sum, c) => sum + c[i], 0) / channels.length;
    wav.setInt16(headerBytes + 2 * i, Math.max(-1, Math.min(1, mean)) * 32767, true);
  }
  return new Blob([wav.buffer], { type: "audio/wav" });
}

/** Returns the samples of a file of toWav, or of GET /sounds/NAME. @param {ArrayBuffer} wav */
export const samplesOf = (wav) => wav.slice(headerBytes);

/** Returns the length of a file of toWav in seconds. @param {Blob} wav */
export const secondsOf = (wav) => (wav.size - headerBytes) / 2 / rate;

/**
 * Records the microphone until stop is called, or a minute is over.
 * @returns {Promise<{ stop: () => void, file: Promise<Blob> }>}
 */
export async function record() {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(stream);
  /** @type {Blob[]} */ const parts = [];
  recorder.ondataavailable = (e) => parts.push(e.data);
  const stop = () => {
    if (recorder.state === "recording") recorder.stop();
  };
  const timer = setTimeout(stop, longest);
  /** @type {Promise<Blob>} */
  const file = new Promise((done, failed) => {
    recorder.onstop = () => {
      clearTimeout(timer);
      for (const track of stream.getTracks()) track.stop();
      toWav(new Blob(parts, { type: recorder.mimeType })).then(done, failed);
    };
  });
  recorder.start();
  return { stop, file };
}
