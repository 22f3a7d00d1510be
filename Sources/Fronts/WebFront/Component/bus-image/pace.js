// Figures that change faster than anybody can see.

/**
 * Tells the newest value, at most so often; the last one is never kept back for long.
 *
 * @param {(loaded: number, total: number) => void} tell
 * @param {AbortSignal} signal ends it
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
