/** What a client measures, as one flat record for a graph or a log. */

const WINDOW_MS = 1_000;

/** Bytes a second, from a counter that only grows. */
class Meter {
  #since = 0;
  #before = 0;
  perSecond = 0;

  /**
   * @param {number} nowMs
   * @param {number} total
   */
  update(nowMs, total) {
    const elapsed = nowMs - this.#since;
    if (total < this.#before) this.#before = 0;
    if (elapsed < WINDOW_MS) return;
    this.perSecond = ((total - this.#before) * 1_000) / elapsed;
    this.#since = nowMs;
    this.#before = total;
  }
}

/**
 * @typedef {object} Stats
 * @property {number} bytesSentPerSecond
 * @property {number} bytesReceivedPerSecond
 * @property {number} bytesSent
 * @property {number} bytesReceived
 * @property {number} packetsSent
 * @property {number} packetsReceived
 * @property {number} packetsLost of those that were sent
 * @property {number} packetsMissing of the server's: they have not come, or not yet
 * @property {number} pingMs the round trip
 * @property {number} jitterMs how much it varies
 * @property {number} packetLossPercent of late
 * @property {number} queueBytes that wait to be sent or acknowledged
 * @property {number} players in the room, this one included
 * @property {number} objects in sight
 * @property {number} snapshots that arrived and were read
 * @property {number} snapshotsRefused
 * @property {number} snapshotAgeMs how long ago the newest arrived
 * @property {number} interpolationDelayMs how far the view is behind
 * @property {number} corrections of predictions
 * @property {number} nonsense messages of the server that made no sense
 */

/** Collects a client's stats. */
export class StatsKeeper {
  #sent = new Meter();
  #received = new Meter();
  #snapshots = 0;
  #snapshotAtMs = 0;

  /**
   * To be called often: rates are taken over a second.
   * @param {number} nowMs
   * @param {import("../session/client.js").SessionClient} session
   */
  update(nowMs, session) {
    const measured = session.stats();
    this.#sent.update(nowMs, measured?.bytesSent ?? 0);
    this.#received.update(nowMs, measured?.bytesReceived ?? 0);
    const read = session.seat?.world.counters.read ?? 0;
    if (read !== this.#snapshots) this.#snapshotAtMs = nowMs;
    this.#snapshots = read;
  }

  /**
   * @param {number} nowMs
   * @param {import("../session/client.js").SessionClient} session
   * @param {number} corrections
   * @returns {Stats}
   */
  read(nowMs, session, corrections) {
    const measured = session.stats();
    const { seat } = session;
    return {
      bytesSentPerSecond: this.#sent.perSecond,
      bytesReceivedPerSecond: this.#received.perSecond,
      bytesSent: measured?.bytesSent ?? 0,
      bytesReceived: measured?.bytesReceived ?? 0,
      packetsSent: measured?.packetsSent ?? 0,
      packetsReceived: measured?.packetsReceived ?? 0,
      packetsLost: measured?.packetsLost ?? 0,
      packetsMissing: measured?.packetsMissing ?? 0,
      pingMs: (measured?.rtt ?? 0) / 1_000,
      jitterMs: (measured?.jitter ?? 0) / 1_000,
      packetLossPercent: (measured?.loss ?? 0) * 100,
      queueBytes: measured?.pendingBytes ?? 0,
      players: seat === null ? 0 : session.players.size + 1,
      objects: seat?.world.size ?? 0,
      snapshots: this.#snapshots,
      snapshotsRefused: seat?.world.counters.refused ?? 0,
      snapshotAgeMs: this.#snapshots === 0 ? 0 : nowMs - this.#snapshotAtMs,
      interpolationDelayMs: (seat?.delay ?? 0) / 1_000,
      corrections,
      nonsense: session.nonsense,
    };
  }
}
