/** Sounds, made by the browser's synthesiser: off until somebody wants them. */

import { WIDTH } from "/rtype/rules/constants.js";

/** @typedef {"shot" | "pellet" | "burst" | "blast" | "beam" | "take" | "choose" | "alarm"} SoundName */

/**
 * A tone that slides from one pitch to another, or noise below a pitch that does.
 * @typedef {{ from: number, to: number, seconds: number, volume: number, wave: OscillatorType | "noise" }}
 *   Tone
 */

/** @type {Record<SoundName, Tone>} */
const TONES = {
  shot: { from: 880, to: 240, seconds: 0.09, volume: 0.05, wave: "square" },
  pellet: { from: 320, to: 180, seconds: 0.08, volume: 0.03, wave: "triangle" },
  burst: { from: 1_800, to: 120, seconds: 0.25, volume: 0.16, wave: "noise" },
  blast: { from: 1_200, to: 40, seconds: 0.8, volume: 0.32, wave: "noise" },
  beam: { from: 1_400, to: 90, seconds: 0.3, volume: 0.12, wave: "sawtooth" },
  take: { from: 440, to: 1_320, seconds: 0.22, volume: 0.1, wave: "triangle" },
  choose: { from: 660, to: 990, seconds: 0.12, volume: 0.1, wave: "square" },
  alarm: { from: 220, to: 440, seconds: 0.7, volume: 0.12, wave: "sawtooth" },
};
/** The same sound again within this time adds nothing but noise. */
const AGAIN_MS = 45;
const NOISE_SECONDS = 1;

/** See the module. */
export class Sound {
  /** @type {AudioContext | null} */
  #audio = null;
  /** @type {AudioBuffer | null} */
  #noise = null;
  #isOn = false;
  /** @type {Map<SoundName, number>} */
  #playedAtMs = new Map();

  get isOn() {
    return this.#isOn;
  }

  /**
   * To be called when a button is pressed: browsers let nothing else begin to sound.
   * @param {boolean} isOn
   */
  set(isOn) {
    this.#isOn = isOn;
    if (isOn) {
      this.#audio ??= new AudioContext();
      this.#noise ??= noiseOf(this.#audio);
      void this.#audio.resume();
    } else {
      void this.#audio?.suspend();
    }
  }

  /**
   * @param {SoundName} name
   * @param {number} [x] where it comes from, in units
   */
  play(name, x = WIDTH / 2) {
    const audio = this.#audio;
    const nowMs = performance.now();
    if (!this.#isOn || audio === null || nowMs - (this.#playedAtMs.get(name) ?? -AGAIN_MS) < AGAIN_MS) return;
    this.#playedAtMs.set(name, nowMs);
    const { seconds, volume } = TONES[name];
    const [begin, end] = [audio.currentTime, audio.currentTime + seconds];
    const gain = audio.createGain();
    gain.gain.setValueAtTime(volume, begin);
    gain.gain.exponentialRampToValueAtTime(0.001, end);
    const side = audio.createStereoPanner();
    side.pan.value = Math.max(-0.8, Math.min(0.8, (2 * x) / WIDTH - 1));
    const source = this.#sourceOf(audio, TONES[name], begin, end);
    source.connect(gain).connect(side).connect(audio.destination);
    source.start(begin);
    source.stop(end);
  }

  /**
   * @param {AudioContext} audio
   * @param {Tone} tone
   * @param {number} begin
   * @param {number} end
   */
  #sourceOf(audio, { from, to, wave }, begin, end) {
    if (wave !== "noise") {
      const tone = audio.createOscillator();
      tone.type = wave;
      slide(tone.frequency, from, to, begin, end);
      return tone;
    }
    const noise = audio.createBufferSource();
    noise.buffer = this.#noise;
    const filter = audio.createBiquadFilter();
    filter.type = "lowpass";
    slide(filter.frequency, from, to, begin, end);
    noise.connect(filter);
    return {
      connect: (/** @type {AudioNode} */ node) => filter.connect(node),
      start: (/** @type {number} */ at) => noise.start(at),
      stop: (/** @type {number} */ at) => noise.stop(at),
    };
  }
}

/**
 * @param {AudioParam} pitch
 * @param {number} from
 * @param {number} to
 * @param {number} begin
 * @param {number} end
 */
function slide(pitch, from, to, begin, end) {
  pitch.setValueAtTime(from, begin);
  pitch.exponentialRampToValueAtTime(to, end);
}

/** @param {AudioContext} audio */
function noiseOf(audio) {
  const buffer = audio.createBuffer(1, NOISE_SECONDS * audio.sampleRate, audio.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let at = 0; at < samples.length; at++) samples[at] = 2 * Math.random() - 1;
  return buffer;
}
