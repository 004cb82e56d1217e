import { ownerText } from '../reports/formats/index.ts';
import { named } from './layout.ts';

/** Names that a series has for all time. */
export const seriesDimensions = [
  'workspace',
  'resource_type',
  'resource_name',
  'resource_uuid',
  'billing_dimension',
  'account',
  'unit',
] as const;

/** Groups costs by workspace, type, name and billing dimension together, as JSON; no address asks for it. */
export const wholeSeries = 'series';

/**
 * What costs can be grouped and filtered by: a name of the series, `region`, `owner` (all parts of it), a part of the owner
 * such as `owner:team`, or a label such as `label:service`.
 */
export type Dimension = string;

/** What a dimension must be: one of these values, or none of them; '' stands for costs without one. */
export interface Choice {
  readonly values: readonly string[];
  readonly isExcept: boolean;
}

/** Conditions by dimension; costs must fulfil all. */
export type Filters = Readonly<Record<Dimension, Choice>>;

/** Filters that admit one or several values of each dimension. */
export function only(values: Readonly<Record<Dimension, string | readonly string[]>>): Filters {
  return Object.fromEntries(
    Object.entries(values).map(([name, of]) => [name, { values: [of].flat(), isExcept: false }]),
  );
}

/** Whether a filter admits a value. */
export function admits({ values, isExcept }: Choice, value: string): boolean {
  return values.includes(value) !== isExcept;
}

/** The one value that a filter admits; undefined if there may be others. */
export function oneValue(choice: Choice | undefined): string | undefined {
  return choice === undefined || choice.isExcept || choice.values.length > 1 ? undefined : choice.values[0];
}

/** Stands for costs that an allocation rule splits over owners. Nothing has this name: texts of the books are well-formed. */
export const sharedOwner = '\ud800shared';

const words: Readonly<Record<string, string>> = {
  workspace: 'Workspace',
  resource_type: 'Resource type',
  resource_name: 'Resource',
  resource_uuid: 'Resource UUID',
  billing_dimension: 'Billing dimension',
  account: 'Account',
  unit: 'Unit',
  region: 'Region',
  owner: 'Owner',
};

/** A dimension for people: `Workspace`, `Owner: team`, `Label: service`. */
export function dimensionWords(dimension: Dimension): string {
  const [kind, name] = partsOf(dimension);
  if (name === undefined) return words[dimension] ?? named(dimension, '');
  return `${kind === 'owner' ? 'Owner' : 'Label'}: ${named(name, 'no name')}`;
}

/** A value of a dimension for people; '' is none. */
export function valueWords(dimension: Dimension, value: string): string {
  if (value === sharedOwner) return 'shared costs';
  if (dimension === 'owner' && value !== '') return named(ownerText(value), 'no owner');
  return named(
    value,
    `no ${dimensionWords(dimension)
      .toLowerCase()
      .replace(/^(owner|label): /, '')}`,
  );
}

const shownValues = 3;

/** A choice for people: `north, south`, `all but north`, `north, south, east and 4 more`. */
export function choiceWords(dimension: Dimension, { values, isExcept }: Choice): string {
  const shown = values.length === shownValues + 1 ? values : values.slice(0, shownValues);
  const more = values.length - shown.length;
  const words = shown.map((value) => valueWords(dimension, value)).join(', ');
  return `${isExcept ? 'all but ' : ''}${words}${more === 0 ? '' : ` and ${more} more`}`;
}

/** Whether this text names a dimension. Every text after `label:` and `owner:` is a name. */
export function isDimension(text: string): text is Dimension {
  return Object.hasOwn(words, text) || /^(label|owner):[\s\S]+$/.test(text);
}

/** `label:service` as its kind and name; a dimension without a name has only a kind. */
export function partsOf(dimension: Dimension): readonly [kind: string, name: string | undefined] {
  const found = /^(label|owner):([\s\S]+)$/.exec(dimension);
  return found === null ? [dimension, undefined] : [found[1] ?? '', found[2]];
}

/** Whether a dimension changes over time for one series. */
export function isOverTime(dimension: Dimension): boolean {
  return ![...seriesDimensions, wholeSeries].includes(dimension);
}

/** A name as a JSON pointer (RFC 6901). */
export function pointerTo(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** A value in an address: `~` is none, `~shared` shared costs; a name that starts with `~` gets another one. */
export function encodeValue(value: string): string {
  if (value === '') return '~';
  if (value === sharedOwner) return '~shared';
  return value.startsWith('~') ? `~${value}` : value;
}

/** Reads what `encodeValue` wrote. */
export function decodeValue(text: string): string {
  if (text === '~') return '';
  if (text === '~shared') return sharedOwner;
  return text.startsWith('~~') ? text.slice(1) : text;
}

/** Filters as parameters of an address: each value, and `except` for each dimension that must have none of its values. */
export function encodeFilters(filters: Filters): [name: string, value: string][] {
  return Object.entries(filters).flatMap(([name, { values, isExcept }]) => [
    ...values.map((value): [string, string] => [name, encodeValue(value)]),
    ...(isExcept ? [['except', name] as [string, string]] : []),
  ]);
}
