import { UsageError } from '../errors.ts';
import {
  type CompletenessState,
  completenessOf,
  csvPieces,
  describeCompleteness,
  formatTable,
  instantOf,
} from '../reports/index.ts';
import { openBooks, type SqlResult, toCellText, toJsonValue } from '../warehouse/index.ts';
import type { Command, CommandContext } from './command.ts';
import { optionReader } from './options.ts';

const formats = ['table', 'csv', 'json'] as const;

export const sqlCommand: Command = {
  name: 'sql',
  summary: 'Answer one SQL query from the published snapshot.',
  arguments: [
    { name: '<query>', summary: 'one SELECT over costs, costs_daily, costs_monthly, coverage, proofs, runs …' },
  ],
  options: [
    {
      flags: '--as-of <instant>',
      summary: 'what would have been answered then; the present books are in the catalog present',
    },
    { flags: '--format <format>', summary: `${formats.join(', ')}; a table by default` },
    { flags: '--raw', summary: 'in CSV, leave text that looks like a formula as it is' },
  ],
  examples: [
    `costbook sql "select workspace, sum(cost) as cost from costs_monthly group by workspace order by cost desc"`,
    `costbook sql --format csv "select * from costs_daily where usage_date >= '2026-10-01'"`,
    'costbook sql --json "select * from coverage"',
    'costbook sql --as-of 2026-10-05T12:00:00Z "select sum(cost) as cost from costs"',
  ],
  async run(input, context) {
    const options = optionReader(input, context.effects.now());
    const [format, second] = options.choices('format', formats) ?? [context.json ? 'json' : 'table'];
    if (second !== undefined) options.problem('--format: one format at a time');
    if (context.json && format !== 'json') options.problem('--json and --format contradict each other');
    const asOf = instantOf(options.asOf());
    const [query = ''] = input.arguments;
    if (query.trim() === '') options.problem('the query is empty; expected one SELECT');
    options.check();

    const books = await openBooks(context.dir, { lockedDown: true, asOf, signal: context.signal });
    try {
      const state = await completenessOf(books.connection, asOf);
      const result = await books.connection.query(query);
      if (format === 'json') await writeJson(context, result, state);
      else if (format === 'csv') {
        for await (const piece of csvPieces(result, { raw: options.flag('raw') })) await context.write(piece);
        context.tell(describeCompleteness(state));
      } else await writeTable(context, result, describeCompleteness(state));
      return 0;
    } finally {
      books.close();
    }
  },
};

async function writeJson(
  context: CommandContext,
  result: SqlResult,
  { asOf, completeThrough, settledThrough }: CompletenessState,
): Promise<void> {
  const { columns } = result;
  const repeated = columns.find((column, index) => columns.findIndex(({ name }) => name === column.name) !== index);
  if (repeated) throw new UsageError(`the query has two columns named "${repeated.name}": name them apart with "as"`);
  const head = { asOf, completeThrough, settledThrough, columns };
  // Written with the first rows: a query that fails at once must not leave half a JSON value on stdout.
  let lead = `${JSON.stringify(head).slice(0, -1)},"rows":[`;
  for await (const rows of result.pieces) {
    if (rows.length === 0) continue;
    const texts = rows.map((row) =>
      JSON.stringify(Object.fromEntries(columns.map(({ name }, index) => [name, toJsonValue(row[index] ?? null)]))),
    );
    await context.write(`${lead}\n${texts.join(',\n')}`);
    lead = ',';
  }
  await context.write(`${lead === ',' ? '\n' : lead}]}\n`);
}

/** Rows that a terminal table shows; whoever wants more wants a file. */
const maxTableRows = 1000;

async function writeTable(context: CommandContext, result: SqlResult, footer: string): Promise<void> {
  const shown: (string | undefined)[][] = [];
  let count = 0;
  for await (const rows of result.pieces) {
    for (const row of rows) {
      count += 1;
      if (shown.length < maxTableRows) shown.push(row.map(toCellText));
    }
  }
  const cut = count > shown.length ? `, the first ${shown.length} are shown: use --format csv for all` : '';
  await context.write(
    `${formatTable(result.columns, shown)}\n(${count} row${count === 1 ? '' : 's'}${cut}) ${footer}\n`,
  );
}
