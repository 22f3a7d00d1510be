// Prefetches images into the browser's cache.

import { ask } from "./loading.js";

/**
 * Loads images that are not visible yet, a few at a time, with lower priority than visible images.
 * If the server is busy, the rest is skipped.
 *
 * @param {Iterable<string>} urls
 * @param {{concurrency?: number, signal?: AbortSignal}} [options]
 * @returns {{done: Promise<{loaded: number, skipped: number}>, cancel: () => void}}
 */
export function prefetch(urls, { concurrency = 2, signal } = {}) {
  const controller = new AbortController();
  const cancel = () => controller.abort();
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { signal: controller.signal });
  addEventListener("pagehide", cancel, { signal: controller.signal });

  const waiting = [...new Set(urls)];
  const counts = { loaded: 0, skipped: 0 };
  async function worker() {
    for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
      try {
        controller.signal.throwIfAborted();
        const response = await ask(url, { signal: controller.signal, priority: "low" });
        // The browser only caches bodies that are read completely.
        await response.body.pipeTo(new WritableStream());
        counts.loaded += 1;
      } catch (error) {
        counts.skipped += 1;
        if (controller.signal.aborted || error.status === 429 || error.status === 503) {
          counts.skipped += waiting.splice(0).length;
        }
      }
    }
  }
  const workers = Array.from({ length: Math.max(1, concurrency) }, worker);
  const done = Promise.all(workers).then(() => {
    // Removes the listeners.
    controller.abort();
    return counts;
  });
  return { done, cancel };
}
