/**
 * A table that is sorted by what its reader chooses, and stays in place while its figures change.
 *
 * Rows are kept from one update to the next, and cells are written only when their text differs: two
 * hundred rows a second cost little, a text that is selected stays selected, and a button that is about to be
 * pressed is still there.
 */

import { make } from "/common/words.js";

/**
 * @template T
 * @typedef {object} Column
 * @property {string} title
 * @property {string} [about] what it means, in a sentence
 * @property {(row: T) => string | number} value what it is sorted by
 * @property {(row: T) => string} [text] what is shown
 * @property {(row: T) => string} [level] `warn` or `bad`, with a sign beside the colour
 * @property {boolean} [isWords] begins on the left, and sorts from a to z
 */

/**
 * @template T
 * @typedef {{ label: (row: T) => string, text: string, press: (row: T) => void }} RowButton
 */

/** @template T */
export class Table {
  #columns;
  #key;
  #button;
  #body = make("tbody");
  #empty;
  /** @type {HTMLTableCellElement[]} */
  #heads = [];
  /** @type {Map<string | number, { row: HTMLTableRowElement, cells: HTMLTableCellElement[], value: T }>} */
  #rows = new Map();
  /** @type {T[]} */
  #values = [];
  #sorted;
  #isDescending;

  /**
   * @param {HTMLElement} parent
   * @param {object} options
   * @param {string} options.caption
   * @param {Column<T>[]} options.columns
   * @param {(row: T) => string | number} options.key
   * @param {string} options.empty what is said if there is nothing
   * @param {number} [options.sorted] the column to begin with
   * @param {RowButton<T>} [options.button] in each row
   */
  constructor(parent, { caption, columns, key, empty, sorted = 0, button }) {
    this.#columns = columns;
    this.#key = key;
    this.#button = button;
    this.#sorted = sorted;
    this.#isDescending = columns[sorted].isWords !== true;
    const table = make("table");
    table.append(make("caption", caption, "hidden"), this.#makeHead(), this.#body);
    this.#empty = make("p", empty, "note");
    parent.append(table, this.#empty);
  }

  #makeHead() {
    const row = make("tr");
    this.#columns.forEach((column, index) => {
      const head = make("th", "", column.isWords === true ? "words" : "");
      head.scope = "col";
      const button = make("button", column.title);
      button.type = "button";
      if (column.about !== undefined) button.title = column.about;
      button.addEventListener("click", () => this.#sortBy(index));
      head.append(button);
      row.append(head);
      this.#heads.push(head);
    });
    if (this.#button !== undefined) row.append(make("td"));
    const head = make("thead");
    head.append(row);
    this.#showOrder();
    return head;
  }

  /** @param {number} index */
  #sortBy(index) {
    this.#isDescending =
      index === this.#sorted ? !this.#isDescending : this.#columns[index].isWords !== true;
    this.#sorted = index;
    this.#showOrder();
    this.update(this.#values);
  }

  #showOrder() {
    this.#heads.forEach((head, index) => {
      if (index !== this.#sorted) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", this.#isDescending ? "descending" : "ascending");
    });
  }

  /** @param {T[]} values */
  update(values) {
    this.#values = values;
    const { value } = this.#columns[this.#sorted];
    const order = this.#isDescending ? -1 : 1;
    const sorted = [...values].sort((one, other) => {
      // What is equal stays in one order, or rows would dance.
      return compare(value(one), value(other)) * order || compare(this.#key(one), this.#key(other));
    });
    const kept = new Set(sorted.map(this.#key));
    for (const [key, { row }] of this.#rows) {
      if (kept.has(key)) continue;
      row.remove();
      this.#rows.delete(key);
    }
    let after = this.#body.firstElementChild;
    for (const each of sorted) {
      const row = this.#show(each);
      if (row === after) after = after.nextElementSibling;
      else this.#body.insertBefore(row, after);
    }
    this.#empty.hidden = sorted.length > 0;
  }

  /** @param {T} value */
  #show(value) {
    const key = this.#key(value);
    const known = this.#rows.get(key) ?? this.#makeRow(value);
    this.#rows.set(key, known);
    known.value = value;
    this.#columns.forEach((column, index) => {
      const cell = known.cells[index];
      const text = column.text?.(value) ?? String(column.value(value));
      if (cell.textContent !== text) cell.textContent = text;
      const level = column.level?.(value) ?? "";
      if ((cell.dataset.level ?? "") !== level) cell.dataset.level = level;
    });
    return known.row;
  }

  /** @param {T} value */
  #makeRow(value) {
    const row = make("tr");
    const cells = this.#columns.map((column) => make("td", "", column.isWords === true ? "words" : ""));
    row.append(...cells);
    const made = { row, cells, value };
    if (this.#button !== undefined) {
      const { text, label, press } = this.#button;
      const button = make("button", text);
      button.type = "button";
      button.setAttribute("aria-label", label(value));
      button.addEventListener("click", () => press(made.value));
      const cell = make("td", "", "act");
      cell.append(button);
      row.append(cell);
    }
    return made;
  }
}

/**
 * @param {string | number} one
 * @param {string | number} other
 */
function compare(one, other) {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other), undefined, { numeric: true });
}
