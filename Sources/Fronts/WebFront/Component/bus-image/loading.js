// One image by `fetch`, which can say what an <img> cannot: how far it is, and why there is none.

/**
 * What an <img> of this browser says: with another text, `Vary: Accept` would have caches keep all
 * twice. Only ImageDecoder knows of JPEG XL; what the others show, every browser does.
 */
const accept = (async () => {
  const isShown = await globalThis.ImageDecoder?.isTypeSupported("image/jxl").catch(() => false);
  const newest = isShown ? "image/jxl," : "";
  return `${newest}image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8`;
})();

/** The most seconds that a server may have us wait. */
const secondsMax = 300;
/** The most characters that are read of an answer that is no image. */
const sentenceMax = 200;

/** Why an image could not be loaded. */
export class LoadError extends Error {
  /**
   * @param {string} message for developers
   * @param {{status?: number, retryAfter?: number, isNetwork?: boolean}} [facts] `status` is 0
   *   where no answer came
   */
  constructor(message, { status = 0, retryAfter, isNetwork = false } = {}) {
    super(message);
    this.name = "LoadError";
    this.status = status;
    this.retryAfter = retryAfter;
    this.isNetwork = isNetwork;
  }

  /** Whether the same may succeed later. Other statuses are the client's fault, or final. */
  get isPassing() {
    return this.isNetwork || this.status === 429 || this.status === 503;
  }
}

/**
 * The answer of a server, or a `LoadError`.
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
 * The body of an answer.
 *
 * @param {Response} response
 * @param {{signal: AbortSignal, onProgress: (loaded: number, total: number) => void}} options
 *   `total` is 0 where the server does not say it
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

/** The stream of a body; each piece is told of when it is here. */
export function counted(response, onProgress) {
  const length = Number(response.headers.get("Content-Length")) || 0;
  let loaded = 0;
  onProgress(0, length);
  return response.body.pipeThrough(new TransformStream({
    transform(piece, controller) {
      loaded += piece.length;
      // A body that is compressed on its way is longer than what was announced.
      onProgress(loaded, loaded <= length ? length : 0);
      controller.enqueue(piece);
    },
  }));
}

/**
 * Seconds before the next attempt. What the server says is the least; a part by chance is on top,
 * so that those who were refused together do not come back together.
 *
 * @param {LoadError} error
 * @param {number} attempt from 0 on
 */
export function pause({ retryAfter }, attempt) {
  if (retryAfter !== undefined) return retryAfter * (1 + Math.random() / 4);
  return Math.min(2 ** attempt, 30) * (0.5 + Math.random() / 2);
}

/** Whether a server wants us to wait for longer than anybody looks at a page. */
export function isTooLong({ retryAfter = 0 }) {
  return retryAfter > secondsMax;
}

/** Waits; ends sooner where `signal` says so, or the network comes back. */
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

/** The seconds of `Retry-After`: a number or a date (RFC 9110 §10.2.3). */
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
    // The status alone says enough.
  } finally {
    reader.cancel().catch(() => {});
  }
  return text.trim().slice(0, sentenceMax) || `status ${response.status}`;
}

function unlessAborted(signal, error) {
  return signal.aborted ? signal.reason : new LoadError(error.message, { isNetwork: true });
}
