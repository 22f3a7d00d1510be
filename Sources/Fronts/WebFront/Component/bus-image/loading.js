// Loads an image with `fetch`, which reports progress and errors, unlike an <img>.

/**
 * The `Accept` header that an <img> in this browser sends: with a different one, `Vary: Accept`
 * would make caches store images twice. ImageDecoder reports support for JPEG XL; all browsers
 * support the other formats.
 */
const accept = (async () => {
  const isShown = await globalThis.ImageDecoder?.isTypeSupported("image/jxl").catch(() => false);
  const newest = isShown ? "image/jxl," : "";
  return `${newest}image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8`;
})();

/** The largest accepted retry delay in seconds. */
const secondsMax = 300;
/** The number of characters read from a response that is not an image. */
const sentenceMax = 200;

/** Why an image could not be loaded. */
export class LoadError extends Error {
  /**
   * @param {string} message for developers
   * @param {{status?: number, retryAfter?: number, isNetwork?: boolean}} [facts] `status` is 0
   *   if there was no response
   */
  constructor(message, { status = 0, retryAfter, isNetwork = false } = {}) {
    super(message);
    this.name = "LoadError";
    this.status = status;
    this.retryAfter = retryAfter;
    this.isNetwork = isNetwork;
  }

  /** Whether a retry may succeed. Other statuses are client errors or permanent. */
  get isPassing() {
    return this.isNetwork || this.status === 429 || this.status === 503;
  }
}

/**
 * Returns the response of the server, or throws a `LoadError`.
 *
 * @param {string} url
 * @param {{signal: AbortSignal, priority?: "high" | "low" | "auto"}} options
 */
export async function ask(url, { signal, priority = "auto" }) {
  let response;
  try {
    response = await fetch(url, { headers: { Accept: await accept }, priority, signal });
  } catch (error) {
    throw unlessAborted(signal, error);
  }
  if (response.ok) return response;
  throw new LoadError(await sentence(response), {
    status: response.status,
    retryAfter: seconds(response.headers.get("Retry-After")),
  });
}

/**
 * Returns the body of a response.
 *
 * @param {Response} response
 * @param {{signal: AbortSignal, onProgress: (loaded: number, total: number) => void}} options
 *   `total` is 0 if the server doesn't specify it
 * @returns {Promise<Blob>}
 */
export async function body(response, { signal, onProgress }) {
  const type = response.headers.get("Content-Type") ?? "";
  if (!type.startsWith("image/")) {
    await response.body?.cancel();
    throw new LoadError(`the answer is ${type || "of no type"}`, { status: response.status });
  }
  try {
    const headers = { "Content-Type": type };
    return await new Response(counted(response, onProgress), { headers }).blob();
  } catch (error) {
    throw unlessAborted(signal, error);
  }
}

/** Returns the stream of a body and reports progress for each chunk. */
export function counted(response, onProgress) {
  const length = Number(response.headers.get("Content-Length")) || 0;
  let loaded = 0;
  onProgress(0, length);
  return response.body.pipeThrough(new TransformStream({
    transform(piece, controller) {
      loaded += piece.length;
      // A body with a content encoding is longer than announced.
      onProgress(loaded, loaded <= length ? length : 0);
      controller.enqueue(piece);
    },
  }));
}

/**
 * Returns the delay before the next attempt in seconds: at least what the server specifies, plus
 * random jitter, so that clients refused together don't retry together.
 *
 * @param {LoadError} error
 * @param {number} attempt starting at 0
 */
export function pause({ retryAfter }, attempt) {
  if (retryAfter !== undefined) return retryAfter * (1 + Math.random() / 4);
  return Math.min(2 ** attempt, 30) * (0.5 + Math.random() / 2);
}

/** Whether a server requests a longer delay than is reasonable for a page. */
export function isTooLong({ retryAfter = 0 }) {
  return retryAfter > secondsMax;
}

/** Waits; ends early if `signal` is aborted or the network is back online. */
export function wait(seconds, signal) {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const timer = setTimeout(end, seconds * 1000);
    function end() {
      clearTimeout(timer);
      over.abort();
      if (signal.aborted) reject(signal.reason);
      else resolve();
    }
    signal.addEventListener("abort", end, { signal: over.signal });
    if (!navigator.onLine) addEventListener("online", end, { signal: over.signal });
    if (signal.aborted) end();
  });
}

/** Parses `Retry-After` to seconds: a number or a date (RFC 9110 §10.2.3). */
function seconds(text) {
  if (text === null || text.trim() === "") return undefined;
  const number = Number(text);
  if (number >= 0) return number;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}

async function sentence(response) {
  const type = response.headers.get("Content-Type") ?? "";
  if (!type.startsWith("text/plain") || !response.body) {
    await response.body?.cancel();
    return `status ${response.status}`;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      text += piece.value;
      if (text.length >= sentenceMax) break;
    }
  } catch {
    // The status alone is sufficient.
  } finally {
    reader.cancel().catch(() => {});
  }
  return text.trim().slice(0, sentenceMax) || `status ${response.status}`;
}

function unlessAborted(signal, error) {
  return signal.aborted ? signal.reason : new LoadError(error.message, { isNetwork: true });
}
