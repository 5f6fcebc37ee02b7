/** Reasons and kinds that are bytes on the wire, as names for programs and words for people (section 51). */

import { WireError } from "../wire/error.js";

/**
 * @param {readonly (readonly [number, string, string])[]} rows code, name, words
 */
function table(rows) {
  return new Map(rows.map(([code, name, words]) => [code, { code, name, words }]));
}

/** Why a client got no seat. */
export const REFUSALS = table([
  [1, "room-full", "the room is full: try again later or choose another one"],
  [2, "no-such-room", "there is no room of that name on this server"],
  [3, "name-taken", "somebody in the room has that name: choose another one"],
  [4, "bad-name", "that name cannot be used: 1 to 32 visible characters"],
  [5, "denied", "the game refused this player"],
  [6, "banned", "this player is banned from the server"],
  [7, "room-closed", "the room has ended"],
  [8, "bad-hello", "the greeting could not be understood"],
]);

/** What a notice is about. */
export const NOTICES = table([
  [1, "info", "notice"],
  [2, "kicked", "removed by the server"],
  [3, "shutdown", "the server is stopping"],
  [4, "room-ended", "the room has ended"],
  [5, "slow-consumer", "the connection could not keep up"],
]);

/** Why a client's call was not made. */
export const CALL_REFUSALS = table([
  [1, "unknown", "the server has no such call"],
  [2, "not-allowed", "only the server may make this call"],
  [3, "not-forwarded", "this call is for the server only"],
  [4, "too-large", "the arguments take more bytes than this call allows"],
  [5, "too-often", "the call is made too often: slow down"],
  [6, "bad-arguments", "the arguments are not those that this call takes"],
  [7, "no-such-object", "the object that the call is about is not there"],
  [8, "unhandled", "the game does not handle this call"],
  [9, "not-passed-on", "the game did not pass the call on"],
  [10, "by-game", "the game refused the call"],
]);

/** Why an input had no effect. */
export const REJECTIONS = table([
  [0, "time-budget", "commands for more time than has passed"],
  [1, "too-fast", "moved too fast"],
  [2, "teleport", "moved to where no way leads so soon"],
  [3, "not-finite", "a number is infinite or not a number"],
  [4, "too-often", "too many actions"],
  [5, "cooldown", "the action is still cooling down"],
  [6, "unknown-action", "there is no such action"],
  [7, "mask", "an input with bits that no button has"],
]);

/** Why a lobby does not do what it was told. */
export const LOBBY_REFUSALS = table([
  [1, "full", "the lobby is full: try again later"],
  [2, "in-game", "the game has begun: wait until it is over"],
  [3, "not-in-game", "there is no game yet"],
  [4, "already-here", "this player is in the lobby already"],
  [5, "unknown-player", "there is no such player in the lobby"],
  [6, "name-empty", "the name has no character that can be shown"],
  [7, "name-too-long", "the name is too long: use at most 32 characters"],
  [8, "name-taken", "somebody has this name already: choose another"],
  [9, "not-host", "only the host may do this"],
  [10, "spectator", "spectators cannot do this: take a seat first"],
  [11, "unknown-team", "there is no such team"],
  [12, "team-full", "this team is full"],
  [13, "no-team", "you are in no team"],
  [14, "unknown-setting", "there is no such setting"],
  [15, "setting-value", "the setting cannot have this value"],
  [16, "too-few", "there are too few players to begin"],
  [17, "not-ready", "not everybody is ready"],
  [18, "no-countdown", "no countdown is running"],
  [19, "kick-self", "you cannot remove yourself: leave instead"],
  [20, "text-empty", "the text has no character that can be shown"],
  [21, "text-too-long", "the text is too long"],
  [22, "chat-too-often", "too many messages: wait a moment"],
  [23, "too-often", "too many commands: wait a moment"],
  [24, "busy", "the lobby is busy: try again"],
  [25, "no-spectators", "there is no place to watch from"],
]);

/**
 * The row of a code; unknown ones are refused.
 * @param {ReturnType<typeof table>} rows
 * @param {number} code
 */
export function rowOf(rows, code) {
  const row = rows.get(code);
  if (row === undefined) throw new WireError("OutOfRange", `no such code: ${code}`);
  return row;
}
