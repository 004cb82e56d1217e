import * as z from 'zod/mini';

/** `data[0].cost: expected number`: the first place where a value differs from its shape. Pure. */
export function firstDifference({ issues: [first] }: z.core.$ZodError, whole: string): string {
  // One is enough to act on, and a body can have millions.
  const issue = first && innermost(first);
  const place = (issue?.path ?? []).map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  return `${place.join('').replace(/^\./, '') || whole}: ${issue?.message ?? 'another shape'}`;
}

/** Of a value that fits none of several shapes, what differs from the shape that it resembles most: the deepest difference. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  const tried = issue.errors.flatMap(([first]) => (first === undefined ? [] : [innermost(first)]));
  const [deepest] = tried.toSorted((a, b) => b.path.length - a.path.length);
  if (deepest === undefined || deepest.path.length === 0) return issue;
  return { ...deepest, path: [...issue.path, ...deepest.path] };
}

/** A shape as JSON Schema (2020-12). Further fields are allowed, which JSON Schema means if it says nothing of them. */
export function schemaOf(type: z.ZodMiniType): unknown {
  return z.toJSONSchema(type, {
    unrepresentable: 'any',
    override({ jsonSchema }) {
      if (Object.keys(jsonSchema.properties ?? {}).length > 0) delete jsonSchema.additionalProperties;
    },
  });
}
