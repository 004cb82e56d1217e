import { formatInstant, type Instant } from '../time/time.ts';
import { literal, shownSql } from './books/index.ts';
import {
  type Choice,
  type Dimension,
  type Filters,
  isOverTime,
  partsOf,
  pointerTo,
  sharedOwner,
} from './dimensions.ts';

/** What the SQL depends on. */
interface Shown {
  readonly from: Instant;
  readonly to: Instant;
  readonly step: string;
  readonly groupBy: Dimension;
  readonly filters: Filters;
}

/**
 * The SQL of a question for reading and copying: "costbook sql" returns the same sums with it. The program itself binds its
 * values.
 */
export function shownExplore({ from, to, step, groupBy, filters }: Shown): Promise<string> {
  const asked = [groupBy, ...Object.keys(filters)];
  const hasOwner = asked.some((dimension) => partsOf(dimension)[0] === 'owner');
  const hasState = asked.some((dimension) => isOverTime(dimension) && partsOf(dimension)[0] !== 'owner');
  const conditions = Object.entries(filters).map(([dimension, choice]) => condition(dimension, choice));
  return shownSql('shown_explore', {
    ...{ from: formatInstant(from), to: formatInstant(to), step },
    group_by: { column: grouped(groupBy) },
    source: { column: sourceOf(hasOwner, hasState) },
    conditions: conditions.length === 0 ? null : { column: conditions.join('\n  and ') },
  });
}

function sourceOf(hasOwner: boolean, hasState: boolean): string {
  if (!hasOwner) return hasState ? 'costs_with_resources' : 'costs';
  if (!hasState) return 'costs_allocated';
  return 'costs_allocated\njoin (select series_id, bucket_start, labels, region from costs_with_resources) using (series_id, bucket_start)';
}

function grouped(dimension: Dimension): string {
  const [kind, name] = partsOf(dimension);
  const column = columnOf(dimension);
  if (kind === 'owner') return `case when is_shared then 'shared costs' else ${column} end as owner`;
  return name === undefined ? column : `${column} as ${quotedName(name)}`;
}

function condition(dimension: Dimension, { values, isExcept }: Choice): string {
  const column = columnOf(dimension);
  const admits = (value: string) => values.includes(value) !== isExcept;
  const texts = values.filter((value) => value !== sharedOwner).map(literal);
  const listed = `${column} ${isExcept ? 'not ' : ''}in (${texts.join(', ')})`;
  const test = texts.length > 0 && admits('') ? `(${column} is null or ${listed})` : listed;
  if (partsOf(dimension)[0] !== 'owner') return test;
  // The costs that a rule splits have the owners to whom it gives their shares.
  if (texts.length === 0) return admits(sharedOwner) ? 'is_shared' : 'not is_shared';
  return admits(sharedOwner) ? `(is_shared or ${test})` : `not is_shared and ${test}`;
}

function columnOf(dimension: Dimension): string {
  const [kind, name] = partsOf(dimension);
  if (name === undefined) return dimension;
  return `(${kind === 'label' ? 'labels' : 'owner'} ->> ${literal(pointerTo(name))})`;
}

function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
