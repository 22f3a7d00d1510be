// The elements around the image: placeholder, indicator, failure message and animation button.
// Pages style them with custom properties and `::part()`.

import { thumbHash } from "./thumb-hash.js";

const style = new CSSStyleSheet();
style.replaceSync(`
  :host { display: block; position: relative; contain: content; color: #fff; }
  :host([hidden]) { display: none; }
  [hidden] { display: none !important; }
  #frame { position: relative; width: 100%; height: 100%; overflow: hidden;
    background: var(--bus-image-background, #8883); }
  ::slotted(img) { display: block; width: 100%; height: auto; position: relative; }
  .sized ::slotted(img) { position: absolute; inset: 0; height: 100%;
    object-fit: var(--bus-image-fit, cover); }
  .veiled ::slotted(img) { opacity: 0; }
  .fading ::slotted(img) { animation: fade var(--bus-image-fade, 400ms) ease-out; }
  @keyframes fade { from { opacity: 0; } }
  #placeholder, #animation { position: absolute; inset: 0; width: 100%; height: 100%; }
  #placeholder > *, #placeholder ::slotted(*), #animation { display: block; width: 100%;
    height: 100%; object-fit: var(--bus-image-fit, cover); }
  #preview { filter: blur(var(--bus-image-blur, 14px)); scale: 1.1; }
  /* It stays below the image until that is whole. */
  .leaving #placeholder { visibility: hidden;
    transition: visibility 0s var(--bus-image-fade, 400ms); }
  #indicator { position: absolute; inset: 0; margin: auto; width: 2.5rem; height: 2.5rem;
    border-radius: 50%; background: #0007; animation: fade 250ms 200ms backwards; }
  #indicator::after { content: ""; position: absolute; inset: .45rem; border-radius: 50%;
    background: conic-gradient(currentColor var(--progress, 25%), #fff3 0);
    mask: radial-gradient(closest-side, #0000 68%, #000 72%); }
  #indicator:not([aria-valuenow])::after { animation: turn 1s linear infinite; }
  #indicator.waiting::after { animation-duration: 4s; opacity: .6; }
  @keyframes turn { to { rotate: 1turn; } }
  #failure { position: absolute; inset: 0; display: grid; place-content: center;
    justify-items: center; gap: .6rem; padding: .75rem; text-align: center;
    font: 500 .875rem/1.35 system-ui, sans-serif; background: #15181cb3; }
  #failure:not([hidden]) ~ #toggle { display: none; }
  button { font: inherit; color: inherit; background: #0008; border: 1px solid #fff6;
    border-radius: 999px; cursor: pointer; padding: .35rem .9rem; min-height: 2rem; }
  button:hover { background: #000b; }
  button:focus-visible { outline: 3px solid var(--bus-image-focus, #4c9dff);
    outline-offset: 2px; }
  #toggle { position: absolute; inset: auto .6rem .6rem auto; width: 2.75rem; height: 2.75rem;
    padding: 0; display: grid; place-items: center; }
  #toggle svg { width: 1.1rem; height: 1.1rem; fill: currentColor; }
  @media (prefers-reduced-motion: reduce) {
    .fading ::slotted(img), #indicator, #indicator::after { animation: none !important; }
    .leaving #placeholder { transition: none; }
  }
`);

const template = document.createElement("template");
template.innerHTML = `
  <div id="frame" part="frame">
    <div id="placeholder" part="placeholder" aria-hidden="true">
      <slot name="placeholder"></slot>
    </div>
    <slot></slot>
    <canvas id="animation" part="animation" aria-hidden="true" hidden></canvas>
    <div id="indicator" part="indicator" role="progressbar" aria-valuemin="0"
      aria-valuemax="100" hidden></div>
    <div id="failure" part="failure" hidden>
      <slot name="failure"><span id="message" part="message"></span></slot>
      <button id="retry" part="retry" type="button"></button>
    </div>
    <button id="toggle" part="toggle" type="button" hidden></button>
  </div>`;

const shapes = {
  play: "M7 4.5v15l12.5-7.5z",
  pause: "M6 5h4.2v14H6zM13.8 5H18v14h-4.2z",
};

/** The shadow tree of an element. */
export class View {
  #parts = {};

