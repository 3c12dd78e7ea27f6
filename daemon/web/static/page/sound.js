// The sounds of the park, made of noise and tones; loaded on demand.

/** @typedef {(sounds: Sounds, at: number, level: number) => void} Instrument plays a sound at a time, in seconds */

/** The instruments. @type {Record<string, Instrument>} */
const instruments = {
  crack: (s, at, level) => {
    // the bat
    s.noise(at, 0.07, level, { type: "bandpass", frequency: 2400, Q: 0.8 });
    s.tone(at, 0.05, level * 0.6, 880, 320);
  },
  pop: (s, at, level) => {
    // the glove
    s.noise(at, 0.09, level, { type: "lowpass", frequency: 900 });
    s.tone(at, 0.09, level * 0.7, 190, 80);
  },
  strike: (s, at, level) => {
    // the umpire
    s.tone(at, 0.12, level * 0.5, 330, 300);
    s.tone(at + 0.14, 0.2, level * 0.5, 247, 220);
  },
  murmur: (s, at, level) => s.swell(at, 1.1, level * 0.35, 500),
  cheer: (s, at, level) => s.swell(at, 1.6, level * 0.6, 1100),
  roar: (s, at, level) => {
    s.swell(at, 2.6, level * 0.8, 1300);
    s.swell(at + 0.2, 2.2, level * 0.4, 2600);
  },
  organ: (s, at, level) =>
    [392, 523, 659, 784, 659, 784].forEach((pitch, i) =>
      s.tone(at + i * 0.15, i === 5 ? 0.6 : 0.14, level * 0.22, pitch, pitch),
    ),
  turn: (s, at, level) => [660, 880].forEach((pitch, i) => s.tone(at + i * 0.16, 0.3, level * 0.4, pitch, pitch)),
};

/**
 * The sounds of each kind of moment: instrument, seconds after its beginning, level.
 * @type {Record<string, [string, number, number][]>}
 */
const scores = {
  walkoff: [["crack", 0, 1], ["roar", 0.35, 1], ["organ", 0.8, 1]],
  last: [["pop", 0.3, 1], ["roar", 0.5, 0.9], ["organ", 1, 1]],
  grand_slam: [["crack", 0, 1], ["roar", 0.35, 1], ["organ", 1, 1]],
  homer: [["crack", 0, 1], ["roar", 0.4, 0.9]],
  triple_play: [["crack", 0, 0.8], ["pop", 0.35, 0.8], ["pop", 0.6, 1], ["pop", 0.85, 1], ["cheer", 0.9, 1]],
  double_play: [["crack", 0, 0.8], ["pop", 0.45, 0.8], ["pop", 0.75, 1], ["cheer", 0.8, 0.8]],
  hit: [["crack", 0, 1], ["cheer", 0.3, 0.8]],
  out: [["crack", 0, 0.8], ["pop", 0.6, 0.9], ["murmur", 0.6, 0.8]],
  strikeout: [["pop", 0, 1], ["strike", 0.12, 1], ["murmur", 0.3, 0.8]],
  walk: [["pop", 0, 0.8], ["murmur", 0.1, 0.8]],
  run: [["murmur", 0, 0.8], ["pop", 0.5, 0.9]],
  turn: [["turn", 0, 1]],
};

/** The kinds that sound as another one. @type {Record<string, string>} */
const like = {
  single: "hit",
  double: "hit",
  triple: "hit",
  intentional_walk: "walk",
  hit_by_pitch: "walk",
  balk: "walk",
  stolen_base: "run",
  caught_stealing: "run",
  pick_off: "run",
  wild_pitch: "run",
  passed_ball: "run",
  indifference: "run",
  other_advance: "run",
};

export class Sounds {
  /** @param {BaseAudioContext} [context] */
  constructor(context = new AudioContext()) {
    this.context = context;
    this.white = context.createBuffer(1, 2 * context.sampleRate, context.sampleRate);
    const samples = this.white.getChannelData(0);
    for (let i = 0; i < samples.length; i++) samples[i] = Math.random() * 2 - 1;
    this.out = context.createDynamicsCompressor();
    this.out.connect(context.destination);
  }

  /** Plays the sounds of a kind of moment, or of a turn. @param {string} kind */
  play(kind) {
    // browsers hold sound back until the page was used
    if (this.context instanceof AudioContext && this.context.state === "suspended") void this.context.resume();
    const begin = this.context.currentTime + 0.02;
    for (const [name, after, level] of scores[kind] ?? scores[like[kind] ?? "out"])
      instruments[name](this, begin + after, level * 0.5);
  }

  close() {
    if (this.context instanceof AudioContext) void this.context.close();
  }

  /**
   * Plays filtered noise that fades.
   * @param {number} at
   * @param {number} length
   * @param {number} level
   * @param {BiquadFilterOptions} filter
   */
  noise(at, length, level, filter) {
    const gain = this.fading(at, length, level);
    const filtered = new BiquadFilterNode(this.context, filter);
    const source = new AudioBufferSourceNode(this.context, { buffer: this.white });
    source.connect(filtered).connect(gain);
    source.start(at, Math.random());
    source.stop(at + length);
  }

  /**
   * Plays a tone that glides and fades.
   * @param {number} at
   * @param {number} length
   * @param {number} level
   * @param {number} from
   * @param {number} to hertz
   */
  tone(at, length, level, from, to) {
    const source = new OscillatorNode(this.context, { type: "triangle", frequency: from });
    source.frequency.setValueAtTime(from, at);
    source.frequency.exponentialRampToValueAtTime(to, at + length);
    source.connect(this.fading(at, length, level));
    source.start(at);
    source.stop(at + length);
  }

  /**
   * Plays the crowd: noise that swells and fades.
   * @param {number} at
   * @param {number} length
   * @param {number} level
   * @param {number} pitch
   */
  swell(at, length, level, pitch) {
    const gain = new GainNode(this.context, { gain: 0 });
    gain.gain.setValueAtTime(0.0001, at);
    gain.gain.exponentialRampToValueAtTime(level, at + length * 0.25);
    gain.gain.exponentialRampToValueAtTime(0.0001, at + length);
    gain.connect(this.out);
    const filter = new BiquadFilterNode(this.context, { type: "bandpass", frequency: pitch, Q: 0.6 });
    const source = new AudioBufferSourceNode(this.context, { buffer: this.white, loop: true });
    source.connect(filter).connect(gain);
    source.start(at, Math.random());
    source.stop(at + length);
  }

  /** @param {number} at @param {number} length @param {number} level */
  fading(at, length, level) {
    const gain = new GainNode(this.context, { gain: level });
    gain.gain.setValueAtTime(level, at);
    gain.gain.exponentialRampToValueAtTime(0.0001, at + length);
    gain.connect(this.out);
    return gain;
  }
}
