// Which of the offered widths is loaded. The server made all of them: their URLs are signed.

/**
 * The candidates of a `srcset`.
 *
 * @param {string} text such as `a.jpg 320w, b.jpg 640w` or `a.jpg 1x, b.jpg 2x`
 * @returns {{url: string, width?: number, density?: number}[]}
 */
export function candidates(text) {
  // URLs may have commas inside, as those of thumbor do; one ends at a space, or at a comma there.
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
 * The smallest candidate that fills the pixels, or the largest one.
 *
 * @param {{src?: string, srcset?: string}} offered
 * @param {number} width of the place in the page, in CSS pixels
 * @param {number} density device pixels for each of them
 * @returns {string} a URL, empty where nothing is offered
 */
export function choose({ src, srcset }, width, density) {
  const wanted = (candidate) => candidate.width ?? candidate.density * width;
  const sorted = candidates(srcset ?? "").sort((a, b) => wanted(a) - wanted(b));
  if (sorted.length === 0) return src ?? "";
  // Half a pixel: layouts have fractions, and nobody sees them.
  const enough = width * density - 0.5;
  return (sorted.find((candidate) => wanted(candidate) >= enough) ?? sorted.at(-1)).url;
}
