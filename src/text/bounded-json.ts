/** Limits for a JSON text. */
export interface JsonLimits {
  readonly maxDepth: number;
  /** Objects, arrays, members and elements in total. */
  readonly maxValues: number;
  /** Members of one object. */
  readonly maxMembers: number;
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The limit that a JSON text in UTF-8 exceeds; undefined if none. Does not check whether the text is JSON: its parser
 * does. Parsing can take sixty bytes of memory per byte of text if that is all brackets, so check first: one pass over
 * the bytes, about two milliseconds per MiB.
 */
export function jsonExcess(bytes: Uint8Array, limits: JsonLimits): string | undefined {
  const { maxDepth, maxValues, maxMembers } = limits;
  const isObject = new Uint8Array(maxDepth + 1); // what is open at each depth
  const members = new Int32Array(maxDepth + 1);
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      at += 1;
      while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
    } else if (byte === comma) {
      values += 1;
      const ended = (members[depth] ?? 0) + (isObject[depth] ?? 0);
      members[depth] = ended;
      if (ended >= maxMembers) return `JSON with an object of more than ${maxMembers} members`;
    } else if (byte === openBracket || byte === openBrace) {
      depth += 1;
      values += 1;
      if (depth > maxDepth) return `JSON nested deeper than ${maxDepth}`;
      isObject[depth] = byte === openBrace ? 1 : 0;
      members[depth] = 0;
    } else if (byte === closeBracket || byte === closeBrace) {
      depth -= 1;
    }
    if (values > maxValues) return `JSON with more than ${maxValues} values`;
  }
  return undefined;
}
