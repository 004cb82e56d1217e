import type { Operation, Parameter, ParameterType } from '../platform/interface/index.ts';
import { formatInstant, type Instant, parseRfc3339 } from '../time/time.ts';
import { Refusal } from './refusal.ts';

/** A parsed parameter: an instant or integer as a number, a list in the operation's own order. */
export type ParameterValue = string | number | boolean | readonly string[];

/** The query parameters of a request, parsed and checked. */
export type Parameters = ReadonlyMap<string, ParameterValue>;

/**
 * Parses a request's query by the operation's own rules. Refuses with 400, naming everything that is wrong: missing,
 * invalid, repeated, empty or unknown parameters. The document does not define the last three; they are refused because
 * here they can only be bugs.
 */
export function readParameters(operation: Operation, query: URLSearchParams, version: string): Parameters {
  const problems: string[] = [];
  const values = new Map<string, ParameterValue>();
  const known = operation.parameters.filter((parameter) => parameter.in === 'query');
  for (const parameter of known) {
    // Not honoured by versions without pages (4.1), so not checked either.
    if (isNotHonoured(operation, parameter, version)) continue;
    const texts = query.getAll(parameter.name);
    const text = texts[0];
    if (text === undefined) {
      if (parameter.required) problems.push(`${parameter.name} is required`);
      else if (parameter.type.kind === 'integer') values.set(parameter.name, parameter.type.default);
    } else if (texts.length > 1) {
      problems.push(`${parameter.name} is given ${texts.length} times`);
    } else if (text === '' && parameter.type.kind !== 'text') {
      problems.push(`${parameter.name} is empty`);
    } else {
      const value = readValue(parameter, parameter.type, text, problems);
      if (value !== undefined) values.set(parameter.name, value);
      if (parameter.type.kind === 'instant' && finerThanMs.test(text))
        values.set(textName(parameter.name), text.toUpperCase().replace('+00:00', 'Z'));
    }
  }
  for (const name of new Set(query.keys())) {
    if (!known.some((parameter) => parameter.name === name))
      problems.push(`${name} is not a parameter of this operation`);
  }
  const start = values.get('startTime');
  const end = values.get('endTime');
  if (typeof start === 'number' && typeof end === 'number' && end <= start) {
    problems.push(`endTime ${formatInstant(end)} is not after startTime ${formatInstant(start)}`);
  }
  if (problems.length > 0) throw new Refusal(400, 'invalid_parameter', problems.join('; '));
  return values;
}

function isNotHonoured({ paging, pagedSince }: Operation, { name }: Parameter, version: string): boolean {
  const isEarlier = paging === 'items' && pagedSince !== undefined && version < pagedSince;
  return isEarlier && (name === 'sort' || name === 'q');
}

/** An instant with more digits than a millisecond has, as it was sent; undefined if milliseconds say it all. */
export function instantText(parameters: Parameters, name: string): string | undefined {
  const value = parameters.get(textName(name));
  return typeof value === 'string' ? value : undefined;
}

/** The name of an instant's own text among the parsed parameters. */
function textName(name: string): string {
  return `${name} as sent`;
}

/** A parsed instant or integer. Throws if the operation has no such parameter: that is a bug of ours. */
export function numberOf(parameters: Parameters, name: string): number {
  const value = parameters.get(name);
  if (typeof value !== 'number') throw new TypeError(`${name} was not read as a number`);
  return value;
}

function readValue(
  parameter: Parameter,
  type: ParameterType,
  text: string,
  problems: string[],
): ParameterValue | undefined {
  switch (type.kind) {
    case 'string':
    case 'path':
      return text;
    case 'instant': {
      const instant = readInstant(text);
      if (instant === undefined) problems.push(`${parameter.name} "${text}" is not an RFC 3339 instant in UTC`);
      return instant;
    }
    case 'integer': {
      const integer = /^\d+$/.test(text) ? Number(text) : undefined;
      if (integer === undefined || integer < type.min) {
        problems.push(`${parameter.name} "${text}" is not an integer of ${type.min} or more`);
        return undefined;
      }
      return Math.min(integer, type.max);
    }
    case 'choice':
      if (type.choices.includes(text)) return text;
      problems.push(`${parameter.name} "${text}" is none of ${type.choices.join(', ')}`);
      return undefined;
    case 'text':
      if ([...text].length > type.maxLength) {
        problems.push(`${parameter.name} has ${[...text].length} characters, at most ${type.maxLength} are allowed`);
      } else if (type.pattern?.test(text) === false) {
        problems.push(`${parameter.name} "${text}" does not match ${type.pattern.source}`);
      }
      return text;
    case 'boolean':
      if (text !== 'true' && text !== 'false') problems.push(`${parameter.name} "${text}" is neither true nor false`);
      return text === 'true';
    case 'set':
      return readSet(parameter.name, type.choices, text, problems);
    case 'choices':
      return readChoices(parameter.name, type.choices, type.max, text.split(','), problems);
  }
}

/** An instant between two milliseconds. */
const finerThanMs = /\.\d{3}\d*[1-9]/;

/**
 * UTC only: `Z` or `+00:00`. RFC 3339 gives `-00:00` another meaning (the local offset is unknown). What is between two
 * milliseconds counts as the later one: costs are on whole hours, so no query tells the two apart.
 */
function readInstant(text: string): Instant | undefined {
  const instant = /T.*(Z|\+00:00)$/i.test(text) ? parseRfc3339(text) : undefined;
  return instant !== undefined && finerThanMs.test(text) ? instant + 1 : instant;
}

/** Any case, any order; duplicates count once. */
function readSet(name: string, choices: readonly string[], text: string, problems: string[]): readonly string[] {
  const given = text.split(',').map((choice) => choice.toUpperCase());
  for (const choice of given) {
    if (!choices.includes(choice)) problems.push(`${name} "${choice}" is none of ${choices.join(', ')}`);
  }
  return choices.filter((choice) => given.includes(choice));
}

function readChoices(
  name: string,
  choices: readonly string[],
  max: number,
  given: readonly string[],
  problems: string[],
): readonly string[] {
  const invalid = given.filter((choice) => !choices.includes(choice));
  const duplicate = new Set(given.filter((choice, i) => given.indexOf(choice) !== i));
  if (given.length > max) problems.push(`${name} has ${given.length} dimensions, at most ${max} are allowed`);
  for (const choice of invalid) problems.push(`${name} "${choice}" is none of ${choices.join(', ')}`);
  for (const choice of duplicate) problems.push(`${name} has ${choice} twice`);
  // Order does not matter, so it is normalised here.
  return choices.filter((choice) => given.includes(choice));
}
