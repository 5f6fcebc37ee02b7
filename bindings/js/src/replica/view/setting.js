/**
 * Refuses a setting that cannot work, and says what would: a mistake of the program, so a RangeError.
 * @param {string} name as the game writes it
 * @param {number} value
 * @param {number} min
 * @param {number} max
 */
export function checkSetting(name, value, min, max) {
  // A number that is none lies within nothing.
  if (!(value >= min && value <= max)) {
    throw new RangeError(
      `${name} = ${value} is not allowed: use ${min.toLocaleString("en")} to ${max.toLocaleString("en")}`,
    );
  }
}
