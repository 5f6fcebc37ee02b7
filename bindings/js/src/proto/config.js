/**
 * What a connection needs to know. Both sides must share the protocol id, the kinds of the channels in their
 * order, the schema hash and the table id; everything else is this side's own. Times are microseconds.
 */

import { fnv1a64 } from "../wire/hash.js";
import {
  CHANNELS_MAX,
  DATAGRAM_BYTES_MAX,
  FRAGMENT_BYTES,
  MTU_MIN,
  RELIABLE_FRAGMENTS_MAX,
  UNRELIABLE_FRAGMENTS_MAX,
} from "./limits.js";

/** How a channel delivers; the code is the place. */
export const CHANNEL_KINDS = /** @type {const} */ ([
  "priority",
  "ordered",
  "unordered",
  "unreliable",
  "sequenced",
]);

/** @typedef {typeof CHANNEL_KINDS[number]} ChannelKind */

/** Whether packets are sealed; the code in the handshake is the place. */
export const SECURITIES = /** @type {const} */ (["off", "optional", "required"]);

/** @typedef {typeof SECURITIES[number]} Security */

/**
 * @typedef {object} ChannelConfig
 * @property {ChannelKind} kind how it delivers
 * @property {number} messageBytesMax the largest message
 * @property {number} pendingBytesMax bytes that may wait to be sent or acknowledged; beyond it sending says
 *   `Full`
 * @property {number} receiveBytesMax bytes that may wait for missing predecessors or fragments
 */

/**
 * @typedef {object} RateConfig
 * @property {number} bytesPerSecondMax the rate is never above this
 * @property {number} bytesPerSecondInitial the rate before anything is known of the path
 * @property {number} bytesPerSecondMin the rate is never below this
 * @property {number} delayTarget queueing delay above which the rate is cut
 * @property {number} burst how long a pause may be made up for at once
 */

/**
 * @typedef {object} ConnectionConfig
 * @property {bigint} protocolId names the game and its version
 * @property {bigint} schemaHash the layout of replicated data
 * @property {number} tableId the code tables in use
 * @property {Security} security whether packets are sealed
 * @property {number} mtu the largest datagram to send, 1000 to 1200 bytes
 * @property {ChannelConfig[]} channels by id
 * @property {Uint8Array | null} resumeToken of a lost connection whose seat is to be taken up
 * @property {number} connectTimeout how long one attempt lasts
 * @property {number} connectRetries attempts after the first
 * @property {number} handshakeResend how often a request is repeated inside an attempt
 * @property {number} keepalive silence after which a packet shows that this side is alive
 * @property {number} peerTimeout silence of the other side after which the connection is lost
 * @property {number} disconnectTimeout how long a goodbye waits for its confirmation
 * @property {number} ackDelay how long an acknowledgement may wait for data to travel with
 * @property {number} resendTimeoutMin the shortest time after which an unanswered message goes again
 * @property {number} resendTimeoutMax the longest
 * @property {number} resendsMax how often a message goes again before the connection counts as broken
 * @property {"off" | "parity"} redundancy whether small reliable messages are repeated ahead of need
 * @property {number} tailDelay how long the last block waits for a packet to be repeated in
 * @property {RateConfig} rate
 * @property {number} eventsQueuedMax messages that may wait to be polled; beyond it packets are refused, and
 *   come again
 * @property {number} eventBytesMax bytes of such messages
 * @property {(bytes: Uint8Array) => void} fillRandom fills with secret randomness; tests replace it
 */

/** @param {ChannelKind} kind */
export function isReliable(kind) {
  return kind === "priority" || kind === "ordered" || kind === "unordered";
}

/**
 * A channel with default limits: reliable messages to 64 KiB, 1 MiB each way; unreliable ones to 32 KiB, 256
 * KiB.
 * @param {ChannelKind} kind
 * @param {Partial<ChannelConfig>} [settings]
 * @returns {ChannelConfig}
 */
export function channel(kind, settings) {
  const bytes = isReliable(kind) ? 1 << 20 : 256 << 10;
  const messageBytesMax = isReliable(kind) ? 64 << 10 : 32 << 10;
  return { kind, messageBytesMax, pendingBytesMax: bytes, receiveBytesMax: bytes, ...settings };
}

