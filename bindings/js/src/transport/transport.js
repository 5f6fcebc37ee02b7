/**
 * What carries datagrams: a WebSocket, WebTransport, a UDP socket, or one of these behind a conditioner.
 *
 * @typedef {object} Transport
 * @property {number} mtu the largest datagram that passes
 * @property {boolean} reliable nothing is lost
 * @property {boolean} ordered nothing overtakes
 * @property {boolean} secure what passes is encrypted by the transport itself
 * @property {boolean} isCongested whether what was handed over last still waits to leave: what can be
 *   replaced should wait
 * @property {(bytes: Uint8Array) => void} send hands a datagram over; the bytes are the caller's again at
 *   once
 * @property {((bytes: Uint8Array) => void) | null} onDatagram called for each datagram that arrives
 * @property {((reason: string) => void) | null} onClose called once, when the transport closed without
 *   `close`
 * @property {() => void} close
 */

export {};
