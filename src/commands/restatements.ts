import { UsageError } from '../base/errors.ts';
import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import { completenessOf, describeCompleteness } from '../reports/formats/index.ts';
import { formatTable, type TableLayout } from '../terminal/index.ts';
import { formatInstant } from '../time/time.ts';
import { withBooks } from '../warehouse/integrity/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection, SqlRow } from '../warehouse/store/index.ts';
import type { Command } from './command.ts';

export const restatementsCommand: Command = {
  name: 'restatements',
  summary: 'Show past costs that changed after they were loaded, by month and driver.',
  examples: ['costbook restatements', 'costbook restatements --since -7d', 'costbook restatements --json'],
  async run(input, context) {
    const { since: seenFrom = 0 } = read(options.restatements, input, context);
    if (seenFrom > context.effects.now()) {
      throw new UsageError(`--since: ${formatInstant(seenFrom)} is in the future; expected a date before now`);
    }
    return withBooks(context.dir, { lockedDown: true, signal: context.signal }, async ({ connection }) => {
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
    });
  },
};

/** A restated month of an account; amounts are decimal text in USD. */
interface RestatedMonth {
  readonly account: string;
  readonly month: string;
  readonly difference: string;
  /** The resources that changed most, largest first. */
  readonly drivers: readonly SqlRow[];
  /** How many other series changed, and by how much together. */
  readonly others: { readonly series: number; readonly difference: string };
}

/** How many drivers of a month's change are shown. */
const maxDrivers = 5;

async function readMonths(connection: Connection, parameters: { seen_from: string }): Promise<RestatedMonth[]> {
  const months = await connection.rows(await readSql('restatements', 'months'), parameters);
  const drivers = await connection.rows(await readSql('restatements', 'drivers'), {
    ...parameters,
    max_drivers: maxDrivers,
  });
  return months.map((row) => {
    const own = drivers.filter((driver) => driver['account'] === row['account'] && driver['month'] === row['month']);
    const rest = own.find(({ others }) => Number(others) > 0);
    return {
      account: String(row['account']),
      month: String(row['month']),
      difference: String(row['difference']),
      drivers: own
        .filter((driver) => driver !== rest)
        .map(({ account: _account, month: _month, others: _others, ...driver }) => driver),
      others: { series: Number(rest?.['others'] ?? 0), difference: String(rest?.['difference'] ?? '0.000000000000') },
    };
  });
}

function describe(months: readonly RestatedMonth[], layout: TableLayout): string {
  if (months.length === 0) return 'No restatements.\n';
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
    ...(month.others.series === 0
      ? []
      : [
          [
            '',
            '',
            month.others.difference,
            `${month.others.series} others: "costbook restatements --json" has each hour`,
          ],
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
