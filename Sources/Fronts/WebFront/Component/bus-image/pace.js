// Throttles progress that changes faster than it can be perceived.

/**
 * Returns a function that reports the newest value at most once per interval. A pending value is
 * reported after at most one interval, and completion immediately.
 *
 * @param {(loaded: number, total: number) => void} tell
 * @param {AbortSignal} signal stops reporting
 */
export function paced(tell, signal, milliseconds = 40) {
  let last = -Infinity;
  let timer;
  let newest;
  function now() {
    clearTimeout(timer);
    timer = undefined;
    if (signal.aborted) return;
    last = performance.now();
    tell(...newest);
  }
  return (loaded, total) => {
    newest = [loaded, total];
    const left = last + milliseconds - performance.now();
    if (left <= 0 || loaded === total) now();
    else timer ??= setTimeout(now, left);
  };
}
