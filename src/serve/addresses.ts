import { createHash } from 'node:crypto';

/** Longer names stand in an address as their hash: browsers and servers limit its length. */
const maxPartLength = 1500;

/** A name in an address, or the MD5 of one that is too long for it. */
export type AddressPart = { readonly name: string | null } | { readonly md5: string };

/**
 * A name as one part of a path. `-` is no name. `~` stands before names that a browser would treat as a relative path,
 * or that start with one of these signs; `~~` before the MD5 of a long name.
 */
export function encodePart(name: string | null | undefined): string {
  if (name === null || name === undefined || name === '') return '-';
  const encoded = encodeURIComponent(name.toWellFormed());
  if (encoded.length > maxPartLength) return `~~${createHash('md5').update(name).digest('hex')}`;
  return /^[-.~]/.test(name) ? `~${encoded}` : encoded;
}

/** Reads a part of a path that `encodePart` wrote; undefined if it is none. */
export function decodePart(part: string): AddressPart | undefined {
  if (part === '-') return { name: null };
  if (/^~~[0-9a-f]{32}$/.test(part)) return { md5: part.slice(2) };
  try {
    return { name: decodeURIComponent(part.startsWith('~') ? part.slice(1) : part) };
  } catch {
    return undefined;
  }
}

/** The page of a resource. */
export function resourceAddress(
  type: string | null | undefined,
  workspace: string | null | undefined,
  name: string | null | undefined,
): string {
  return `/resource/${encodePart(type)}/${encodePart(workspace)}/${encodePart(name)}`;
}

export function budgetAddress(name: string): string {
  return `/budgets/${encodePart(name)}`;
}

export function anomalyAddress(key: string): string {
  return `/anomalies/${encodePart(key)}`;
}
