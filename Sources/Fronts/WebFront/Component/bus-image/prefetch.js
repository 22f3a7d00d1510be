// What may be wanted soon, for the browser's cache.

import { ask } from "./loading.js";

/**
 * Loads images that nobody sees yet, a few at a time, behind all that is seen. Where the server is
 * busy, the rest is skipped: this work is the first to give way.
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
        // The cache keeps what is read to its end.
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
    // Nothing listens any more.
    controller.abort();
    return counts;
  });
  return { done, cancel };
}
