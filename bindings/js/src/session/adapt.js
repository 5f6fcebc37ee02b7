/**
 * What a connection asks of the view: how far behind it must be at least, and how far prediction may reach.
 *
 * A threshold in both directions would let a connection that lives at it change the delay at every look. So
 * each setting is a ladder of two: worse when the smoothed measure has been above the threshold for a second,
 * better only after ten seconds below half of it.
 */

const SMOOTHING_US = 5_000_000;
const WORSEN_HOLD_US = 1_000_000;
const RECOVER_HOLD_US = 10_000_000;
const RECOVER_SHARE = 0.5;
const PREDICTION_RTT_US = 150_000;
const INTERPOLATION_JITTER_US = 50_000;

/** A measure, and whether it has been bad for long enough. */
class Ladder {
  /** @type {number | null} */
  #smoothed = null;
  /** @type {number | null} when the other side of the ladder was asked for */
  #since = null;
  isWorse = false;

  /** @param {number} threshold */
  constructor(threshold) {
    this.threshold = threshold;
  }

  /**
   * @param {number} now
   * @param {number} elapsed
   * @param {number} sample
   */
  update(now, elapsed, sample) {
    const before = this.#smoothed ?? sample;
    const smoothed = (before * SMOOTHING_US + sample * elapsed) / (SMOOTHING_US + elapsed);
    this.#smoothed = smoothed;
    const isAsked = this.isWorse ? smoothed < this.threshold * RECOVER_SHARE : smoothed > this.threshold;
    if (!isAsked) {
      this.#since = null;
      return;
    }
    this.#since ??= now;
    if (now - this.#since >= (this.isWorse ? RECOVER_HOLD_US : WORSEN_HOLD_US)) {
      this.isWorse = !this.isWorse;
      this.#since = null;
    }
  }
}

/** See the module. */
export class Adapt {
  #rtt = new Ladder(PREDICTION_RTT_US);
  #jitter = new Ladder(INTERPOLATION_JITTER_US);
  /** @type {number | null} */
  #updated = null;

  /**
   * Takes in what was measured, at every frame or a few times a second.
   * @param {number} now
   * @param {number} rtt in microseconds; 0 before the first sample
   * @param {number} jitter
   */
  update(now, rtt, jitter) {
    if (!(rtt > 0)) return;
    const elapsed = Math.max(0, now - (this.#updated ?? now));
    this.#updated = Math.max(now, this.#updated ?? now);
    this.#rtt.update(this.#updated, elapsed, rtt);
    this.#jitter.update(this.#updated, elapsed, jitter);
  }

  /** How far a client may predict ahead without a word from the server, in microseconds. */
  get predictionWindow() {
    return this.#rtt.isWorse ? 200_000 : 100_000;
  }

  /** What the interpolation delay must not be below, in microseconds. */
  get interpolationDelayMin() {
    return this.#jitter.isWorse ? 150_000 : 50_000;
  }
}
