import { UsageError } from '../base/errors.ts';
import { month, type ObjectSchema, objectOf, rowLimit, text } from './schemas.ts';

/** Rows as JSON, with the state of the books. Decimals are text. */
export interface RowsAnswer {
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  readonly columns?: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly truncated: boolean;
  /** What a report was run with, and what it warns of. */
  readonly parameters?: unknown;
  readonly warnings?: readonly string[];
}

/** What tools read: the books, and nothing else. Every call is bounded in time, memory and size. */
export interface BooksReader {
  /** The JSON answer of a command, such as `status`. */
  command(name: 'status' | 'budgets' | 'forecast' | 'alerts', options: Options, signal: AbortSignal): Promise<unknown>;
  /** The reports, as `costbook report --list --json` names them. */
  reports(signal: AbortSignal): Promise<unknown>;
  /** The first rows of a report, the largest or newest first. */
  report(name: string, parameters: Texts, maxRows: number, signal: AbortSignal): Promise<RowsAnswer>;
  /** The figures that every surface shows, each with its meaning and its SQL. */
  figures(): Promise<readonly { readonly name: string; readonly meaning: string; readonly sql: string }[]>;
  /** The SQL of a report. */
  reportSql(name: string): Promise<string | undefined>;
  /** One SELECT of an agent, locked down as `costbook sql` is. */
  sql(query: string, maxRows: number, signal: AbortSignal): Promise<RowsAnswer>;
  /** One of Costbook's own statements in `sql/mcp`, at most `maxRows` rows of it. */
  own(
    statement: string,
    maxRows: number,
    values: Readonly<Record<string, string | null>>,
    signal: AbortSignal,
  ): Promise<RowsAnswer>;
}

type Texts = Readonly<Record<string, string>>;
type Options = Readonly<Record<string, string | true | readonly string[]>>;
/** The checked input of a tool. */
type Input = Readonly<Record<string, unknown>>;

/** What a tool found. */
export interface Found {
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  /** The command, report or SQL behind it. */
  readonly source: string;
  readonly data: unknown;
  readonly next?: string | null;
}

/** One tool that an agent can use. */
export interface Tool<Books = BooksReader> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: ObjectSchema;
  /** Throws UsageError for an input that names nothing in the books, and what the reader throws. */
  run(input: Input, books: Books, signal: AbortSignal): Promise<Found>;
}

const usualRows = 100;
/** More views, or columns of a view, than there are. */
const maxViews = 1000;

