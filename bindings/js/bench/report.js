/**
 * Prints the median and the 99th percentile of some times, and fails if the median is above what is allowed.
 * @param {string} what
 * @param {number[]} times in microseconds
 * @param {number} limit in microseconds
 */
export function report(what, times, limit) {
  if (times.length === 0) throw new Error(`${what}: nothing was measured`);
  const sorted = Float64Array.from(times).sort();
  const median = sorted[sorted.length >> 1];
  const high = sorted[Math.floor(sorted.length * 0.99)];
  const allowed = `median at most ${limit} µs`;
  console.log(
    `${what}: median ${median.toFixed(0)} µs, p99 ${high.toFixed(0)} µs (${times.length} times, ${allowed})`,
  );
  if (median > limit) process.exitCode = 1;
}
