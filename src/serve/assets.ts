import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { shipped } from '../base/places.ts';

/** The addresses of the files that pages load; each contains the hash of its content. */
export interface AssetUrls {
  readonly style: string;
  readonly script: string;
  /** Completion and history on the page of SQL. */
  readonly sql: string;
  readonly charts: string;
  readonly icon: string;
}

export interface Asset {
  readonly type: string;
  /** Its bytes in an encoding; each is made once, when it is first asked for. */
  bytes(encoding: Encoding): Promise<Bytes>;
}

/** Bytes that are sent as they are. */
export type Bytes = Uint8Array<ArrayBuffer>;

export type Encoding = 'br' | 'gzip' | 'identity';

/** Half a second for the largest file; more saves little. */
const brotliQuality = 6;

const folder = shipped('web');

const files = {
  style: { path: `${folder}/costbook.css`, type: 'text/css; charset=utf-8', ending: 'css' },
  script: { path: `${folder}/costbook.js`, type: 'text/javascript; charset=utf-8', ending: 'js' },
  sql: { path: `${folder}/sql.js`, type: 'text/javascript; charset=utf-8', ending: 'js' },
  charts: { path: shipped('dist/echarts.common.min.js'), type: 'text/javascript; charset=utf-8', ending: 'js' },
  icon: { path: `${folder}/icon.svg`, type: 'image/svg+xml', ending: 'svg' },
} as const;

/** Reads the files once. */
export async function loadAssets(): Promise<{ urls: AssetUrls; byPath: ReadonlyMap<string, Asset> }> {
  const byPath = new Map<string, Asset>();
  const named = await Promise.all(
    Object.entries(files).map(async ([name, { path, type, ending }]) => {
      const plain = await readFile(path);
      const hash = createHash('sha256').update(plain).digest('hex').slice(0, 16);
      const url = `/assets/${name}.${hash}.${ending}`;
      byPath.set(url, { type, bytes: encoder(plain) });
      return [name, url] as const;
    }),
  );
  return { urls: Object.fromEntries(named) as unknown as AssetUrls, byPath };
}

function encoder(plain: Buffer): Asset['bytes'] {
  const made = new Map<Encoding, Promise<Bytes>>([['identity', Promise.resolve(new Uint8Array(plain))]]);
  return (encoding) => {
    const known = made.get(encoding);
    if (known !== undefined) return known;
    const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality };
    const packed = encoding === 'br' ? promisify(brotliCompress)(plain, { params }) : promisify(gzip)(plain);
    const bytes = packed.then((found) => new Uint8Array(found));
    made.set(encoding, bytes);
    return bytes;
  };
}
