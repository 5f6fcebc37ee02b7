/**
 * WebTransport: one datagram of a connection is one datagram of an HTTP/3 session, sealed by its TLS.
 *
 * Datagrams may be lost, so nothing is queued that would be late: what the browser cannot send at once is
 * dropped, as a full queue on the way would, and the connection says anew what matters. A path that carries
 * less than the smallest datagram of the protocol is of no use, and whoever opens it is told to take another
 * way.
 */

const DATAGRAM_BYTES_MAX = 1_200;
const MTU_MIN = 1_000;
const OPEN_MS_MAX = 5_000;
const OUTGOING_MAX = 64;
const MAX_AGE_MS = 250;

/** Whether this browser has it. */
export function hasWebTransport() {
  return typeof (/** @type {any} */ (globalThis).WebTransport) === "function";
}

/**
 * Opens a session. Rejects if the server cannot be reached, or not in time.
 * @param {string} url
 * @param {{ certificateHashes?: Uint8Array[] }} [options] SHA-256 of the certificates to trust; none for
 *   those of the system
 * @returns {Promise<WebTransportLink>}
 */
export async function openWebTransport(url, { certificateHashes = [] } = {}) {
  const serverCertificateHashes = certificateHashes.map((value) => ({ algorithm: "sha-256", value }));
  const session = new /** @type {any} */ (globalThis).WebTransport(url, {
    congestionControl: "low-latency",
    requireUnreliable: true,
    ...(serverCertificateHashes.length > 0 ? { serverCertificateHashes } : {}),
  });
  // A session that fails to open rejects `closed` as well, and nobody waits for that.
  session.closed.catch(() => {});
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${OPEN_MS_MAX / 1_000} s`)), OPEN_MS_MAX);
  });
  try {
    await Promise.race([session.ready, late]);
    const mtu = Math.min(DATAGRAM_BYTES_MAX, session.datagrams.maxDatagramSize);
    if (mtu < MTU_MIN) throw new Error(`the path carries datagrams of ${mtu} bytes, ${MTU_MIN} are needed`);
    return new WebTransportLink(session, mtu);
  } catch (error) {
    session.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * An open session.
 * @implements {Transport}
 * @typedef {import("./transport.js").Transport} Transport
 */
export class WebTransportLink {
  reliable = false;
  ordered = false;
  secure = true;
  isCongested = false;
  /** @type {((bytes: Uint8Array) => void) | null} */
  onDatagram = null;
  /** @type {((reason: string) => void) | null} */
  onClose = null;
  /** Datagrams that were not sent because the browser could not. */
  dropped = 0;
  #session;
  #writer;
  #waiting = 0;
  #isClosed = false;

  /**
   * @param {any} session that is ready
   * @param {number} mtu
   */
  constructor(session, mtu) {
    this.mtu = mtu;
    this.#session = session;
    session.datagrams.outgoingMaxAge = MAX_AGE_MS;
    this.#writer = session.datagrams.writable.getWriter();
    this.#writer.closed.catch(() => {});
    session.closed.then(
      (/** @type {{ reason: string }} */ { reason }) => this.#handleEnd(reason),
      (/** @type {unknown} */ error) => this.#handleEnd(String(/** @type {unknown} */ error)),
    );
    this.#receive(session.datagrams.readable.getReader());
  }

  /** @param {Uint8Array} datagram */
  send(datagram) {
    if (this.#isClosed) return;
    if (this.#waiting >= OUTGOING_MAX || datagram.length > this.mtu) {
      this.dropped++;
      return;
    }
    this.#waiting++;
    const done = () => void this.#waiting--;
    // The caller uses its buffer again, and the stream may read it later.
    this.#writer.write(datagram.slice()).then(done, done);
  }

  close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.#session.close();
    } catch {
      // It has ended already.
    }
  }

  /** @param {ReadableStreamDefaultReader<Uint8Array>} reader */
  async #receive(reader) {
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done || this.#isClosed) break;
        this.onDatagram?.(value);
      }
    } catch {
      // The session has ended, which `closed` tells with its reason.
    }
  }

  /** @param {string} reason */
  #handleEnd(reason) {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onClose?.(reason || "the WebTransport session ended");
  }
}
