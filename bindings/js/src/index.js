export { defineProtocol } from "./session/protocol.js";
export { field } from "./session/fields.js";
