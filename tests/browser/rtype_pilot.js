/**
 * Somebody who plays in the page: looks at what it shows and presses its keys, and remembers what was to be
 * seen of everybody.
 */

/** @typedef {import("playwright-core").Page} Page */

/**
 * What a page has shown of a ship.
 * @typedef {object} SeenShip
 * @property {number} pilot
 * @property {number} fromX where it was seen first
 * @property {number} fromY
 * @property {number} flown how far from there it has been
 * @property {number} score
 * @property {number} earned points for enemies that are no bosses
 * @property {boolean} isUpgraded whether it had another weapon than at first, or a better one
 */
/**
 * @typedef {object} Seen
 * @property {[name: string, ...args: any[]][]} calls of the server
 * @property {Record<number, SeenShip>} ships by their seats
 * @property {Record<number, number>} shots by the seats that fired them
 * @property {number[]} enemies their kinds, each once
 * @property {number} capsules how many there were
 * @property {number[]} levels in order
 * @property {number} together the most ships in a frame
 */

/** Points that only a boss gives, or the end of a level. */
const MANY_POINTS = 1_000;
/** How near is near enough. */
const UNITS_OFF = 14;
const BOSS_KIND_MIN = 6;

/** Begins to remember what a page shows of games. @param {Page} page */
export function watch(page) {
  return page.evaluate((manyPoints) => {
    const { session, cast, lobby } = /** @type {any} */ (globalThis).netloom;
    /** @type {Seen} */
    const seen = { calls: [], ships: {}, shots: {}, enemies: [], capsules: 0, levels: [], together: 0 };
    const [shots, enemies, capsules, levels] = [new Set(), new Set(), new Set(), new Set()];
    Object.assign(globalThis, { netloomSeen: seen });
    session.client.on("call", (/** @type {any} */ { name, args }) => {
      // Bytes do not leave the page as they are.
      const plain = args.map((/** @type {any} */ each) => (each instanceof Uint8Array ? [...each] : each));
      seen.calls.push([name, ...plain]);
    });
    const look = () => {
      requestAnimationFrame(look);
      if (!lobby.isPlaying) return;
      // Of a ship without a pilot nothing is known yet.
      const ships = [...cast.ships].filter(({ pilot }) => pilot !== 0);
      seen.together = Math.max(seen.together, ships.length);
      for (const { seat, pilot, x, y, score, weapon, weaponLevel } of ships) {
        const first = { pilot, fromX: x, fromY: y, flown: 0, score, earned: 0, isUpgraded: false };
        const ship = (seen.ships[seat] ??= first);
        const more = score - ship.score;
        ship.earned += more < manyPoints ? more : 0;
        ship.flown = Math.max(ship.flown, Math.abs(x - ship.fromX) + Math.abs(y - ship.fromY));
        ship.isUpgraded ||= weapon !== 0 || weaponLevel > 1;
        Object.assign(ship, { pilot, score });
      }
      for (const { id, seat } of cast.shots) {
        if (!shots.has(id)) seen.shots[seat] = (seen.shots[seat] ?? 0) + 1;
        shots.add(id);
      }
      for (const { kind } of cast.enemies) enemies.add(kind);
      for (const { id } of cast.capsules) capsules.add(id);
      levels.add(cast.level);
      seen.enemies = [...enemies];
      seen.capsules = capsules.size;
      seen.levels = [...levels];
    };
    look();
  }, MANY_POINTS);
}

/** What a page has shown since it is watched. @param {Page} page @returns {Promise<Seen>} */
export function seenIn(page) {
  return page.evaluate(() => /** @type {any} */ (globalThis).netloomSeen);
}

/**
 * Lets somebody fly the ship of a page until the game is over, frame by frame, by the keys of the page:
 * towards capsules, else to the height of an enemy, firing at whatever comes, with the beam at a boss.
 * @param {Page} page
 */
export function takeOff(page) {
  return page.evaluate(
    ({ unitsOff, bossKindMin }) => {
      const { cast, lobby } = /** @type {any} */ (globalThis).netloom;
      const offers = /** @type {HTMLElement} */ (document.getElementById("offers"));
      /** @type {Set<string>} */
      let held = new Set();
      const hold = (/** @type {Set<string>} */ keys) => {
        const press = (/** @type {string} */ type, /** @type {string} */ code) =>
          document.body.dispatchEvent(new KeyboardEvent(type, { code, bubbles: true }));
        for (const key of held) if (!keys.has(key)) press("keyup", key);
        for (const key of keys) if (!held.has(key)) press("keydown", key);
        held = keys;
      };
      const keysFor = (/** @type {any} */ own) => {
        const way = (/** @type {any} */ { x, y }) => Math.abs(x - own.x) / 4 + Math.abs(y - own.y);
        const nearest = (/** @type {any[]} */ things) => things.sort((a, b) => way(a) - way(b))[0];
        // Somebody who thinks about an offer cannot take another capsule, and others want some, too.
        const mayTake = offers.hidden && !own.drone && own.shield + own.thrusters === 0;
        const capsule = mayTake ? nearest([...cast.capsules]) : undefined;
        const enemy = nearest([...cast.enemies].filter(({ x }) => x > own.x + 60));
        const x = capsule?.x ?? 180 + 50 * own.seat;
        const y = (capsule ?? enemy)?.y ?? 180 + 180 * own.seat;
        const keys = new Set();
        if (Math.abs(x - own.x) > unitsOff) keys.add(x > own.x ? "ArrowRight" : "ArrowLeft");
        if (Math.abs(y - own.y) > unitsOff) keys.add(y > own.y ? "ArrowDown" : "ArrowUp");
        if (enemy !== undefined) keys.add("Space");
        if (enemy?.kind >= bossKindMin) keys.add("ShiftLeft");
        return keys;
      };
      const fly = () => {
        const own = [...cast.ships].find(({ isOwn }) => isOwn);
        const isOver = !lobby.isPlaying || !(/** @type {any} */ (document.getElementById("over")).hidden);
        hold(own === undefined || own.down > 0 || isOver ? new Set() : keysFor(own));
        if (!isOver) requestAnimationFrame(fly);
      };
      fly();
    },
    { unitsOff: UNITS_OFF, bossKindMin: BOSS_KIND_MIN },
  );
}
