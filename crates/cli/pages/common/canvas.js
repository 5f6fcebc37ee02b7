/** A canvas whose pixels are those of the screen, at any size and zoom. Drawing is in CSS pixels. */

/** See the module. */
export class CrispCanvas {
  /** In CSS pixels. */
  width = 0;
  height = 0;
  #element;
  #context;
  #scale = 1;
  #deviceWidth = 0;
  #deviceHeight = 0;

  /** @param {HTMLCanvasElement} element */
  constructor(element) {
    this.#element = element;
    const context = element.getContext("2d", { alpha: false });
    if (context === null) throw new Error("this browser has no canvas");
    this.#context = context;
    const observer = new ResizeObserver(([entry]) => this.#measure(entry));
    try {
      observer.observe(element, { box: "device-pixel-content-box" });
    } catch {
      // A browser that does not count pixels itself.
      observer.observe(element);
    }
  }

  /** Whether there is anything to draw on. */
  get isVisible() {
    return this.#deviceWidth > 0 && this.#deviceHeight > 0;
  }

  /** Ready to be drawn upon; the size is taken over here, because a canvas is empty after that. */
  begin() {
    const { canvas } = this.#context;
    if (canvas.width !== this.#deviceWidth) canvas.width = this.#deviceWidth;
    if (canvas.height !== this.#deviceHeight) canvas.height = this.#deviceHeight;
    this.#context.setTransform(this.#scale, 0, 0, this.#scale, 0, 0);
    return this.#context;
  }

  /** @param {ResizeObserverEntry} entry */
  #measure(entry) {
    const { width, height } = this.#element.getBoundingClientRect();
    const [box] = entry.devicePixelContentBoxSize ?? [];
    this.width = width;
    this.height = height;
    this.#deviceWidth = pixels(width, box?.inlineSize);
    this.#deviceHeight = pixels(height, box?.blockSize);
    this.#scale = width === 0 ? 1 : this.#deviceWidth / width;
  }
}

/**
 * The browser's own count is exact where layout and screen are out of step; one that is far off is of another
 * screen, as where a screen is only emulated.
 * @param {number} length in CSS pixels
 * @param {number | undefined} counted
 */
function pixels(length, counted) {
  const expected = length * devicePixelRatio;
  return counted !== undefined && Math.abs(counted - expected) < 2 ? counted : Math.round(expected);
}
