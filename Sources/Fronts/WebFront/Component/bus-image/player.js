// Frames of an animation on a canvas, while its bytes still arrive.

/** Whether this browser hands out the frames of such files. */
export async function isPlayable(type) {
  return "ImageDecoder" in globalThis && ImageDecoder.isTypeSupported(type);
}

/** Plays one animation. It holds one frame at a time, and the file. */
export class Player {
  #canvas;
  #decoder;
  #loops;
  /** The file once more, until it is known how often it wants to be played. */
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
   * @param {{loops?: number, onEnd: () => void}} options `loops` is 0 for ever; without it the
   *   file says how often
   */
  constructor(canvas, { type, data }, { loops, onEnd }) {
    this.#canvas = canvas;
    this.#loops = loops;
    this.#onEnd = onEnd;
    if (loops === undefined) {
      const [played, kept] = data.tee();
      data = played;
      this.#whole = { type, data: new Response(kept).arrayBuffer() };
      // Asked for at the end of a loop, if there is one.
      this.#whole.data.catch(() => {});
    }
    this.#decoder = new ImageDecoder({ type, data, preferAnimation: true });
    // What goes wrong later is said by the frame that it concerns.
    this.#decoder.completed.catch(() => {});
  }

  get isPlaying() {
    return this.#turn !== 0;
  }

  /** Which frame is shown next, from 0 on. */
  get index() {
    return this.#index;
  }

  /**
   * Goes on where it was; from the start where it had ended. Returns when the first frame is seen,
   * and throws where there is none.
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

  /** Gives all back. */
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
      // The rest of the file is broken, or it was given back: what is shown stays.
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

  /** The frame that follows; `undefined` at the end of the last loop. */
  async #next() {
    try {
      return await this.#frame();
    } catch (error) {
      if (!(error instanceof RangeError) || this.#index === 0) throw error;
    }
    // One picture is no animation.
    if (this.#index === 1) return undefined;
    this.#loopsDone += 1;
    const loops = (this.#loops ??= await this.#said());
    if (loops > 0 && this.#loopsDone >= loops) return undefined;
    this.#index = 0;
    return this.#frame();
  }

  /**
   * How often the file wants to be played. Who is asked before all bytes are here may not know it,
   * and Chromium forgets it where frames were decoded before that: so a decoder of its own reads
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
    // Chromium leaves it open where the rest of the bytes brings no such frame.
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

/** How long a frame is seen. What says less than 11 ms is shown for 100, as browsers do. */
function milliseconds(image) {
  const said = (image.duration ?? 0) / 1000;
  return said < 11 ? 100 : said;
}
