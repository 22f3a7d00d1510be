// Chooses among candidates. The server generates all of them, because their URLs are signed.

/**
 * Returns the candidates of a `srcset`.
 *
 * @param {string} text such as `a.jpg 320w, b.jpg 640w` or `a.jpg 1x, b.jpg 2x`
 * @returns {{url: string, width?: number, density?: number}[]}
 */
export function candidates(text) {
  // URLs may contain commas, as in thumbor; a URL ends at a space or a comma followed by one.
  const found = [];
  const pattern = /[\s,]*(\S*[^\s,])(?:\s+([^,\s]+))?\s*(?:,|$)/gy;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const [, url, descriptor = "1x"] = match;
    const number = Number.parseFloat(descriptor);
    if (!(number > 0)) continue;
    if (descriptor.endsWith("w")) found.push({ url, width: number });
    else if (descriptor.endsWith("x")) found.push({ url, density: number });
  }
  return found;
}

/**
 * Returns the smallest candidate that covers the width in device pixels, or the largest one.
 *
 * @param {{src?: string, srcset?: string}} offered
 * @param {number} width of the element in CSS pixels
 * @param {number} density device pixels per CSS pixel
 * @returns {string} a URL; empty if there are no candidates
 */
export function choose({ src, srcset }, width, density) {
  const wanted = (candidate) => candidate.width ?? candidate.density * width;
  const sorted = candidates(srcset ?? "").sort((a, b) => wanted(a) - wanted(b));
  if (sorted.length === 0) return src ?? "";
  // Half a pixel of tolerance: layouts have fractional sizes, and the difference isn't visible.
  const enough = width * density - 0.5;
  return (sorted.find((candidate) => wanted(candidate) >= enough) ?? sorted.at(-1)).url;
}
