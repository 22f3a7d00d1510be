/** `<bus-image>` of Imagebus: an image that says how it is.
 *
 * ```html
 * <bus-image progress thumbhash="3OcRJYB4d3h/iIeHeEh3eIhw+j2w">
 *   <img src="/SIGNATURE/w:640/plain/…" srcset="… 320w, … 640w" sizes="50vw"
 *        width="3" height="2" alt="A boat">
 * </bus-image>
 * <script type="module" src="/-/bus-image.js"></script>
 * ```
 *
 * The `<img>` is real: without script it is shown by the browser. Where its `src` is written on
 * the element instead, the component makes the `<img>`, and a `<noscript>` may hold another. A page
 * with a policy for its content allows `img-src blob:`.
 *
 * For styles: the custom properties `--bus-image-fit`, `-fade`, `-blur`, `-background` and
 * `-focus`; the parts `frame`, `placeholder`, `animation`, `indicator`, `failure`, `message`,
 * `retry` and `toggle`; the states of `state`, such as `bus-image:state(failed)`. The slots
 * `placeholder` and `failure` take elements in their place.
 */
export class BusImage extends HTMLElement {
  /** What is said in words; assign others for a page in another language. */
  static labels: Record<
    | "loading" | "waiting" | "retry" | "play" | "pause" | "failed" | "missing" | "offline"
    | "unreadable" | "busy" | "late",
    string
  >;

  /** Loads images into the browser's cache, behind all that is seen. Where the server is busy the
   * rest is skipped; `cancel` and `signal` end it, and so does leaving the page. */
  static prefetch(
    urls: Iterable<string>, options?: { concurrency?: number; signal?: AbortSignal },
  ): { done: Promise<{ loaded: number; skipped: number }>; cancel(): void };

  /** What is shown; on the element or on its `<img>`. A new one empties the old one at once. */
  src: string;
  /** Candidates with widths or densities, made by the server, which signs each of them. */
  srcset: string;
  /** As of `<img>`; with `progress` the width that the element has counts instead. */
  sizes: string;
  alt: string;

  /** Placeholder: a ThumbHash in Base64. */
  thumbhash: string;
  /** Placeholder: any CSS colour. */
  color: string;
  /** Placeholder: the URL of a small variant, which is blurred. */
  preview: string;
  /** No placeholder while it is loaded, only where that fails (`delay-placeholder`). */
  delayPlaceholder: boolean;

  /** Loads by `fetch`, which can say how far it is. Otherwise the `<img>` does it. */
  progress: boolean;
  /** `none`: nothing turns. */
  indicator: string;
  /** `none`: no fade. Without it what was not in the browser's cache fades in. */
  transition: string;
  /** Fades in what was cached, too (`force-transition`). */
  forceTransition: boolean;

  /** Loads when it is nearer than this to what is seen, such as `300px` (what an empty text
   * means), and cancels where it is scrolled past. */
  lazy: string;
  /** Further attempts after network errors, 429 and 503: 3. */
  retries: string;
  /** Device pixels for each pixel that candidates are chosen for, at most (`max-dpr`). */
  maxDpr: string;
  /** `high`, `low` or `auto`. */
  fetchpriority: string;

  /** The URL of an animation; the image itself is its still poster. */
  animated: string;
  /** How often it plays, 0 for ever; without it the file says so. */
  loops: string;
  /** Plays when its poster is there, unless the visitor wants less motion. */
  autoplay: boolean;
  /** URLs that are loaded ahead while it is pointed at or has the focus. */
  prefetch: string;

  readonly state: "empty" | "idle" | "loading" | "waiting" | "loaded" | "failed";
  /** The URL that is shown; empty where there is none. */
  readonly currentSrc: string;
  readonly playing: boolean;

  /** Loads it again, whatever the state is. */
  reload(): void;
  /** Returns when the first frame is seen. */
  play(): Promise<void> | undefined;
  pause(): void;

  addEventListener<K extends keyof BusImageEventMap>(
    type: K, listener: (this: BusImage, event: BusImageEventMap[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string, listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

/** What its listeners may ask for. */
export interface BusImageEventMap extends Omit<HTMLElementEventMap, keyof BusImageOwnEvents>,
  BusImageOwnEvents {}

/** None of them bubbles, as with `<img>`; those who capture see all. */
export interface BusImageOwnEvents {
  loadstart: Event;
  /** `bytes` only with `progress`. */
  load: CustomEvent<{ url: string; cached: boolean; bytes?: number; seconds: number }>;
  /** `status` is 0 where no answer came; `message` is for developers, `text` what is shown. */
  error: CustomEvent<{ status: number; message: string; text: string }>;
  progress: ProgressEvent;
  /** Before a wait; `attempt` counts from 1 on. */
  retry: CustomEvent<{ status: number; seconds: number; attempt: number }>;
  /** Nobody wants it any more: a new source, removed, scrolled past, or the page was left. */
  abort: Event;
  play: Event;
  pause: Event;
  ended: Event;
}

declare global {
  interface HTMLElementTagNameMap {
    "bus-image": BusImage;
  }
}
