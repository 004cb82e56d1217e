const gib = 1024 ** 3;

/** A size for people: `205 MB`, `1.4 GB`. Pure. */
export function bytesWords(bytes: number): string {
  return bytes < gib ? `${Math.ceil(bytes / 1024 ** 2)} MB` : `${(bytes / gib).toFixed(1)} GB`;
}
