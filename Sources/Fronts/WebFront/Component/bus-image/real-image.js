// The real <img> in the page's text: what its author wrote there, and what is shown in it.

const names = ["src", "srcset", "sizes"];

/** The image of one element. Without script it is an image like any other. */
export class RealImage {
  #onChange;
  #changes = new MutationObserver((records) => this.#take(records));
  #authored = {};
  #isOurs = false;
  #lent;
  #blob;

  /** @param {() => void} onChange the author wants another image */
  constructor(onChange) {
    this.#onChange = onChange;
  }

  /** @type {HTMLImageElement | undefined} */
  element;

  /** What the author offers in it. */
  get authored() {
    return this.#authored;
  }

  /** Takes the image that is in the element; makes one where there is none. */
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

  /** Whether it was whole, or broken, before anybody looked. */
  get isSettled() {
    return this.element.complete && this.element.hasAttribute("src");
  }

  get isWhole() {
    return this.element.complete && this.element.naturalWidth > 0;
  }

  /** Whether this is what is shown, as the browser itself loaded it. */
  holds(offered) {
    const written = this.#written();
    return this.isWhole && names.every((name) => written[name] === offered[name]);
  }

  /** Shows what the attributes say; without a change nothing is loaded anew. */
  show(offered) {
    this.#write(() => {
      for (const name of names) this.#set(name, offered[name]);
    });
    this.#forget();
  }

  /** Shows bytes that are here. Returns when they can be drawn. */
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

  /** Shows nothing; what was under way ends. */
  clear() {
    if (!this.element) return;
    this.#write(() => {
      this.#set("srcset", undefined);
      // Emptied first: that is what closes the connection.
      if (this.element.hasAttribute("src")) this.element.setAttribute("src", "");
      this.#set("src", undefined);
    });
    this.#forget();
  }

  /** Shows another URL for a while. */
  borrow(url) {
    this.#lent ??= this.#written();
    this.#write(() => {
      this.#set("srcset", undefined);
      this.#set("src", url);
    });
  }

  /** Ends that. */
  giveBack() {
    const lent = this.#lent;
    this.#lent = undefined;
    if (lent) this.#write(() => names.forEach((name) => this.#set(name, lent[name])));
  }

  /** Gives back bytes; what is shown stays. */
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

  /** Our own changes are no wish of the author. */
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
