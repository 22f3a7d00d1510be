// Plays an animation on a canvas, even while its bytes are still arriving.

/** Whether this browser can decode the frames of files of a type. */
export async function isPlayable(type) {
  return "ImageDecoder" in globalThis && ImageDecoder.isTypeSupported(type);
}

/** Plays an animation. Holds the file and a single frame at a time. */
export class Player {
  #canvas;
  #decoder;
  #loops;
  /** A copy of the file, kept until its loop count is known. */
  #whole;
  #onEnd;
  #index = 0;
  #loopsDone = 0;
  #turn = 0;
  #timer;
  #timerEnds = () => {};

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{type: string, data: ReadableStream<Uint8Array>}} file
   * @param {{loops?: number, onEnd: () => void}} options `loops` 0 means endless; by default, the
   *   file determines it
   */
  constructor(canvas, { type, data }, { loops, onEnd }) {
    this.#canvas = canvas;
    this.#loops = loops;
    this.#onEnd = onEnd;
    if (loops === undefined) {
      const [played, kept] = data.tee();
      data = played;
      this.#whole = { type, data: new Response(kept).arrayBuffer() };
      // Errors are reported when it is needed, at the end of a loop.
      this.#whole.data.catch(() => {});
    }
    this.#decoder = new ImageDecoder({ type, data, preferAnimation: true });
    // Later errors are reported by the affected frame.
    this.#decoder.completed.catch(() => {});
  }

  get isPlaying() {
    return this.#turn !== 0;
  }

  /** The index of the next frame, starting at 0. */
  get index() {
    return this.#index;
  }

  /**
   * Continues at the current position, or restarts after the end. Resolves when the first frame is
   * shown; rejects if there is none.
   */
  async play() {
    if (this.isPlaying) return;
    const turn = (this.#turn = Math.floor(Math.random() * 2 ** 40) + 1);
    try {
      const first = (await this.#next()) ?? (await this.#again());
      if (turn !== this.#turn) return first.image.close();
      this.#run(turn, first);
    } catch (error) {
      if (turn === this.#turn) this.#turn = 0;
      throw error;
    }
  }

  pause() {
    this.#turn = 0;
    clearTimeout(this.#timer);
    this.#timerEnds();
  }

  /** Releases all resources. */
  close() {
    this.pause();
    if (this.#decoder.state !== "closed") this.#decoder.close();
  }

  async #run(turn, frame) {
    let due = performance.now();
    try {
      while (frame && turn === this.#turn) {
        due = Math.max(due, performance.now() - milliseconds(frame.image)) +
          milliseconds(frame.image);
        this.#draw(frame.image);
        this.#index += 1;
        frame = await this.#next();
        await this.#until(due);
      }
    } catch {
      // The rest of the file is damaged or was released: keep the current frame.
      frame = undefined;
    }
    if (turn !== this.#turn) return frame?.image.close();
    this.#turn = 0;
    [this.#index, this.#loopsDone] = [0, 0];
    this.#onEnd();
  }

  #again() {
    [this.#index, this.#loopsDone] = [0, 0];
    return this.#frame();
  }

  /** Returns the next frame; `undefined` at the end of the last loop. */
  async #next() {
    try {
      return await this.#frame();
    } catch (error) {
      if (!(error instanceof RangeError) || this.#index === 0) throw error;
    }
    // A single frame is not an animation.
    if (this.#index === 1) return undefined;
    this.#loopsDone += 1;
    const loops = (this.#loops ??= await this.#said());
    if (loops > 0 && this.#loopsDone >= loops) return undefined;
    this.#index = 0;
    return this.#frame();
  }

  /**
   * Returns the loop count of the file. A decoder may not know it before all bytes have arrived,
   * and Chromium loses it if frames were decoded before that. Therefore a separate decoder reads
   * the whole file.
   */
  async #said() {
    const { type, data } = this.#whole;
    const decoder = new ImageDecoder({ type, data: await data, preferAnimation: true });
    try {
      await decoder.tracks.ready;
      return (decoder.tracks.selectedTrack?.repetitionCount ?? 0) + 1;
    } finally {
      decoder.close();
      this.#whole = undefined;
    }
  }

  async #frame() {
    const decoder = this.#decoder;
    await decoder.tracks.ready;
    const isKnown = () => this.#index < (decoder.tracks.selectedTrack?.frameCount ?? 0);
    if (decoder.complete && !isKnown()) throw new RangeError("no more frames");
    const decoding = decoder.decode({ frameIndex: this.#index, completeFramesOnly: true });
    if (isKnown()) return decoding;
    // Chromium never settles the promise if the remaining bytes don't contain the frame.
    decoding.catch(() => {});
    await Promise.race([decoding, decoder.completed]);
    if (decoder.complete && !isKnown()) throw new RangeError("no more frames");
    return decoding;
  }

  #draw(image) {
    const canvas = this.#canvas;
    if (canvas.width !== image.displayWidth || canvas.height !== image.displayHeight) {
      canvas.width = image.displayWidth;
      canvas.height = image.displayHeight;
    }
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0);
    image.close();
  }

  #until(due) {
    return new Promise((resolve) => {
      this.#timerEnds = resolve;
      this.#timer = setTimeout(resolve, Math.max(0, due - performance.now()));
    });
  }
}

/** The duration of a frame in milliseconds. Less than 11 ms counts as 100 ms, as in browsers. */
function milliseconds(image) {
  const said = (image.duration ?? 0) / 1000;
  return said < 11 ? 100 : said;
}
