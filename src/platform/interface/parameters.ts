/** How a parameter's text is parsed. */
export type ParameterType =
  | { readonly kind: 'string' }
  /** A path with slashes, without empty steps, `.` and `..`. */
  | { readonly kind: 'path' }
  /** A search text: empty means no filter, `pattern` applies to the whole text. */
  | { readonly kind: 'text'; readonly maxLength: number; readonly pattern?: RegExp }
  /** `true` or `false`. */
  | { readonly kind: 'boolean' }
  /** RFC 3339 in UTC. */
  | { readonly kind: 'instant' }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number; readonly default: number }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /** Comma-separated, without duplicates, in any order. */
  | { readonly kind: 'choices'; readonly choices: readonly string[]; readonly max: number }
  /** Comma-separated in any order and case; duplicates count once. */
  | { readonly kind: 'set'; readonly choices: readonly string[] };

/** One parameter of an operation with its rule. */
export interface Parameter {
  readonly name: string;
  /** `host`: a part of the sandbox's own host name. */
  readonly in: 'path' | 'query' | 'header' | 'host';
  readonly required: boolean;
  readonly type: ParameterType;
  readonly rule: string;
}

/** A value that the document lists, or one that a later platform knows. */
type OneOf<Choice extends string> = Choice | (string & {});

/** The TypeScript value of a parameter. */
type ValueOf<Type extends ParameterType> = Type extends { kind: 'boolean' }
  ? boolean
  : Type extends { kind: 'integer' }
    ? number
    : Type extends { kind: 'choice'; choices: readonly (infer Choice extends string)[] }
      ? OneOf<Choice>
      : Type extends { kind: 'choices' | 'set'; choices: readonly (infer Choice extends string)[] }
        ? OneOf<Choice> | readonly OneOf<Choice>[]
        : string;

type Named<All extends readonly Parameter[], IsRequired extends boolean> = Extract<
  All[number],
  { readonly required: IsRequired }
>;

/** The values of an operation's parameters by name: the required ones, and any of the others. */
export type ValuesOf<All extends readonly Parameter[]> = {
  readonly [One in Named<All, true> as One['name']]: ValueOf<One['type']>;
} & {
  readonly [One in Named<All, false> as One['name']]?: ValueOf<One['type']> | undefined;
};

/** A value as text in a request: lists with commas. Pure. */
export function parameterText(value: string | number | boolean | readonly string[]): string {
  return Array.isArray(value) ? value.join(',') : String(value);
}

/** What a check of a value found. */
export interface ParameterCheck {
  /** What is wrong, as `found …, expected …`; undefined if nothing is. */
  readonly fault?: string;
  /** Values that the document does not list; a platform may know more. */
  readonly unknown?: readonly string[];
}

/**
 * Checks a value's text by the parameter's rule. Values that the document does not list are no fault: the platform
 * decides. Pure.
 */
export function checkParameter({ type }: Parameter, text: string): ParameterCheck {
  switch (type.kind) {
    case 'boolean':
      return text === 'true' || text === 'false' ? {} : fault(text, 'true or false');
    case 'integer':
      // Larger values are clamped by the platform.
      return /^\d{1,15}$/.test(text) && Number(text) >= type.min
        ? {}
        : fault(text, `a whole number from ${type.min} to ${type.max}`);
    case 'instant':
      return /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)$/i.test(text) && !Number.isNaN(Date.parse(text))
        ? {}
        : fault(text, 'an instant in UTC such as 2026-10-01T00:00:00Z');
    case 'text':
      if (text.length > type.maxLength) return fault(text, `at most ${type.maxLength} characters`);
      return type.pattern?.test(text) === false ? fault(text, `a text that matches ${type.pattern.source}`) : {};
    case 'path':
      return text.split('/').some((step) => step === '.' || step === '..')
        ? fault(text, 'a path without . and ..')
        : {};
    case 'choice':
      return unlisted([text], type.choices);
    case 'choices':
      return checkChoices(text.split(','), type);
    case 'set':
      return unlisted(
        text.split(',').map((one) => one.toUpperCase()),
        type.choices,
      );
    case 'string':
      return text === '' ? fault(text, 'a text that is not empty') : {};
  }
}

function checkChoices(given: readonly string[], { choices, max }: ParameterType & { kind: 'choices' }): ParameterCheck {
  const twice = given.find((one, index) => given.indexOf(one) !== index);
  if (twice !== undefined) return fault(given.join(','), `each value once, and ${twice} is there twice`);
  if (given.length > max) return fault(given.join(','), `at most ${max} values`);
  return unlisted(given, choices);
}

function unlisted(given: readonly string[], choices: readonly string[]): ParameterCheck {
  const unknown = given.filter((one) => !choices.includes(one));
  if (given.includes('')) return fault(given.join(','), `one of ${choices.join(', ')}`);
  return unknown.length === 0 ? {} : { unknown };
}

function fault(text: string, expected: string): ParameterCheck {
  return { fault: `found ${JSON.stringify(text.slice(0, 100))}, expected ${expected}` };
}
