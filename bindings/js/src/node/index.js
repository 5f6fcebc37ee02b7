/** Everything of `netloom`, and what node adds: UDP, and WebSocket where node has none of its own. */

import { registerTransport } from "../api/dial.js";
import { openUdp } from "./udp.js";
import { openNodeWebSocket } from "./websocket.js";

registerTransport("udp", ({ host, port }) => openUdp(host, port));
registerTransport("websocket", ({ url }) => openNodeWebSocket(url));

export * from "../index.js";
