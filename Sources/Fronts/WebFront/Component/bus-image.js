// <bus-image>: an image that shows its loading state. It wraps a real <img>, which works without
// scripts. For types and all attributes see bus-image.d.ts.

import { Animated } from "./bus-image/animated.js";
import { larger, load } from "./bus-image/lanes.js";
import { ask, body } from "./bus-image/loading.js";
import { paced } from "./bus-image/pace.js";
import { observe, unobserve } from "./bus-image/places.js";
import { prefetch } from "./bus-image/prefetch.js";
import { RealImage } from "./bus-image/real-image.js";
import { View } from "./bus-image/view.js";

const texts = [
  "src", "srcset", "sizes", "alt", "thumbhash", "color", "preview", "transition", "indicator",
  "lazy", "retries", "max-dpr", "fetchpriority", "animated", "loops", "prefetch",
];
const flags = ["progress", "delay-placeholder", "force-transition", "autoplay"];
const sources = ["src", "srcset", "sizes"];
const placeholders = ["thumbhash", "color", "preview"];

export class BusImage extends HTMLElement {
  static observedAttributes = [...sources, ...placeholders, "alt", "lazy", "animated"];

  /** The texts of the user interface; a page in another language replaces them. */
  static labels = {
    loading: "Loading", waiting: "Waiting to try again", retry: "Try again", play: "Play",
    pause: "Pause", failed: "This image cannot be loaded", missing: "This image does not exist",
    offline: "No connection", unreadable: "This is not an image", busy: "The server is busy",
    late: "The source does not answer",
  };

  /** Prefetches images with lower priority than visible images. */
  static prefetch(urls, options) {
    return prefetch(urls, options);
  }

  static #live = new Set();

  static {
    // A page in the back/forward cache would otherwise continue loading.
    addEventListener("pagehide", () => this.#live.forEach((one) => one.#suspend()));
    addEventListener("pageshow", () => this.#live.forEach((one) => one.#resume()));
    addEventListener("visibilitychange", () => this.#live.forEach((one) => one.#hide()));
    for (const name of texts) reflect(this, name, (value) => value ?? "");
    for (const name of flags) reflect(this, name, (value) => value !== null);
  }

  #internals = this.attachInternals();
  #view = new View(this.attachShadow({ mode: "open" }), {
    retry: () => this.#retry(),
    toggle: () => (this.playing ? this.pause() : this.play()),
  });
  #real = new RealImage(() => this.#renew());
  #animated = new Animated(
    this.#view.canvas, this.#real, (state, error) => this.#moved(state, error));
  #growth = new ResizeObserver(() => this.#grow());
  #state = "empty";
  #load;
  #quiet;
  #shown;
  #begun = "";
  #isNear = true;
  #isSuspended = false;
  #isRenewing = false;
  #ahead;

  // MARK: - Lifecycle

  connectedCallback() {
    BusImage.#live.add(this);
    this.#view.slot.addEventListener("slotchange", this.#slotted);
    for (const [type, listener] of this.#hovering) this.addEventListener(type, listener);
    this.#watchPlace();
    this.#growth.observe(this);
    this.#renew();
  }

  disconnectedCallback() {
    // An element that was only moved is connected again by then.
    queueMicrotask(() => {
      if (!this.isConnected) this.#leave();
    });
  }

  attributeChangedCallback(name, before, value) {
    if (before === value || !this.isConnected) return;
    if (name === "lazy") this.#watchPlace();
    if (name === "animated") this.#animated.close();
    this.#renew();
  }

  #leave() {
    BusImage.#live.delete(this);
    this.#view.slot.removeEventListener("slotchange", this.#slotted);
    for (const [type, listener] of this.#hovering) this.removeEventListener(type, listener);
    unobserve(this);
    this.#growth.disconnect();
    this.#ahead?.cancel();
    this.#animated.close();
    this.#cancel();
    // The image stays visible; its bytes can be released.
    this.#real.release();
  }

  #suspend() {
    this.#isSuspended = this.#cancel();
    this.#animated.pause();
    this.#ahead?.cancel();
  }

  #resume() {
    if (!this.#isSuspended) return;
    this.#isSuspended = false;
    this.#begin();
  }

  #hide() {
    this.#animated.hide(document.hidden || !this.#isSeen);
  }

  #slotted = () => this.#renew();

  // MARK: - Attributes

