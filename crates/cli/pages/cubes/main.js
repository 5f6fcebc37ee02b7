/**
 * The page: puts its parts together and draws a frame at a time.
 *
 * Each part looks after its own piece of the screen and hears of a client by `attach`, anew for every one: a
 * client ends when the player takes another transport or name, or when its server is gone for good.
 */

import { Chat } from "/common/chat.js";
import { Controls } from "/cubes/controls.js";
import { cubes } from "/cubes/game.js";
import { FrameTimes } from "/common/frames.js";
import { Graphs } from "/common/graph.js";
import { LabPanel } from "/common/lab.js";
import { Players } from "/cubes/players.js";
import { Session } from "/common/session.js";
import { Status } from "/common/status.js";
import { View } from "/cubes/view.js";
import { element } from "/common/words.js";

const wishes = new URLSearchParams(location.search);
const status = new Status();
const session = new Session(cubes, status, wishes);
const controls = new Controls(element("yard", HTMLCanvasElement), element("dash", HTMLButtonElement));
const view = new View(element("yard", HTMLCanvasElement), controls);
const graphs = new Graphs(element("graphs", HTMLDivElement));
const lab = new LabPanel(session, wishes);
const parts = [controls, view, graphs, lab, new Chat(), new Players(session)];
const frames = new FrameTimes();

session.onClient = (/** @type {import("/netloom/index.js").Client} */ client) => {
  for (const part of parts) part.attach(client);
};

/** @param {number} nowMs */
function frame(nowMs) {
  const began = performance.now();
  const { client } = session;
  client?.update(nowMs);
  if (client !== null) {
    view.draw(client);
    graphs.update(client, nowMs);
    status.update(client, frames, nowMs);
  }
  frames.add(performance.now() - began);
  requestAnimationFrame(frame);
}

session.open();
requestAnimationFrame(frame);

/** For the console of the browser, where one may want to look closer. */
Object.defineProperty(globalThis, "netloom", { value: { session, view, graphs, lab, frames } });
