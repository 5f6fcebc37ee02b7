/**
 * What a game is told, and how it follows from what happened in the session: objects are handles here, and
 * players have names.
 */

/** @typedef {import("../session/error.js").NetloomError} NetloomError */
/** @typedef {import("./object.js").NetObject} NetObject */

/** @typedef {"connecting" | "connected" | "reconnecting" | "disconnecting" | "disconnected"} State */

/**
 * A call that arrived: its arguments, who makes it (null is the server), and the object that it is about.
 * @typedef {{ name: string, args: any[], player: number | null, object: NetObject | null, tick: number |
 *   null, lateMs: number }} Call
 */

/**
 * What happens, and what handlers are told.
 *
 * - `welcome`: there is a seat, or one again; `lost`: the connection is being taken up again; `close`: it is
 *   over
 * - `enter`, `leave`, `change`: objects; `complete`: the world that there was at the beginning is here
 * - `call`, `call-refused`; `calls`: the server has other calls than this client, and they are known now
 * - `join`, `part`: other players; `chat`, `notice`; `lobby`: its new state; `lobby-event`
 * - `claimed`: the answer to a claim; `rejected`: an input of this player had no effect
 * @typedef {{
 *   "state": [state: State, before: State],
 *   "welcome": [welcome: { player: number, room: string, isResumed: boolean }],
 *   "lost": [error: NetloomError],
 *   "close": [error: NetloomError],
 *   "enter": [object: NetObject],
 *   "leave": [object: NetObject],
 *   "change": [object: NetObject],
 *   "complete": [],
 *   "call": [call: Call],
 *   "call-refused": [refused: { name: string | null, reason: string, text: string }],
 *   "calls": [agreed: { missing: string[] }],
 *   "chat": [line: { player: number | null, name: string, toTeam: boolean, text: string }],
 *   "notice": [notice: { kind: string, text: string }],
 *   "join": [player: { player: number, name: string, isSpectator: boolean }],
 *   "part": [player: { player: number, name: string }],
 *   "lobby": [state: import("../session/lobby.js").LobbyState],
 *   "lobby-event": [event: import("../session/lobby.js").LobbyEvent],
 *   "claimed": [claim: { object: NetObject | null, isGranted: boolean }],
 *   "rejected": [rejected: { step: number, reason: string, code: number, text: string }],
 * }} ClientEvents
 */

/**
 * The event and its details, of what concerns neither the seat nor objects.
 * @param {Exclude<import("../session/events.js").SessionEvent,
 *   { type: "welcomed" | "lost" | "ended" | "entered" | "gone" | "changed" }>} event
 * @param {import("./scene.js").Scene} scene
 * @param {(player: number | null) => string} nameOf
 * @returns {[name: any, ...details: any[]]}
 */
export function toldOf(event, scene, nameOf) {
  switch (event.type) {
    case "complete":
      return ["complete"];
    case "lobby":
      return ["lobby", event.state];
    case "lobby-event":
      return ["lobby-event", event.event];
    case "claimed":
      return ["claimed", { object: scene.get(event.alias) ?? null, isGranted: event.isGranted }];
    case "rejected":
      return ["rejected", { step: event.step, reason: event.reason, code: event.code, text: event.text }];
    case "notice":
      return ["notice", { kind: event.kind, text: event.text }];
    case "joined":
      return ["join", { player: event.player, name: event.name, isSpectator: event.isSpectator }];
    case "left":
      return ["part", { player: event.player, name: event.name }];
    case "said": {
      const { player, toTeam, text } = event;
      return ["chat", { player, name: nameOf(player), toTeam, text }];
    }
    case "called": {
      const { alias, ...call } = event.call;
      return ["call", { ...call, object: alias === null ? null : (scene.get(alias) ?? null) }];
    }
    case "call-refused":
      return ["call-refused", { name: event.name, reason: event.reason, text: event.text }];
    case "calls-agreed":
      return ["calls", { missing: event.missing }];
  }
}
