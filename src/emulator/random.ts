// Randomness that depends only on its inputs: without state, the order of requests cannot change the story. Integer
// arithmetic only, because functions such as sine may differ in the last digit between engines.

/** 32 bits from three integers, distributed as evenly as murmur3's finaliser does. */
export function mix(a: number, b: number, c = 0): number {
  let h = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b ^ 0x7f4a7c15, 0xc2b2ae35) ^ Math.imul(c, 0x27d4eb2f);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  h = Math.imul((h ^ (h >>> 16)) + Math.imul(c, 0x165667b1), 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
  return (h ^ (h >>> 15)) >>> 0;
}

/** 32 bits from a text (FNV-1a, then mixed with the seed). */
export function hashText(seed: number, text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return mix(seed, h);
}

/** A number in [0, 1) from 32 bits. */
export function toUnit(bits: number): number {
  return bits / 0x1_0000_0000;
}

/** A text in the form of a random UUID, always the same for the same seed and text. */
export function uuidOf(seed: number, text: string): string {
  const hex = [0, 1, 2, 3].map((part) => hashText(mix(seed, part), text).toString(16).padStart(8, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}