  get #offered() {
    const own = this.hasAttribute("src") || this.hasAttribute("srcset");
    if (!own) return this.#real.authored;
    return Object.fromEntries(sources.map((name) => [name, this.getAttribute(name) ?? undefined]));
  }

  /** Evaluates all attributes again, once for a batch of changes. */
  #renew() {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    queueMicrotask(() => {
      this.#isRenewing = false;
      if (this.isConnected) this.#look();
    });
  }

  #look() {
    this.#real.adopt(this, this.#view.slot.assignedElements().find((one) => one.matches("img")));
    const image = this.#real.element;
    if (this.hasAttribute("alt")) image.alt = this.alt;
    const side = (name) => Number(this.getAttribute(name) ?? image.getAttribute(name));
    this.#view.size(side("width"), side("height"));
    this.#showButton();
    const offered = this.#offered;
    const wanted = JSON.stringify([offered, ...placeholders.map((one) => this.getAttribute(one))]);
    if (wanted === this.#begun) {
      if (this.#state === "idle") this.#begin();
      return;
    }
    this.#cancel();
    this.#begun = wanted;
    this.#view.placeholder({
      color: this.getAttribute("color") ?? undefined, hash: this.thumbhash, preview: this.preview,
    });
    this.#begin();
  }

  // MARK: - Loading

  #begin() {
    const offered = this.#offered;
    const isThere = this.#real.holds(offered);
    this.#view.fail(undefined);
    this.#view.showPlaceholder(!this.delayPlaceholder);
    if (!isThere) this.#view.veil();
    // Clear the old image, and a load by the <img>, which can't report progress.
    if (!isThere && (this.progress || this.#shown !== undefined)) this.#real.clear();
    this.#shown = undefined;
    if (!offered.src && !offered.srcset) return this.#rest("empty");
    if (!this.#isNear && !isThere) return this.#rest("idle");
    const controller = (this.#load = new AbortController());
    this.#enter("loading");
    this.dispatchEvent(new Event("loadstart"));
    if (this.indicator !== "none") this.#view.indicate(this.#label("loading"));
    this.#run(controller, offered, this.progress && !isThere);
  }

  /** Enters a state in which nothing is being loaded. */
  #rest(state) {
    this.#real.clear();
    this.#enter(state);
  }

  async #run(controller, offered, usesFetch) {
    const { signal } = controller;
    const [start, ended] = [performance.now(), new AbortController()];
    try {
      const { url, isCached, bytes } = await load(this.#real, offered, {
        signal,
        usesFetch,
        retries: this.hasAttribute("retries") ? Number(this.retries) : 3,
        priority: this.#priority,
        ...this.#pixels,
        onProgress: this.#progressTeller(AbortSignal.any([signal, ended.signal])),
        onRetry: (error, seconds, attempt) => this.#waits(error, seconds, attempt),
        onAgain: () => this.#goesOn(),
      });
      if (signal.aborted) return;
      ended.abort();
      this.#load = undefined;
      this.#shown = url;
      this.#view.endIndicator();
      this.#view.unveil(this.#fades(isCached));
      this.#enter("loaded");
      const seconds = (performance.now() - start) / 1000;
      this.#tell("load", { url, cached: isCached, bytes, seconds });
      if (this.autoplay && !stillness.matches) this.play();
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    } finally {
      ended.abort();
    }
  }

  /** Cancels the load; returns whether there was one. */
  #cancel() {
    this.#quiet?.abort();
    this.#quiet = undefined;
    const load = this.#load;
    if (!load) return false;
    this.#load = undefined;
    load.abort();
    this.#real.clear();
    this.#view.endIndicator();
    this.#enter("idle");
    this.dispatchEvent(new Event("abort"));
    return true;
  }

  #fail(error) {
    this.#load = undefined;
    this.#real.clear();
    this.#view.endIndicator();
    this.#view.showPlaceholder(true);
    const message = BusImage.labels[reason(error)];
    this.#view.fail({
      message, action: BusImage.labels.retry, label: this.#label("retry"),
    });
    if (document.activeElement === this) this.#view.focusRetry();
    this.#enter("failed");
    this.#tell("error", { status: error.status ?? 0, message: error.message, text: message });
  }

  #retry() {
    // The button disappears: keep the focus on this element.
    if (!this.hasAttribute("tabindex")) this.tabIndex = -1;
    this.focus({ preventScroll: true });
    this.reload();
  }

  /** Loads the image again in any state. */
  reload() {
    if (!this.isConnected) return;
    this.#cancel();
    this.#real.clear();
    this.#begin();
  }

  #waits(error, seconds, attempt) {
    this.#enter("waiting");
    if (this.indicator !== "none") this.#view.waits(this.#label("waiting"));
    this.#tell("retry", { status: error.status, seconds, attempt });
  }

  #goesOn() {
    this.#enter("loading");
    if (this.indicator !== "none") this.#view.indicate(this.#label("loading"));
  }

  #progressTeller(signal) {
    return paced((loaded, total) => {
      this.#view.progress(loaded, total);
      this.dispatchEvent(
        new ProgressEvent("progress", { lengthComputable: total > 0, loaded, total }));
    }, signal);
  }

  /** Loads a sharper image without showing an indicator after the element has grown. */
  async #grow() {
    if (this.#state !== "loaded" || !this.progress) return;
    const { width, density } = this.#pixels;
    const url = larger(this.#offered, this.#shown, width, density);
    if (!url) return;
    this.#quiet?.abort();
    const { signal } = (this.#quiet = new AbortController());
    try {
      const response = await ask(url, { signal, priority: "low" });
      const blob = await body(response, { signal, onProgress: () => {} });
      if (signal.aborted) return;
      this.#shown = url;
      await this.#real.showBlob(blob);
    } catch {
      // Keep the current image.
    }
  }

  // MARK: - Appearance

  get #pixels() {
    const density = Math.min(devicePixelRatio, Number(this.maxDpr) || Infinity);
    return { width: this.clientWidth, density };
  }

  get #priority() {
    return ["high", "low"].includes(this.fetchpriority) ? this.fetchpriority : "auto";
  }

  #fades(isCached) {
    if (this.transition === "none" || stillness.matches) return false;
    return this.forceTransition || !isCached;
  }

  #label(name) {
    const alt = this.#real.element?.alt;
    return alt ? `${BusImage.labels[name]}: ${alt}` : BusImage.labels[name];
  }

  #enter(state) {
    this.#internals.states.delete(this.#state);
    this.#internals.states.add(state);
    this.#state = state;
    const isBusy = state === "loading" || state === "waiting";
    if (isBusy) this.setAttribute("aria-busy", "true");
    else this.removeAttribute("aria-busy");
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  // MARK: - Visibility

  #isSeen = true;

  #watchPlace() {
    unobserve(this);
    const isLazy = this.hasAttribute("lazy");
    this.#isNear = !isLazy;
    const margin = /^\d+(px|%)$/.test(this.lazy) ? this.lazy : "300px";
    observe(this, isLazy ? margin : "0px", (isNear) => {
      this.#isSeen = isNear;
      this.#hide();
      if (!this.hasAttribute("lazy")) return;
      this.#isNear = isNear;
      if (isNear && this.#state === "idle") this.#begin();
      // Out of range: give way to visible images.
      else if (!isNear) this.#cancel();
    });
  }

  #hovering = [
    ["pointerenter", () => this.#prefetchOwn()], ["focusin", () => this.#prefetchOwn()],
    ["pointerleave", () => this.#ahead?.cancel()], ["focusout", () => this.#ahead?.cancel()],
  ];

  #prefetchOwn() {
    const urls = this.getAttribute("prefetch")?.split(/\s+/).filter(Boolean) ?? [];
    if (urls.length === 0) return;
    this.#ahead?.cancel();
    this.#ahead = prefetch(urls);
  }

  // MARK: - Animations

  get playing() {
    return this.#animated.isPlaying;
  }

  /** Plays the animation from its current position. */
  play() {
    if (!this.animated || !this.isConnected) return;
    const loops = this.hasAttribute("loops") ? Number(this.loops) : undefined;
    return this.#animated.play(this.animated, {
      loops, priority: this.#priority, tellProgress: (signal) => this.#progressTeller(signal),
    });
  }

  pause() {
    this.#animated.pause();
  }

  #moved(state, error) {
    this.#showButton();
    if (state === "loading") this.#view.indicate(this.#label("loading"));
    else this.#view.endIndicator();
    if (state === "playing") this.dispatchEvent(new Event("play"));
    else if (state === "paused") this.dispatchEvent(new Event("pause"));
    else if (state === "ended") this.dispatchEvent(new Event("ended"));
    else if (state === "failed") {
      this.#tell("error", {
        status: error.status ?? 0, message: error.message, text: BusImage.labels[reason(error)],
      });
    }
  }

  #showButton() {
    if (!this.animated) return this.#view.toggle(undefined);
    const shape = this.playing ? "pause" : "play";
    this.#view.toggle({ shape, label: this.#label(shape), title: BusImage.labels[shape] });
  }

  // MARK: - API

  /** One of empty, idle, loading, waiting, loaded and failed; in CSS `:state(loading)`. */
  get state() {
    return this.#state;
  }

  /** The URL of the image shown; empty if there is none. */
  get currentSrc() {
    return this.#shown ?? "";
  }
}

/** Disables fades and autoplay for users who prefer reduced motion. */
const stillness = matchMedia("(prefers-reduced-motion: reduce)");

function reason({ status = 0, isNetwork }) {
  if (isNetwork) return "offline";
  if (status === 404 || status === 410) return "missing";
  if (status === 415 || status === 422 || status === 200) return "unreadable";
  if (status === 429 || status === 503) return "busy";
  return status === 502 || status === 504 ? "late" : "failed";
}

/** Defines a property that reflects an attribute. */
function reflect(type, name, read) {
  const property = name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
  Object.defineProperty(type.prototype, property, {
    configurable: true,
    enumerable: true,
    get() {
      return read(this.getAttribute(name));
    },
    set(value) {
      if (value === false || value === null || value === undefined) this.removeAttribute(name);
      else this.setAttribute(name, value === true ? "" : value);
    },
  });
}

customElements.define("bus-image", BusImage);
