import * as z from 'zod/mini';

/** `data[0].cost: expected number`: the first place where a value differs from its shape. Pure. */
export function firstDifference({ issues: [issue] }: z.core.$ZodError, whole: string): string {
  // One is enough to act on, and a body can have millions.
  const place = (issue?.path ?? []).map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  return `${place.join('').replace(/^\./, '') || whole}: ${issue?.message ?? 'another shape'}`;
}

/** A shape as JSON Schema (2020-12). */
export function schemaOf(type: z.ZodMiniType): unknown {
  return z.toJSONSchema(type, { unrepresentable: 'any' });
}
