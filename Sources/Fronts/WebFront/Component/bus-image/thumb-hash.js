// Placeholder images of about 25 bytes: a cosine transform with few coefficients, in the ThumbHash
// format (https://evanw.github.io/thumbhash/).

/** The longer side of the decoded image in pixels; it is scaled up with smoothing. */
const sideMax = 32;
/** The maximum number of frequencies per side. */
const frequencies = 7;

/**
 * @param {string} text Base64 in either alphabet
 * @returns {ImageData | undefined} `undefined` if it is invalid
 */
export function thumbHash(text) {
  const bytes = decoded(text);
  if (!bytes || bytes.length < 5) return undefined;
  const head = bytes[0] | (bytes[1] << 8) | (bytes[2] << 16);
  const more = bytes[3] | (bytes[4] << 8);
  const hasAlpha = head >> 23 === 1;
  const isLandscape = more >> 15 === 1;
  if (hasAlpha && bytes.length < 6) return undefined;

  // The shorter side has fewer coefficients, but at least some.
  const long = hasAlpha ? 5 : 7;
  const short = more & 7;
  const columns = Math.max(3, isLandscape ? long : short);
  const rows = Math.max(3, isLandscape ? short : long);
  const nibbles = nibbleReader(bytes, hasAlpha ? 6 : 5);
  const light = channel(
    columns, rows, (head & 63) / 63, ((head >> 18) & 31) / 31, nibbles);
  const yellow = channel(
    3, 3, ((head >> 6) & 63) / 31.5 - 1, (((more >> 3) & 63) / 63) * 1.25, nibbles);
  const red = channel(
    3, 3, ((head >> 12) & 63) / 31.5 - 1, (((more >> 9) & 63) / 63) * 1.25, nibbles);
  const alpha = hasAlpha
    ? channel(5, 5, (bytes[5] & 15) / 15, (bytes[5] >> 4) / 15, nibbles) : undefined;

  const ratio = (isLandscape ? long : short || 1) / (isLandscape ? short || 1 : long);
  const width = Math.max(1, Math.round(ratio > 1 ? sideMax : sideMax * ratio));
  const height = Math.max(1, Math.round(ratio > 1 ? sideMax / ratio : sideMax));
  return drawn(width, height, { light, yellow, red, alpha });
}

function decoded(text) {
  try {
    const binary = atob(text.trim().replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Returns nibbles, low ones first; past the end, a value without effect. */
function nibbleReader(bytes, start) {
  let place = start * 2;
  return () => {
    const byte = bytes[place >> 1];
    const nibble = byte === undefined ? 7.5 : (byte >> ((place & 1) * 4)) & 15;
    place += 1;
    return nibble;
  };
}

/** Returns the coefficients by column and row; only those above the diagonal are stored. */
function channel(columns, rows, mean, scale, nibbles) {
  const terms = [];
  for (let row = 0; row < rows; row += 1) {
    for (let column = row === 0 ? 1 : 0; column * rows < columns * (rows - row); column += 1) {
      terms.push({ column, row, factor: (nibbles() / 7.5 - 1) * scale });
    }
  }
  return { mean, terms };
}

function drawn(width, height, { light, yellow, red, alpha }) {
  const image = new ImageData(width, height);
  const across = cosines(width);
  const down = cosines(height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = ({ mean, terms }) => terms.reduce((sum, { column, row, factor }) =>
        // Doubled, because the forward transform halves the coefficients.
        sum + 2 * factor * across[column][x] * down[row][y], mean);
      const [l, p, q] = [at(light), at(yellow), at(red)];
      const blue = l - (2 / 3) * p;
      const warm = (3 * l - blue + q) / 2;
      const samples = [warm, warm - q, blue, alpha ? at(alpha) : 1];
      image.data.set(samples.map((sample) => sample * 255), (y * width + x) * 4);
    }
  }
  return image;
}

/** Returns the cosines of each frequency at each position. */
function cosines(size) {
  return Array.from({ length: frequencies }, (_, frequency) =>
    Float64Array.from({ length: size }, (_, place) =>
      Math.cos((Math.PI * frequency * (place + 0.5)) / size)));
}