/** Every tool. All of them only read. */
export const tools: readonly Tool[] = [
  {
    name: 'status',
    title: 'Can the numbers be trusted?',
    description:
      'Whether the books are complete, proven against the platform and fresh, and what to do if not. Call it first, and say its limits in answers.',
    input: objectOf({}),
    run: (_, books, signal) => commandAnswer('status', {}, books, signal),
  },
  {
    name: 'describe_data',
    title: 'Views and columns',
    description:
      'The views that "query" can read, and the figures that every surface shows, with their meaning and SQL; or the columns of one view.',
    input: objectOf({ view: text('The name of a view; without it, all views.') }),
    async run({ view }, books, signal) {
      if (view === undefined) {
        const { columns, rows, ...views } = await books.own('views', maxViews, {}, signal);
        const data = { columns, rows, figures: await books.figures() };
        return { ...stateIn(views), source: 'sql/mcp/views.sql', data, next: null };
      }
      const found = await books.own('columns', maxViews, { view: String(view) }, signal);
      if (found.rows.length === 0)
        throw new UsageError(`there is no view ${JSON.stringify(view)}: call describe_data without a view`);
      return rowsFound(found, 'sql/mcp/columns.sql');
    },
  },
  {
    name: 'query',
    title: 'SQL over the books',
    description:
      'One SELECT in DuckDB SQL over the views that describe_data names. It can only read. Costs are exact decimals in USD; times are UTC; the end of a range is exclusive.',
    input: objectOf({ sql: text('One SELECT.', { maxLength: 100_000 }), maxRows: rowLimit }, ['sql']),
    async run({ sql, maxRows }, books, signal) {
      return rowsFound(
        await books.sql(String(sql), rowsOf(maxRows), signal),
        String(sql),
        'Add "order by", "limit" and "offset" to the query to read on.',
      );
    },
  },
  {
    name: 'list_reports',
    title: 'Reports',
    description: 'The reports, the question that each answers, its grain and its parameters.',
    input: objectOf({}),
    async run(_, books, signal) {
      return { ...(await stateOf(books, signal)), source: 'costbook report --list', data: await books.reports(signal) };
    },
  },
  {
    name: 'run_report',
    title: 'Run a report',
    description: 'The first rows of a report, the largest or newest first. It writes no file.',
    input: objectOf(
      {
        name: text('A name from list_reports.'),
        parameters: {
          type: 'object',
          additionalProperties: { type: 'string' },
          description: 'Parameters by name, such as { "month": "2026-10", "workspace": "production" }.',
        },
        maxRows: rowLimit,
      },
      ['name'],
    ),
    run: ({ name, parameters, maxRows }, books, signal) =>
      reportAnswer(String(name), (parameters ?? {}) as Texts, rowsOf(maxRows), books, signal),
  },
  {
    name: 'compare_periods',
    title: 'Compare two months',
    description: 'How much of the change between two months comes from price, volume, new and removed resources.',
    input: objectOf({
      month: month('The later month; the last complete one by default'),
      base: month('The earlier month; the month before by default'),
      workspace: text('Only this workspace.'),
      maxRows: rowLimit,
    }),
    run: ({ maxRows, ...parameters }, books, signal) =>
      reportAnswer('price_volume', textsOf(parameters), rowsOf(maxRows), books, signal),
  },
  {
    name: 'explain_cost',
    title: 'Why did costs change?',
    description:
      'The resources whose costs changed most in a month, the part of price and volume in it, and the anomalies of that month with what was deployed or changed before them.',
    input: objectOf({
      month: month('The month; the last complete one by default'),
      workspace: text('Only this workspace.'),
    }),
    async run(input, books, signal) {
      const parameters = textsOf(input);
      const movers = await books.report('top_movers', parameters, 20, signal);
      const causes = await books.report('price_volume', parameters, 20, signal);
      const anomalies = await books.report('anomalies', parameters, 20, signal);
      return {
        ...stateIn(movers),
        source: 'the reports top_movers, price_volume and anomalies',
        data: { movers: movers.rows, causes: causes.rows, anomalies: withParsed(anomalies.rows, listsOfAnomalies) },
        next: [movers, causes, anomalies].some(({ truncated }) => truncated)
          ? 'Use run_report for all rows of a report.'
          : null,
      };
    },
  },
  {
    name: 'budgets',
    title: 'Budgets',
    description:
      'Each budget: spent so far, forecast with its interval, when it will be exceeded, and its largest costs.',
    input: objectOf({}),
    run: (_, books, signal) => commandAnswer('budgets', {}, books, signal),
  },
  {
    name: 'forecast',
    title: 'Forecast',
    description: 'The expected cost of each budget and resource type until the end of its period, with an interval.',
    input: objectOf({ budget: text('Only this budget.') }),
    run: ({ budget }, books, signal) =>
      commandAnswer('forecast', budget === undefined ? {} : { budget: [String(budget)] }, books, signal),
  },
  {
    name: 'anomalies',
    title: 'Unusual costs',
    description:
      'Unusual costs, recently or in a month: since when, how far from the expected cost, what drives them, and what was deployed or changed in the 48 hours before. What came before need not be the cause.',
    input: objectOf({
      month: month('The month; recent ones by default'),
      workspace: text('Only this workspace.'),
      maxRows: rowLimit,
    }),
    run: ({ maxRows, ...parameters }, books, signal) =>
      reportAnswer('anomalies', textsOf(parameters), rowsOf(maxRows), books, signal),
  },
  {
    name: 'alerts',
    title: 'Open alerts',
    description: 'What is wrong now, and what to do.',
    input: objectOf({}),
    run: (_, books, signal) => commandAnswer('alerts', { open: true }, books, signal),
  },
  {
    name: 'resource',
    title: 'One resource',
    description:
      'What a resource cost in each month by billing dimension, its states (labels, region, memory, status), and its deployments and changed settings.',
    input: objectOf(
      { name: text('The name of the resource.'), workspace: text('Its workspace, if several have one of that name.') },
      ['name'],
    ),
    async run({ name, workspace }, books, signal) {
      const values = { name: String(name), workspace: workspace === undefined ? null : String(workspace) };
      const costs = await books.own('resource_costs', 200, values, signal);
      const states = await books.own('resource_states', 20, values, signal);
      const deployments = await books.own('resource_deployments', 100, values, signal);
      if (costs.rows.length === 0 && states.rows.length === 0) {
        throw new UsageError(
          `the books have no resource ${JSON.stringify(name)}: search for it with query, in the view resources`,
        );
      }
      return {
        ...stateIn(costs),
        source: 'sql/mcp/resource_costs.sql, resource_states.sql and resource_deployments.sql',
        data: {
          costs: costs.rows,
          states: states.rows,
          deployments: withParsed(deployments.rows, ['settings']),
        },
        next: [costs, states, deployments].some(({ truncated }) => truncated)
          ? 'Use query on costs_monthly, resources, resource_events and resource_changes for the rest.'
          : null,
      };
    },
  },
];

