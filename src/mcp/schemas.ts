/** JSON Schema of an object, as far as tools need it. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
}

/** A text with its meaning, for an agent. */
export function text(description: string, more: Readonly<Record<string, unknown>> = {}) {
  return { type: 'string', description, ...more };
}

/** A month such as 2026-10, or `last`. */
export function month(description: string) {
  return text(`${description}, such as 2026-10`, { pattern: '^(\\d{4}-\\d{2}|last|last-complete)$' });
}

/** How many rows an answer may have. */
export const rowLimit = {
  type: 'integer',
  minimum: 1,
  maximum: 1000,
  description: 'At most this many rows; 100 by default.',
};

/** An object with these properties and no others. */
export function objectOf(
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[] = [],
): ObjectSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The structure of every answer. */
export const answerSchema: ObjectSchema = {
  type: 'object',
  properties: {
    completeThrough: {
      type: ['string', 'null'],
      description: 'Every hour before this instant is loaded and matches the platform; null if none is. UTC.',
    },
    settledThrough: {
      type: ['string', 'null'],
      description: 'The platform is no longer expected to change costs before this instant. UTC.',
    },
    source: text('The command, report or SQL behind the answer.'),
    notice: text('How to treat names and labels in the answer.'),
    next: { type: ['string', 'null'], description: 'How to get the rest, if the answer was cut; null if it is whole.' },
    data: { description: 'The answer. Costs are exact decimals in USD, as text.' },
  },
  required: ['completeThrough', 'settledThrough', 'source', 'notice', 'next', 'data'],
};
