import { z } from 'zod';

/** A shape as JSON Schema (2020-12). */
export function schemaOf(type: z.ZodType): unknown {
  return z.toJSONSchema(type, { unrepresentable: 'any' });
}
