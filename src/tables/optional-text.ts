/** A value as text; null for null and undefined. */
export function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** A value as text; undefined for null and undefined. */
export function textOrUndefined(value: unknown): string | undefined {
  return textOrNull(value) ?? undefined;
}
