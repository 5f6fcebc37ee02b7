/**
 * Netloom for the browser and for node: connect to a server, see what is there, act in it.
 *
 *     const game = defineProtocol("cubes", { objects: { Cube: { at: field.position(2) } } });
 *     const client = await connect("https://play.example", { protocol: game, name: "Ada" });
 *     client.on("enter", (object) => console.log(object.kind, object.position));
 */

import { Client } from "./api/client.js";

/**
 * Connects to a server and settles when there is a seat in a room; rejects with a NetloomError that says why
 * not.
 *
 * The address is that of the server's web side (`https://` or `http://`: WebTransport where it works,
 * WebSocket otherwise), of a WebSocket (`wss://`, `ws://`) or, in node, of a UDP socket (`udp://host:7777`).
 * @param {string | URL} address
 * @param {import("./api/options.js").ConnectOptions} options
 * @returns {Promise<Client>}
 */
export async function connect(address, options) {
  return new Client(address, options).open();
}

export { Client } from "./api/client.js";
export { NetObject } from "./api/object.js";
export { PredictedSpawns, spawnKey } from "./replica/predict/spawns.js";
export { NetloomError } from "./session/error.js";
export { FieldType, field } from "./session/fields.js";
export { ObjectRef } from "./session/msgpack.js";
export { Protocol, defineProtocol } from "./session/protocol.js";
export { nameOf } from "./wire/name.js";
