// Two ways to an image. The browser's own shows it with no more ado; `fetch` knows how far it is
// and why there is none. What fails in the first lane goes on in the second.

import { candidates, choose } from "./choice.js";
import { ask, body, isTooLong, LoadError, pause, wait } from "./loading.js";

/**
 * Loads what is offered into a real image, again where that may help.
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

/** In which lane the next attempt is. */
class Lanes {
  #tried = new Set();
  #isForeign;

  constructor(url, usesFetch) {
    this.usesFetch = usesFetch;
    this.#isForeign = new URL(url, document.baseURI).origin !== location.origin;
  }

  /** Whether to go on at once, in the other lane. */
  changeAfter(failure) {
    this.#tried.add(this.usesFetch);
    // A server that lets no script read its answers looks like none at all: there only the <img>
    // is left. An <img> does not say what is wrong: ask, once.
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
    // With another candidate on its way the first one is good.
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
    // It had failed before anybody listened.
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

/** Whether nothing came over the network, as far as the server lets us see. */
function wasCached(url, start) {
  const { href } = new URL(url, document.baseURI);
  const entry = performance.getEntriesByName(href, "resource").at(-1);
  return entry !== undefined && entry.startTime >= start - 1 && entry.transferSize === 0
    && entry.decodedBodySize > 0;
}

/**
 * A larger candidate than the one that is shown, where the place has grown.
 *
 * @returns {string | undefined}
 */
export function larger(offered, shown, width, density) {
  const widths = new Map(candidates(offered.srcset ?? "").map((one) => [one.url, one.width]));
  const url = choose(offered, width, density);
  return (widths.get(url) ?? 0) > (widths.get(shown) ?? Infinity) ? url : undefined;
}