  /**
   * @param {ShadowRoot} root
   * @param {{retry: () => void, toggle: () => void}} actions of the buttons
   */
  constructor(root, { retry, toggle }) {
    root.adoptedStyleSheets = [style];
    root.append(template.content.cloneNode(true));
    for (const part of root.querySelectorAll("[id]")) this.#parts[part.id] = part;
    this.slot = root.querySelector("slot:not([name])");
    this.#parts.retry.addEventListener("click", retry);
    this.#parts.toggle.addEventListener("click", toggle);
  }

  /** The canvas on which frames are drawn. */
  get canvas() {
    return this.#parts.animation;
  }

  /** Reserves space for an image whose size is specified in the page. */
  size(width, height) {
    const isSized = width > 0 && height > 0;
    this.#parts.frame.classList.toggle("sized", isSized);
    this.#parts.frame.style.aspectRatio = isSized ? `${width} / ${height}` : "";
  }

  /** Sets the placeholder; slotted content is on top of the others. */
  placeholder({ color, hash, preview }) {
    const { placeholder, frame } = this.#parts;
    placeholder.querySelectorAll("canvas, img").forEach((old) => old.remove());
    frame.style.backgroundColor = color ?? "";
    const image = hash ? thumbHash(hash) : undefined;
    if (image) {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.width, image.height];
      canvas.getContext("2d").putImageData(image, 0, 0);
      placeholder.prepend(canvas);
    }
    if (preview) {
      const small = Object.assign(new Image(), { id: "preview", alt: "", decoding: "async" });
      // On failure, the hash or the color below it is sufficient.
      small.addEventListener("error", () => small.remove(), { once: true });
      small.src = preview;
      placeholder.querySelector("slot").before(small);
    }
  }

  /** Shows or hides the placeholder. */
  showPlaceholder(isShown) {
    this.#parts.placeholder.hidden = !isShown;
    if (isShown) this.#parts.frame.classList.remove("leaving");
  }

  /** Hides the image until it is complete. */
  veil() {
    this.#parts.frame.classList.add("veiled");
    this.#parts.frame.classList.remove("fading", "leaving");
  }

  /** Shows the image, immediately or with a fade. */
  unveil(fades) {
    const { classList } = this.#parts.frame;
    classList.remove("veiled");
    classList.toggle("fading", fades);
    classList.add("leaving");
    if (!fades) this.#parts.placeholder.hidden = true;
  }

  /** Shows the indicator. */
  indicate(label) {
    const { indicator } = this.#parts;
    indicator.hidden = false;
    indicator.className = "";
    indicator.setAttribute("aria-label", label);
    this.progress(0, 0);
  }

  /** Updates the progress, if the total is known. */
  progress(loaded, total) {
    const { indicator } = this.#parts;
    if (!(loaded > 0 && total > 0)) {
      indicator.removeAttribute("aria-valuenow");
      indicator.style.removeProperty("--progress");
      return;
    }
    const percent = Math.floor((loaded / total) * 100);
    indicator.setAttribute("aria-valuenow", percent);
    indicator.style.setProperty("--progress", `${percent}%`);
  }

  /** Shows that a retry is pending. */
  waits(label) {
    this.indicate(label);
    this.#parts.indicator.className = "waiting";
  }

  endIndicator() {
    this.#parts.indicator.hidden = true;
  }

  /** Shows a failure; `undefined` hides it. */
  fail(failure) {
    const { failure: panel, message, retry } = this.#parts;
    panel.hidden = failure === undefined;
    if (!failure) return;
    message.textContent = failure.message;
    retry.textContent = failure.action;
    retry.setAttribute("aria-label", failure.label);
  }

  /** Sets the button of an animation; `undefined` hides it. */
  toggle(button) {
    const { toggle } = this.#parts;
    toggle.hidden = button === undefined;
    if (!button) return;
    toggle.setAttribute("aria-label", button.label);
    toggle.title = button.title;
    if (toggle.dataset.shape === button.shape) return;
    toggle.dataset.shape = button.shape;
    toggle.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${
      shapes[button.shape]}"/></svg>`;
  }

  /** Moves the focus to the retry button if it was pressed before. */
  focusRetry() {
    this.#parts.retry.focus();
  }
}