/** @returns {ConnectionConfig} */
function defaults() {
  return {
    protocolId: 0n,
    schemaHash: 0n,
    tableId: 0,
    security: "required",
    mtu: DATAGRAM_BYTES_MAX,
    channels: CHANNEL_KINDS.map((kind) => channel(kind)),
    resumeToken: null,
    connectTimeout: 5e6,
    connectRetries: 3,
    handshakeResend: 250e3,
    keepalive: 1e6,
    peerTimeout: 10e6,
    disconnectTimeout: 2e6,
    ackDelay: 15e3,
    resendTimeoutMin: 30e3,
    resendTimeoutMax: 1e6,
    resendsMax: 64,
    redundancy: "parity",
    tailDelay: 20e3,
    rate: {
      bytesPerSecondMax: 256 << 10,
      bytesPerSecondInitial: 64 << 10,
      bytesPerSecondMin: 8 << 10,
      delayTarget: 50e3,
      burst: 20e3,
    },
    eventsQueuedMax: 1024,
    eventBytesMax: 4 << 20,
    fillRandom: (bytes) => void globalThis.crypto.getRandomValues(bytes),
  };
}

/**
 * Completes settings with the defaults and checks them: a value that cannot be is a RangeError that names it.
 * @param {Partial<ConnectionConfig>} settings
 * @returns {ConnectionConfig}
 */
export function completeConfig(settings) {
  const base = defaults();
  const config = { ...base, ...settings, rate: { ...base.rate, ...settings.rate } };
  const within = (
    /** @type {string} */ field,
    /** @type {number} */ value,
    /** @type {number} */ min,
    /** @type {number} */ max,
  ) => {
    if (!(value >= min && value <= max))
      throw new RangeError(`${field} = ${value} is not allowed: use ${min} to ${max}`);
  };
  within("mtu", config.mtu, MTU_MIN, DATAGRAM_BYTES_MAX);
  within("channels", config.channels.length, 1, CHANNELS_MAX);
  for (const { kind, messageBytesMax, pendingBytesMax, receiveBytesMax } of config.channels) {
    if (!CHANNEL_KINDS.includes(kind))
      throw new RangeError(`kind = ${kind} is not allowed: use ${CHANNEL_KINDS}`);
    const fragments = isReliable(kind) ? RELIABLE_FRAGMENTS_MAX : UNRELIABLE_FRAGMENTS_MAX;
    within("messageBytesMax", messageBytesMax, 1, fragments * FRAGMENT_BYTES);
    within("pendingBytesMax", pendingBytesMax, messageBytesMax, 2 ** 30);
    within("receiveBytesMax", receiveBytesMax, messageBytesMax, 2 ** 30);
  }
  if (!SECURITIES.includes(config.security)) {
    throw new RangeError(`security = ${config.security} is not allowed: use ${SECURITIES}`);
  }
  if (config.resumeToken && config.resumeToken.length !== 32) {
    throw new RangeError(
      `resumeToken has ${config.resumeToken.length} bytes: it must be the 32 of an earlier connection`,
    );
  }
  within("connectTimeout", config.connectTimeout, 100e3, 60e6);
  within("connectRetries", config.connectRetries, 0, 255);
  within("handshakeResend", config.handshakeResend, 20e3, config.connectTimeout);
  within("keepalive", config.keepalive, 50e3, 60e6);
  within("peerTimeout", config.peerTimeout, 2 * config.keepalive, 600e6);
  within("disconnectTimeout", config.disconnectTimeout, 50e3, 60e6);
  within("ackDelay", config.ackDelay, 0, 200e3);
  within("resendTimeoutMin", config.resendTimeoutMin, 5e3, 10e6);
  within("resendTimeoutMax", config.resendTimeoutMax, config.resendTimeoutMin, 60e6);
  within("resendsMax", config.resendsMax, 1, 10000);
  within("tailDelay", config.tailDelay, 1e3, 1e6);
  const { bytesPerSecondMin, bytesPerSecondInitial, bytesPerSecondMax } = config.rate;
  within("rate.bytesPerSecondMax", bytesPerSecondMax, 1500, 1e10);
  within("rate.bytesPerSecondMin", bytesPerSecondMin, 1500, bytesPerSecondMax);
  within("rate.bytesPerSecondInitial", bytesPerSecondInitial, bytesPerSecondMin, bytesPerSecondMax);
  within("rate.delayTarget", config.rate.delayTarget, 5e3, 1e6);
  within("rate.burst", config.rate.burst, 1e3, 1e6);
  within("eventsQueuedMax", config.eventsQueuedMax, 1, 1 << 20);
  within("eventBytesMax", config.eventBytesMax, 1 << 16, 2 ** 30);
  return config;
}

/**
 * The hash in the handshake by which both sides see that they mean the same schema and channels (section
 * 22.1).
 * @param {bigint} schemaHash
 * @param {readonly ChannelKind[]} kinds
 */
export function layoutHash(schemaHash, kinds) {
  const bytes = new Uint8Array(8 + kinds.length);
  new DataView(bytes.buffer).setBigUint64(0, schemaHash, true);
  kinds.forEach((kind, index) => (bytes[8 + index] = CHANNEL_KINDS.indexOf(kind)));
  return fnv1a64(bytes);
}
