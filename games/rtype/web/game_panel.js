/**
 * A game from its beginning to its end: figures, offers, what the server announces, and the score at last.
 */

import { element } from "/common/words.js";
import { Banner } from "/rtype/banner.js";
import { BOSS_NAMES } from "/rtype/draw/bosses.js";
import { Hud } from "/rtype/hud.js";
import { Offers } from "/rtype/offers.js";
import { POWERS, WEAPONS } from "/rtype/protocol.js";

/** @typedef {import("/netloom/index.js").Client} Client */

/** See the module. */
export class GamePanel {
  #hud = new Hud();
  #offers = new Offers();
  #banner = new Banner();
  #over = element("over", HTMLElement);
  #overTitle = element("over-title", HTMLElement);
  #overWords = element("over-words", HTMLElement);
  /** What all have done together, once it is over. */
  #together = "";
  #touch = element("touch", HTMLElement);
  #lobby;
  #source;
  #view;
  #sound;
  /** @type {Client | null} */
  #client = null;

  /**
   * @param {import("/rtype/lobby.js").LobbyPanel} lobby
   * @param {import("/rtype/net_source.js").NetSource} source
   * @param {import("/rtype/draw/view.js").View} view
   * @param {import("/rtype/sound.js").Sound} sound
   */
  constructor(lobby, source, view, sound) {
    this.#lobby = lobby;
    this.#source = source;
    this.#view = view;
    this.#sound = sound;
    this.#offers.onChosen = () => sound.play("choose");
    this.#offers.armedOf = () => source.ownShip;
    view.effects.onSound = (name, x) => {
      if (lobby.isPlaying) sound.play(name, x);
    };
    const soundButton = element("sound", HTMLButtonElement);
    soundButton.addEventListener("click", () => {
      sound.set(!sound.isOn);
      soundButton.setAttribute("aria-pressed", String(sound.isOn));
      soundButton.textContent = sound.isOn ? "Sound on" : "Sound off";
    });
    const whole = element("whole-screen", HTMLButtonElement);
    whole.hidden = !document.fullscreenEnabled;
    whole.addEventListener("click", () => void this.#toggleWholeScreen());
    element("again", HTMLButtonElement).addEventListener("click", () => this.#again());
    element("leave-game", HTMLButtonElement).addEventListener("click", () => this.#setOver(false));
  }

  /** @param {Client} client */
  attach(client) {
    this.#client = client;
    this.#offers.attach(client);
    client.on("welcome", () => {
      this.#banner.clear();
      this.#setOver(false);
    });
    client.on("call", ({ name, args }) => this.#handleCall(name, args));
    client.on("call-refused", ({ text }) => this.#banner.say("", text));
    client.on("lobby", ({ phase }) => {
      if (phase !== "playing") this.#offers.clear();
      if (phase === "countdown") this.#setOver(false);
    });
  }

  /** Takes one of what is offered. @param {number} choice */
  choose(choice) {
    this.#offers.choose(choice);
  }

  /** Enter: once more after a game, ready before one. */
  start() {
    if (!this.#over.hidden) this.#again();
    else this.#lobby.toggleReady();
  }

  /**
   * @param {import("/rtype/cast.js").Cast} cast
   * @param {import("/common/session.js").Session} session
   */
  update(cast, session) {
    const { isPlaying, isWatching } = this.#lobby;
    const own = isPlaying ? this.#source.ownShip : null;
    this.#touch.hidden = own === null;
    this.#offers.update(cast.nowMs);
    if (!isPlaying) {
      this.#hud.hide();
      this.#banner.update(cast.nowMs, "");
      return;
    }
    this.#hud.update(cast, own, this.#view.nameOf);
    // The last points come with the next snapshot, after the word that it is over.
    if (!this.#over.hidden) this.#sayPoints(own);
    const isConnected = session.client?.state === "connected";
    const waits = isWatching ? "You are watching." : "You fly from the next wave.";
    const isOut = own !== null && own.lives === 0;
    const lasting = isOut ? "You are out until the next level." : own === null && isConnected ? waits : "";
    this.#banner.update(cast.nowMs, this.#over.hidden ? lasting : "");
  }

  /**
   * @param {string} name
   * @param {readonly any[]} args
   */
  #handleCall(name, args) {
    switch (name) {
      case "level_info":
        return this.#banner.say(`Level ${args[0]}`, String(args[2] ?? ""));
      case "boss_spawned":
        this.#sound.play("alarm");
        return this.#banner.say("Warning", BOSS_NAMES.get(args[0]) ?? String(args[1] ?? ""));
      case "power_status":
        return this.#banner.say("", `${POWERS[args[0]] ?? ""} ${args[1]}`);
      case "weapon_confirmed":
        return this.#banner.say("", `${WEAPONS[args[0]] ?? ""} ${"I".repeat(Math.min(3, args[1]))}`);
      case "beam":
        return this.#showBeam(args);
      case "game_over":
        return this.#showOver(args);
    }
  }

  /** A beam of another ship; one's own was shown when it was fired. @param {readonly any[]} args */
  #showBeam([seat, x, y, reach]) {
    const own = this.#source.ownShip;
    const isShown = own?.seat === seat && this.#source.isPredicting;
    if (!isShown && [seat, x, y, reach].every(Number.isInteger))
      this.#view.effects.beam(seat & 3, x, y, reach);
  }

  /** @param {readonly any[]} args */
  #showOver([isWon, score, level]) {
    this.#overTitle.textContent = isWon ? "You won" : "Game over";
    this.#together = `Together ${Number(score).toLocaleString("en")} points, up to level ${level}.`;
    this.#sayPoints(this.#source.ownShip);
    // There is nothing left to use it for.
    this.#offers.clear();
    this.#setOver(true);
  }

  /** @param {Record<string, any> | null} own */
  #sayPoints(own) {
    const ownPoints = own === null ? "" : `You: ${own.score.toLocaleString("en")} points. `;
    this.#overWords.textContent = ownPoints + this.#together;
  }

  /** @param {boolean} isOver */
  #setOver(isOver) {
    this.#over.hidden = !isOver;
  }

  #again() {
    this.#lobby.again();
    this.#setOver(false);
    if (this.#client?.lobby.state?.phase === "waiting") this.#lobby.toggleReady();
  }

  async #toggleWholeScreen() {
    try {
      if (document.fullscreenElement === null) await element("stage", HTMLElement).requestFullscreen();
      else await document.exitFullscreen();
    } catch {
      // A browser that does not want to: the page is playable as it is.
    }
  }
}
