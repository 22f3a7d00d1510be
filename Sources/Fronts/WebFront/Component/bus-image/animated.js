// The animated view: a still poster until it is played, and a button to pause it.

import { ask, body, counted } from "./loading.js";
import { isPlayable, Player } from "./player.js";

/** One animation over one still image. */
export class Animated {
  #canvas;
  #real;
  #changed;
  #file;
  #player;
  #moving;
  #wanted = false;
  #isHidden = false;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {import("./real-image.js").RealImage} real shows it if frames can't be decoded
   * @param {(state: "loading" | "playing" | "paused" | "ended" | "failed", error?: Error) => void}
   *   changed
   */
  constructor(canvas, real, changed) {
    this.#canvas = canvas;
    this.#real = real;
    this.#changed = changed;
  }

  get isPlaying() {
    return this.#wanted;
  }

  /** Plays the animation; the first call loads its file. */
  async play(url, { loops, priority, tellProgress }) {
    if (this.#wanted) return;
    this.#wanted = true;
    const file = (this.#file ??= new AbortController());
    try {
      if (!this.#player && !this.#moving) {
        this.#changed("loading");
        const { signal } = file;
        await this.#open(url, { loops, priority, onProgress: tellProgress(signal), signal });
      }
      if (file.signal.aborted) return;
      if (this.#wanted && !this.#isHidden) await this.#start();
      if (this.#wanted && !file.signal.aborted) this.#changed("playing");
    } catch (error) {
      if (file.signal.aborted) return;
      this.close();
      this.#changed("failed", error);
    }
  }

  /** Pauses at the current frame. */
  pause() {
    if (!this.#wanted) return;
    this.#wanted = false;
    this.#player?.pause();
    if (this.#moving) this.#real.giveBack();
    this.#changed("paused");
  }

  /** Suspends playback while the element is not visible. */
  hide(isHidden) {
    this.#isHidden = isHidden;
    if (!this.#wanted || !this.#player) return;
    if (isHidden) this.#player.pause();
    else this.#start().catch((error) => this.#changed("failed", error));
  }

  /** Releases the file and aborts its transfer. */
  close() {
    this.#wanted = false;
    this.#file?.abort();
    this.#player?.close();
    if (this.#moving) {
      this.#real.giveBack();
      URL.revokeObjectURL(this.#moving);
    }
    this.#file = this.#player = this.#moving = undefined;
    this.#canvas.hidden = true;
  }

  async #start() {
    if (this.#moving) return this.#real.borrow(this.#moving);
    await this.#player.play();
    this.#canvas.hidden = false;
  }

  async #open(url, { loops, priority, onProgress, signal }) {
    const response = await ask(url, { signal, priority });
    const type = (response.headers.get("Content-Type") ?? "").split(";")[0];
    if (await isPlayable(type)) {
      const data = counted(response, onProgress);
      this.#player = new Player(this.#canvas, { type, data }, {
        loops,
        onEnd: () => {
          this.#wanted = false;
          this.#changed("ended");
        },
      });
      if (signal.aborted) this.#player.close();
      return;
    }
    const blob = await body(response, { signal, onProgress });
    signal.throwIfAborted();
    this.#moving = URL.createObjectURL(blob);
  }
}