function rowsOf(maxRows: unknown): number {
  return typeof maxRows === 'number' ? maxRows : usualRows;
}

function textsOf(input: Input): Texts {
  return Object.fromEntries(
    Object.entries(input).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}

function stateIn({ completeThrough, settledThrough }: Pick<Found, 'completeThrough' | 'settledThrough'>) {
  return { completeThrough: completeThrough ?? null, settledThrough: settledThrough ?? null };
}

async function stateOf(books: BooksReader, signal: AbortSignal) {
  return stateIn(await books.own('views', maxViews, {}, signal));
}

function rowsFound(answer: RowsAnswer, source: string, readOn = 'Ask for fewer columns or a smaller range.'): Found {
  const { rows, truncated, columns } = answer;
  return { ...stateIn(answer), source, data: { columns, rows }, next: truncated ? readOn : null };
}

/** Columns of the report anomalies that are JSON. */
const listsOfAnomalies = ['drivers', 'deployments'];

/** Rows whose columns with JSON text have its values instead. */
function withParsed(rows: RowsAnswer['rows'], columns: readonly string[]): RowsAnswer['rows'] {
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        columns.includes(name) && typeof value === 'string' ? JSON.parse(value) : value,
      ]),
    ),
  );
}

async function reportAnswer(
  name: string,
  parameters: Texts,
  maxRows: number,
  books: BooksReader,
  signal: AbortSignal,
): Promise<Found> {
  const answer = await books.report(name, parameters, maxRows, signal);
  const { rows, columns, warnings, truncated } = answer;
  const sql = await books.reportSql(name);
  return {
    ...stateIn(answer),
    source: sql ?? `the report ${name}`,
    data: {
      report: name,
      parameters: answer.parameters,
      warnings,
      columns,
      rows: name === 'anomalies' ? withParsed(rows, listsOfAnomalies) : rows,
    },
    next: truncated ? `Raise maxRows (up to 1000), or run "costbook report ${name}" for a file with all rows.` : null,
  };
}

async function commandAnswer(
  name: 'status' | 'budgets' | 'forecast' | 'alerts',
  options: Options,
  books: BooksReader,
  signal: AbortSignal,
): Promise<Found> {
  const data = (await books.command(name, options, signal)) as Partial<Found>;
  // Without budgets, for example, the answer does not say it.
  const state =
    typeof data.completeThrough === 'string' ? (data as Found) : await books.own('views', maxViews, {}, signal);
  return { ...stateIn(state), source: `costbook ${name} --json`, data };
}
