/** Lists that are kept in place, so that a step leaves nothing behind to be collected. */

/**
 * Keeps what a test holds for, in its order.
 * @template T
 * @param {T[]} list is changed
 * @param {(item: T) => boolean} keeps
 */
export function retain(list, keeps) {
  let kept = 0;
  for (let index = 0; index < list.length; index++) {
    const item = list[index];
    if (keeps(item)) list[kept++] = item;
  }
  list.length = kept;
}
