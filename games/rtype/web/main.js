/**
 * The page: puts its parts together and draws a frame at a time.
 *
 * Each part looks after its own piece of the screen and hears of a client by `attach`, anew for every one: a
 * client ends when the player takes another transport, or when its server is gone for good. While there is no
 * game to be seen, bots play one of their own behind the lobby.
 */

import { Chat } from "/common/chat.js";
import { FrameTimes } from "/common/frames.js";
import { Graphs } from "/common/graph.js";
import { LabPanel } from "/common/lab.js";
import { Session } from "/common/session.js";
import { Status } from "/common/status.js";
import { element } from "/common/words.js";
import { Cast } from "/rtype/cast.js";
import { Controls } from "/rtype/controls.js";
import { Demo } from "/rtype/demo.js";
import { View } from "/rtype/draw/view.js";
import { GamePanel } from "/rtype/game_panel.js";
import { LobbyPanel } from "/rtype/lobby.js";
import { NetSource } from "/rtype/net_source.js";
import { rtype } from "/rtype/protocol.js";
import { Sound } from "/rtype/sound.js";
import { Toggles } from "/rtype/toggles.js";

const wishes = new URLSearchParams(location.search);
const field = element("field", HTMLCanvasElement);
const status = new Status();
const session = new Session(rtype, status, wishes);
const cast = new Cast();
const view = new View(field);
const sound = new Sound();
const controls = new Controls(
  field,
  element("fire", HTMLButtonElement),
  element("fire-beam", HTMLButtonElement),
);
const source = new NetSource(cast, view.effects, controls);
const demo = new Demo(cast, view.effects);
const lobby = new LobbyPanel(session);
const game = new GamePanel(lobby, source, view, sound);
const toggles = new Toggles(source, view);
const graphs = new Graphs(element("graphs", HTMLDivElement));
const lab = new LabPanel(session, wishes);
const frames = new FrameTimes();
const log = wishes.has("log") ? new (await import("/rtype/frame_log.js")).FrameLog() : null;
const parts = [source, lobby, game, toggles, graphs, lab, new Chat(), ...(log === null ? [] : [log])];

controls.onChoice = (/** @type {number} */ choice) => game.choose(choice);
controls.onStart = () => game.start();
source.onBeam = (/** @type {number} */ step) => log?.note("fired", { step });
view.nameOf = (/** @type {number} */ pilot) => lobby.nameOf(pilot);
view.stickOf = () => controls.stick;
lobby.onStarted = () => field.focus({ preventScroll: true });

session.onClient = (/** @type {import("/netloom/index.js").Client} */ client) => {
  for (const part of parts) part.attach(client);
};

let wasPlaying = false;

/** @param {number} nowMs */
function frame(nowMs) {
  const began = performance.now();
  const { client } = session;
  controls.poll();
  cast.begin(nowMs);
  client?.update(nowMs);
  const isPlaying = lobby.isPlaying;
  // Nobody of the one game explodes because the other one is shown.
  if (isPlaying !== wasPlaying) {
    cast.clear();
    view.effects.clear();
    wasPlaying = isPlaying;
  }
  if (isPlaying) source.update();
  else demo.update();
  cast.end(view.effects);
  view.draw(cast);
  lobby.update(nowMs);
  game.update(cast, session);
  toggles.update();
  if (client !== null) {
    graphs.update(client, nowMs);
    status.update(client, frames, nowMs);
    if (isPlaying) log?.add(cast, source.step, client, controls.buttons);
  }
  frames.add(performance.now() - began);
  requestAnimationFrame(frame);
}

session.open();
requestAnimationFrame(frame);

/** For the console of the browser, where one may want to look closer. */
Object.defineProperty(globalThis, "netloom", {
  value: { session, view, cast, lobby, source, graphs, lab, frames },
});
