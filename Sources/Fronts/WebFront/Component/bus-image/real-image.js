// The real <img> in the page: the attributes set by the author, and the image shown in it.

const names = ["src", "srcset", "sizes"];

/** The <img> of an element, which works without scripts. */
export class RealImage {
  #onChange;
  #changes = new MutationObserver((records) => this.#take(records));
  #authored = {};
  #isOurs = false;
  #lent;
  #blob;

  /** @param {() => void} onChange called when the author changes the image */
  constructor(onChange) {
    this.#onChange = onChange;
  }

  /** @type {HTMLImageElement | undefined} */
  element;

  /** The attributes set by the author. */
  get authored() {
    return this.#authored;
  }

  /** Adopts the <img> in the element, or creates one. */
  adopt(host, slotted) {
    if (this.element === slotted && slotted) return;
    if (!slotted && this.#isOurs && this.element.parentNode === host) return;
    this.#changes.disconnect();
    if (this.#isOurs) this.element.remove();
    this.#isOurs = !slotted;
    this.element = slotted ?? Object.assign(new Image(), { decoding: "async", alt: "" });
    this.#authored = this.#written();
    if (this.#isOurs) host.append(this.element);
    this.#changes.observe(this.element, { attributeFilter: [...names, "width", "height"] });
  }

  /** Whether it has already been loaded or has failed. */
  get isSettled() {
    return this.element.complete && this.element.hasAttribute("src");
  }

  get isWhole() {
    return this.element.complete && this.element.naturalWidth > 0;
  }

  /** Whether it shows these candidates, loaded by the browser itself. */
  holds(offered) {
    const written = this.#written();
    return this.isWhole && names.every((name) => written[name] === offered[name]);
  }

  /** Sets the attributes; if nothing changes, nothing is loaded again. */
  show(offered) {
    this.#write(() => {
      for (const name of names) this.#set(name, offered[name]);
    });
    this.#forget();
  }

  /** Shows loaded bytes. Resolves when they can be drawn. */
  async showBlob(blob) {
    const [url, old] = [URL.createObjectURL(blob), this.#blob];
    this.#blob = url;
    this.#write(() => {
      this.#set("srcset", undefined);
      this.#set("sizes", undefined);
      this.#set("src", url);
    });
    if (old) URL.revokeObjectURL(old);
    await this.element.decode();
  }

  /** Shows nothing and cancels the load in flight. */
  clear() {
    if (!this.element) return;
    this.#write(() => {
      this.#set("srcset", undefined);
      // Set to an empty text first, because that closes the connection.
      if (this.element.hasAttribute("src")) this.element.setAttribute("src", "");
      this.#set("src", undefined);
    });
    this.#forget();
  }

  /** Shows another URL temporarily. */
  borrow(url) {
    this.#lent ??= this.#written();
    this.#write(() => {
      this.#set("srcset", undefined);
      this.#set("src", url);
    });
  }

  /** Restores the image replaced by `borrow`. */
  giveBack() {
    const lent = this.#lent;
    this.#lent = undefined;
    if (lent) this.#write(() => names.forEach((name) => this.#set(name, lent[name])));
  }

  /** Releases the bytes; the image stays visible. */
  release() {
    this.#forget();
  }

  #forget() {
    if (this.#blob) URL.revokeObjectURL(this.#blob);
    this.#blob = undefined;
  }

  #written() {
    return Object.fromEntries(
      names.map((name) => [name, this.element.getAttribute(name) ?? undefined]));
  }

  #set(name, value) {
    if (value === undefined) this.element.removeAttribute(name);
    else if (this.element.getAttribute(name) !== value) this.element.setAttribute(name, value);
  }

  /** Changes attributes without treating it as a change by the author. */
  #write(change) {
    this.#take(this.#changes.takeRecords());
    change();
    this.#changes.takeRecords();
  }

  #take(records) {
    if (records.length === 0) return;
    for (const name of new Set(records.map((record) => record.attributeName))) {
      if (!names.includes(name)) continue;
      this.#authored[name] = this.element.getAttribute(name) ?? undefined;
    }
    this.#onChange();
  }
}
