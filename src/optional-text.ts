/** A value as text; null where it is null or undefined. */
export function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** A value as text; undefined where it is null or undefined. */
export function textOrUndefined(value: unknown): string | undefined {
  return textOrNull(value) ?? undefined;
}
