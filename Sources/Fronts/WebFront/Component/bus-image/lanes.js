// Two ways to load an image: with the <img> itself, which is the simplest, or with `fetch`, which
// reports progress and errors. If the first one fails, the other one is tried.

import { candidates, choose } from "./choice.js";
import { ask, body, isTooLong, LoadError, pause, wait } from "./loading.js";

/**
 * Loads a candidate into a real image, with retries after temporary failures.
 *
 * @param {import("./real-image.js").RealImage} real
 * @param {{src?: string, srcset?: string, sizes?: string}} offered
 * @param {{
 *   signal: AbortSignal, usesFetch: boolean, retries: number, priority: string,
 *   width: number, density: number,
 *   onProgress: (loaded: number, total: number) => void,
 *   onRetry: (error: LoadError, seconds: number, attempt: number) => void,
 *   onAgain: () => void,
 * }} options
 * @returns {Promise<{url: string, isCached: boolean, bytes?: number}>}
 */
export async function load(real, offered, options) {
  const { signal, retries } = options;
  const url = choose(offered, options.width, options.density);
  const lanes = new Lanes(url, options.usesFetch);
  for (let attempt = 0; ; ) {
    let failure;
    try {
      return await (lanes.usesFetch ? fetched : native)(real, offered, url, options);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      failure = error instanceof LoadError ? error : new LoadError(error.message);
    }
    if (lanes.changeAfter(failure)) continue;
    if (!failure.isPassing || attempt >= retries || isTooLong(failure)) throw failure;
    const seconds = pause(failure, attempt);
    attempt += 1;
    options.onRetry(failure, seconds, attempt);
    await wait(seconds, signal);
    options.onAgain();
  }
}

/** Selects the way (lane) of the next attempt. */
class Lanes {
  #tried = new Set();
  #isForeign;

  constructor(url, usesFetch) {
    this.usesFetch = usesFetch;
    this.#isForeign = new URL(url, document.baseURI).origin !== location.origin;
  }

  /** Returns whether to continue immediately with the other lane. */
  changeAfter(failure) {
    this.#tried.add(this.usesFetch);
    // Without CORS permission, `fetch` reports a network error, so only the <img> is left. An
    // <img> doesn't report what is wrong, so `fetch` is tried once.
    const isUnread = this.usesFetch && this.#isForeign && failure.isNetwork;
    const isNew = !this.#tried.has(!this.usesFetch);
    if (isUnread) this.usesFetch = false;
    else if (this.usesFetch || !isNew) return false;
    else this.usesFetch = true;
    return isNew;
  }
}

async function native(real, offered, _url, { signal }) {
  const start = performance.now();
  const wasThere = real.holds(offered);
  await settled(real, offered, signal);
  const image = real.element;
  try {
    await image.decode();
  } catch (error) {
    signal.throwIfAborted();
    // If another candidate is being loaded, the current image is still usable.
    if (!real.isWhole) throw new LoadError(error.message);
  }
  signal.throwIfAborted();
  const url = image.currentSrc;
  return { url, isCached: wasThere || wasCached(url, start) };
}

function settled(real, offered, signal) {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const listen = (target, type, act) =>
      target.addEventListener(type, () => (over.abort(), act()), { signal: over.signal });
    const broken = () =>
      reject(new LoadError("the browser shows no image", { isNetwork: true }));
    listen(real.element, "load", resolve);
    listen(real.element, "error", broken);
    listen(signal, "abort", () => reject(signal.reason));
    const before = real.element.getAttribute("src");
    real.show(offered);
    if (real.isWhole) return over.abort(), resolve();
    // It failed before the listeners were added.
    if (before === offered.src && real.isSettled) return over.abort(), broken();
  });
}

async function fetched(real, _offered, url, options) {
  const { signal, priority, onProgress } = options;
  const start = performance.now();
  const response = await ask(url, { signal, priority });
  const blob = await body(response, { signal, onProgress });
  signal.throwIfAborted();
  try {
    await real.showBlob(blob);
  } catch {
    signal.throwIfAborted();
    throw new LoadError("the browser cannot show this image", { status: response.status });
  }
  signal.throwIfAborted();
  return { url, isCached: wasCached(url, start), bytes: blob.size };
}

/** Whether the image came from the browser's cache, if the server exposes its timing. */
function wasCached(url, start) {
  const { href } = new URL(url, document.baseURI);
  const entry = performance.getEntriesByName(href, "resource").at(-1);
  return entry !== undefined && entry.startTime >= start - 1 && entry.transferSize === 0
    && entry.decodedBodySize > 0;
}

/**
 * Returns a larger candidate than the one shown, for an element that has grown.
 *
 * @returns {string | undefined}
 */
export function larger(offered, shown, width, density) {
  const widths = new Map(candidates(offered.srcset ?? "").map((one) => [one.url, one.width]));
  const url = choose(offered, width, density);
  return (widths.get(url) ?? 0) > (widths.get(shown) ?? Infinity) ? url : undefined;
}
