import { UsageError } from '../errors.ts';
import { completenessOf, describeCompleteness } from '../reports/index.ts';
import { formatTable, type TableLayout } from '../terminal/index.ts';
import { formatInstant, parseInstant } from '../time.ts';
import { type Connection, openBooks, readSql, type SqlRow } from '../warehouse/index.ts';
import type { Command } from './command.ts';

export const restatementsCommand: Command = {
  name: 'restatements',
  summary: 'Show what changed in the past after it had been loaded, by month and driver.',
  options: [{ flags: '--since <date>', summary: 'only what was seen at or after this; by default everything' }],
  examples: ['costbook restatements', 'costbook restatements --since -7d', 'costbook restatements --json'],
  async run(input, context) {
    const since = input.options['since'];
    const seenFrom = typeof since === 'string' ? parseInstant(since, '--since', context.effects.now()) : 0;
    if (seenFrom > context.effects.now()) {
      throw new UsageError(`--since: ${formatInstant(seenFrom)} is in the future: nothing has changed since then`);
    }
    const books = await openBooks(context.dir, { lockedDown: true, signal: context.signal });
    try {
      const { connection } = books;
      const state = await completenessOf(connection);
      const parameters = { seen_from: formatInstant(seenFrom) };
      const months = await readMonths(connection, parameters);
      if (context.json) {
        const buckets = await connection.rows(await readSql('restatements', 'hours'), parameters);
        await context.write(`${JSON.stringify({ completeThrough: state.completeThrough, months, buckets })}\n`);
      } else {
        await context.write(`${describe(months, context.layout)}${describeCompleteness(state)}\n`);
      }
      return 0;
    } finally {
      books.close();
    }
  },
};

/** A month of an account that was restated; amounts are decimal text in USD. */
interface RestatedMonth {
  readonly account: string;
  readonly month: string;
  readonly difference: string;
  /** The resources that moved most, largest first. */
  readonly drivers: readonly SqlRow[];
}

/** How many resources are named as the drivers of a month's change. */
const maxDrivers = 5;

async function readMonths(connection: Connection, parameters: { seen_from: string }): Promise<RestatedMonth[]> {
  const months = await connection.rows(await readSql('restatements', 'months'), parameters);
  const drivers = await connection.rows(await readSql('restatements', 'drivers'), {
    ...parameters,
    max_drivers: maxDrivers,
  });
  return months.map((row) => ({
    account: String(row['account']),
    month: String(row['month']),
    difference: String(row['difference']),
    drivers: drivers
      .filter((driver) => driver['account'] === row['account'] && driver['month'] === row['month'])
      .map(({ account: _account, month: _month, ...driver }) => driver),
  }));
}

function describe(months: readonly RestatedMonth[], layout: TableLayout): string {
  if (months.length === 0) return 'Nothing was restated.\n';
  const rows = months.flatMap((month) => [
    [month.account, month.month, month.difference, ''],
    ...month.drivers.map((driver) => [
      '',
      '',
      String(driver['difference']),
      ['workspace', 'resource_type', 'resource_name', 'billing_dimension']
        .map((name) => driver[name] ?? '(none)')
        .join(' · '),
    ]),
  ]);
  const columns = [
    { name: 'account', type: 'VARCHAR' },
    { name: 'month', type: 'VARCHAR' },
    { name: 'USD', type: 'DECIMAL(38,12)' },
    { name: 'driver', type: 'VARCHAR' },
  ];
  return `${formatTable(columns, rows, layout)}\n`;
}
