import { createHash } from 'node:crypto';

/** Longer names stand in an address as their hash: browsers and servers limit its length. */
const maxPartLength = 1500;

/** A name in an address, the MD5 of one that is too long for it, or any name. */
export type AddressPart =
  | { readonly kind: 'name'; readonly name: string | null }
  | { readonly kind: 'md5'; readonly md5: string }
  | { readonly kind: 'any' };

/** Stands for any name. */
export const anyName = Symbol('any name');

/**
 * A name as one part of a path. `-` is no name. `~` stands before names that a browser would treat as a relative path,
 * or that start with one of these signs; `~~` before the MD5 of a long name; `*` is any name.
 */
export function encodePart(name: string | null | undefined): string {
  if (name === null || name === undefined || name === '') return '-';
  const encoded = encodeURIComponent(name.toWellFormed());
  if (encoded.length > maxPartLength) return `~~${createHash('md5').update(name).digest('hex')}`;
  return /^[-.~*]/.test(name) ? `~${encoded}` : encoded;
}

/** Reads a part of a path that `encodePart` wrote; undefined if it is none. */
export function decodePart(part: string): AddressPart | undefined {
  if (part === '-') return { kind: 'name', name: null };
  if (part === '*') return { kind: 'any' };
  if (/^~~[0-9a-f]{32}$/.test(part)) return { kind: 'md5', md5: part.slice(2) };
  try {
    return { kind: 'name', name: decodeURIComponent(part.startsWith('~') ? part.slice(1) : part) };
  } catch {
    return undefined;
  }
}

/** The page of a resource; where its type or workspace is not known, that of any resource with its name. */
export function resourceAddress(
  type: string | null | undefined | typeof anyName,
  workspace: string | null | undefined | typeof anyName,
  name: string | null | undefined,
): string {
  const part = (each: typeof type) => (each === anyName ? '*' : encodePart(each));
  return `/resource/${part(type)}/${part(workspace)}/${encodePart(name)}`;
}

export function budgetAddress(name: string): string {
  return `/budgets/${encodePart(name)}`;
}

export function anomalyAddress(key: string): string {
  return `/anomalies/${encodePart(key)}`;
}
