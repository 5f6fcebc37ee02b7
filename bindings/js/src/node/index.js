/** What node has besides a browser: UDP, and a WebSocket where the runtime brings none. */

export { openUdp, UdpTransport } from "./udp.js";
export { openNodeWebSocket, NodeWebSocketTransport } from "./websocket.js";
