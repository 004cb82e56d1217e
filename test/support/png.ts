import { inflateSync } from 'node:zlib';

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** `#rrggbb` of a pixel. */
  colorAt(x: number, y: number): string;
}

const signature = '89504e470d0a1a0a';

/** Width and height in the header of a PNG. */
export function pngSize(png: Uint8Array): { readonly width: number; readonly height: number } {
  const bytes = Buffer.from(png);
  if (bytes.subarray(0, 8).toString('hex') !== signature) throw new Error('this is no PNG');
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Decodes a PNG with 8 bits per channel, red, green, blue and alpha, not interlaced. */
export function decodePng(png: Uint8Array): Pixels {
  const { width, height } = pngSize(png);
  const bytes = Buffer.from(png);
  if (bytes.subarray(24, 29).toString('hex') !== '0806000000') throw new Error('expected RGBA with 8 bits');
  const parts: Buffer[] = [];
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    if (bytes.subarray(at + 4, at + 8).toString() === 'IDAT') parts.push(bytes.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * 4;
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const left = x < 4 ? 0 : (pixels[y * stride + x - 4] ?? 0);
      const up = y === 0 ? 0 : (pixels[(y - 1) * stride + x] ?? 0);
      const corner = x < 4 || y === 0 ? 0 : (pixels[(y - 1) * stride + x - 4] ?? 0);
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
      pixels[y * stride + x] = ((raw[y * (stride + 1) + 1 + x] ?? 0) + predicted) & 255;
    }
  }
  return {
    width,
    height,
    colorAt: (x, y) => `#${pixels.subarray(y * stride + x * 4, y * stride + x * 4 + 3).toString('hex')}`,
  };
}

function paeth(left: number, up: number, corner: number): number {
  const estimate = left + up - corner;
  const [a, b, c] = [left, up, corner].map((value) => Math.abs(estimate - value)) as [number, number, number];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
