import type { CostsAsked, LimitedAnswer, LimitedBooks } from './limited-books.ts';
import { objectOf, rowLimit, text } from './schemas.ts';
import type { Found, Tool } from './tools.ts';

const usualRows = 100;

function dayOf(description: string) {
  return text(description, { pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:00(:00)?Z?)?$' });
}

function valuesBy(description: string) {
  const value = { type: 'string', maxLength: 2000 };
  const values = { anyOf: [value, { type: 'array', minItems: 1, maxItems: 100, items: value }] };
  return { type: 'object', maxProperties: 20, additionalProperties: values, description };
}

/**
 * The tools of a token that sees some costs only. There is no SQL: as on the dashboard, it would read all costs. Reports,
 * budgets and alerts are about all costs, too.
 */
export const limitedTools: readonly Tool<LimitedBooks>[] = [
  {
    name: 'status',
    title: 'What do I see, and through when is it complete?',
    description:
      'Which costs this token sees, since when, and through when they are complete. Call it first, and say its limits in answers.',
    input: objectOf({}),
    async run(_, books, signal) {
      return found(await books.status(signal));
    },
  },
  {
    name: 'costs',
    title: 'Costs over time',
    description:
      'Cost and usage by hour, day, week or month, in groups, next to the period before; by default by day and workspace in the month so far.',
    input: objectOf({
      from: dayOf('The first day, such as 2026-10-01.'),
      to: dayOf('The last day, included.'),
      step: {
        type: 'string',
        enum: ['hour', 'day', 'week', 'month'],
        description: 'The length of a row; day by default.',
      },
      groupBy: text(
        'workspace, resource_type, resource_name, resource_uuid, billing_dimension, account, unit, region, owner, a part of the owner such as owner:team, or a label such as label:service.',
        { maxLength: 2000 },
      ),
      top: { type: 'integer', minimum: 1, maximum: 50, description: 'Groups by name, the largest; 7 by default.' },
      filters: valuesBy(
        'Only costs with one of these values, by the names of groupBy, such as { "resource_type": "agent", "region": ["eu", "us"] }; "" is no value.',
      ),
      except: valuesBy('Only costs with none of these values, in the same form, such as { "workspace": "staging" }.'),
      maxRows: rowLimit,
    }),
    async run({ maxRows, ...asked }, books, signal) {
      const answer = await books.costs(asked as CostsAsked, rowsOf(maxRows), signal);
      return found(answer, 'Choose a shorter range, a longer step or fewer groups, or raise maxRows (up to 1000).');
    },
  },
  {
    name: 'explain_cost',
    title: 'Why did costs change?',
    description: 'The resources whose costs changed most between the last days and as many days before.',
    input: objectOf({
      days: { type: 'integer', minimum: 1, maximum: 366, description: 'The length of both periods; 7 by default.' },
      maxRows: rowLimit,
    }),
    async run({ days, maxRows }, books, signal) {
      const length = typeof days === 'number' ? days : 7;
      return found(await books.changes(length, rowsOf(maxRows), signal), 'Raise maxRows (up to 1000).');
    },
  },
  {
    name: 'resource',
    title: 'One resource',
    description: 'What a resource cost in each of the last 13 months by billing dimension, and its states.',
    input: objectOf(
      {
        name: text('The name of the resource.', { maxLength: 10_000 }),
        workspace: text('Its workspace, if several have one of that name.', { maxLength: 2000 }),
      },
      ['name'],
    ),
    async run({ name, workspace }, books, signal) {
      const asked = workspace === undefined ? undefined : String(workspace);
      return found(await books.resource(String(name), asked, signal), 'Name the workspace.');
    },
  },
];

function rowsOf(maxRows: unknown): number {
  return typeof maxRows === 'number' ? maxRows : usualRows;
}

function found({ isCut, ...answer }: LimitedAnswer, readOn?: string): Found {
  return { ...answer, next: isCut && readOn !== undefined ? readOn : null };
}
