/**
 * The SQL that DuckDB cannot read from a file below `sql/`: it contains a name, a type, a path or a whole query, for which
 * SQL has no parameter; or it sets up a connection (transactions, settings). Everything else is a file with bound values.
 * Pure functions: they quote names, and insert queries unchanged.
 *
 * A person's query starts on the first line of the text that runs it, so that DuckDB counts lines from there. A line feed
 * follows it, because it may end in a comment.
 */

import type { Sorting } from '../../tables/sorting.ts';
import type { LedgerTable } from './ledger-tables.ts';

/** A quoted name. */
function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A quoted text, for the few places that accept no parameter. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function listed(names: readonly string[]): string {
  return names.map(quoted).join(', ');
}

/** All of a view, in the order of some of its columns. */
export function viewInOrder(view: string, columns: string): string {
  return `from ${view} order by ${columns}\n`;
}

/** Stores the comment of a view or of one of its columns. */
export function commentOn(kind: 'view' | 'column', name: string, comment: string): string {
  return `comment on ${kind} ${name} is ${literal(comment)};\n`;
}

/** Statements that start and end a transaction, and that set up a connection. */
export const beginTransaction = 'begin transaction';
export const beginReadOnly = 'begin transaction read only';
export const commitTransaction = 'commit';
export const rollbackTransaction = 'rollback';
export const checkpointWarehouse = 'checkpoint wh';
export const useWarehouse = 'use wh';
export const useUtc = "set global TimeZone = 'UTC'";

/** After these, only the attached files and the given ones are accessible, and no setting can change. */
export function lockDownStatements(files: readonly string[]): readonly string[] {
  return [
    `set allowed_paths = [${files.map(literal).join(', ')}]`,
    'set allowed_directories = []',
    'set enable_external_access = false',
    'set lock_configuration = true',
  ];
}

/** How many threads DuckDB may use, on all connections. */
export function setThreads(threads: number): string {
  return `set global threads = ${threads}`;
}

/** How much memory DuckDB may use, in MB; less than it has makes it drop blocks that it has only read. */
export function setMemoryLimit(mb: number): string {
  return `set global memory_limit = '${mb}MB'`;
}

/** Attaches a file for reading, for writing, or for writing without a log. */
export function attach(path: string, catalog: string, mode: 'read' | 'write' | 'write without log'): string {
  const options = { read: ' (read_only)', write: '', 'write without log': ' (recovery_mode no_wal_writes)' };
  return `attach ${literal(path)} as ${catalog}${options[mode]}`;
}

/** The number of the last journal event in a catalog. */
export function lastEventOf(catalog: string): string {
  return `select applied from ${catalog}.ledger.journal`;
}

/** The migrations of a catalog, in order. */
export function migrationsOf(catalog: string): string {
  return `select name from ${catalog}.ledger.applied_files where folder = 'migrations' order by name`;
}

/** The last load of a catalog, its rows and their cost. */
export function contentsOf(catalog: string): string {
  return `select
    (select coalesce(max(load_number), 0) from ${catalog}.ledger.loads) as load_number,
    count(*) as row_count,
    cast(coalesce(sum(cost), 0) as varchar) as cost
  from ${catalog}.ledger.hourly_costs`;
}

/**
 * A hash of every row of a table. Hashes are added: with an exclusive or, equal changes of two rows would cancel out.
 * DuckDB may answer a count or maximum from statistics, without reading the rows.
 */
export function hashOf(catalog: string, schema: string, table: string): string {
  return `select sum(hash(t)) as hash from ${catalog}.${quoted(schema)}.${quoted(table)} as t`;
}

/**
 * Creates the table `difference` of a table in `wh` and the same one in `rebuilt`: one pass over both sides; equal rows
 * cancel out, however often they occur.
 */
export function makeDifference(table: string): string {
  return `create or replace temp table difference as
    select * exclude (side), sum(side) as sides
    from (
      select *, 1 as side from wh.ledger.${quoted(table)}
      union all
      select *, -1 as side from rebuilt.ledger.${quoted(table)}
    )
    group by all
    having sum(side) <> 0`;
}

/** How many rows a table in `wh` has, and how many only one side has. */
export function countDifference(table: string): string {
  return `select
      (select count(*) from wh.ledger.${quoted(table)}) as rows,
      coalesce(sum(sides) filter (sides > 0), 0) as only_here,
      coalesce(-sum(sides) filter (sides < 0), 0) as only_there
    from difference`;
}

/** A query inside a text literal: DuckDB reads it as one SELECT with any brackets and comments in it. */
export function queryFunction(query: string): string {
  return `query(${literal(query)})`;
}

/** A query in brackets after FROM. */
export function fromBracketed(query: string): string {
  return `from (\n${query}\n)`;
}

/** All rows of a source, or the first of them, also sorted. `prefix` is EXPLAIN with its options. */
export function fromSource(
  source: string,
  { prefix = '', limit, sorting }: { prefix?: string; limit?: number | null; sorting?: Sorting | undefined } = {},
): string {
  const order = sorting === undefined ? '' : ` order by ${sortedBy(sorting)}`;
  return `${prefix === '' ? '' : `${prefix} `}from ${source}${order}${limit === null || limit === undefined ? '' : ` limit ${limit}`}`;
}

function sortedBy({ name, isDescending }: Sorting): string {
  return `${quoted(name)} ${isDescending ? 'desc' : 'asc'} nulls last`;
}

/** The table with the answer of a PIVOT. */
export const pivotedTable = 'temp.main.pivoted';

/** Answers a PIVOT into `pivotedTable`. */
export function makePivoted(query: string): string {
  return `create or replace temp table pivoted as (\n${query}\n)`;
}

/** The columns of a query, without rows. */
export function noRowsOf(query: string): string {
  return `select * from (${query}\n) limit 0`;
}

/** The first rows of a query. */
export function firstOf(query: string, limit: number): string {
  return `${query} limit ${limit}`;
}

/**
 * A query in a total order: by `first`, what is null before all others, then by `sorting`, then the largest of `top`, then by
 * `grain`, then by a hash of the whole row. With `columns`, only these are returned, in that order.
 */
export function inOrder(
  query: string,
  {
    columns,
    first = [],
    sorting,
    top = [],
    grain,
  }: {
    columns?: readonly string[] | undefined;
    first?: readonly string[];
    sorting?: Sorting | undefined;
    top?: readonly string[];
    grain: readonly string[];
  },
): string {
  const largest = top.map((name) => sortedBy({ name, isDescending: true }));
  const sorted = sorting === undefined ? [] : [sortedBy(sorting)];
  const smallest = first.map((column) => `${quoted(column)} nulls first`);
  const order = [...smallest, ...sorted, ...largest, ...orderOf(grain)].join(', ');
  return `select ${columns === undefined ? '*' : listed(columns)} from (${query}\n) as report order by ${order}`;
}

function orderOf(grain: readonly string[]): readonly string[] {
  return [...grain.map((column) => `${quoted(column)} nulls last`), 'hash(*columns(*))'];
}

/** One row per line of a sparkline: its names, its numbers as a JSON list, its first and its last time. */
export function sparklineOf(query: string, names: readonly string[], of: string, over: string): string {
  const grouped = names.length === 0 ? '' : `group by ${listed(names)} order by ${listed(names)}`;
  const time = quoted(over);
  const cells = [
    ...names.map(quoted),
    `to_json(list(cast(${quoted(of)} as double) order by ${time}))`,
    `min(${time})`,
    `max(${time})`,
  ];
  return `select ${cells.join(', ')} from (${query}\n) as report ${grouped} limit 20`;
}

/** The sums of a query's columns, each under its own name. */
export function sumsOf(query: string, names: readonly string[]): string {
  return `select ${names.map((name) => `sum(${quoted(name)}) as ${quoted(name)}`).join(', ')} from (${query}\n)`;
}

/** A column with an exact sum. */
interface Exact {
  readonly name: string;
  readonly decimals: number;
}

/** The row count of a query, and the exact sum of a column as text; null without a column. */
export function figuresOf(query: string, column: Exact | undefined): string {
  return figuresFrom(`(${query}\n)`, column);
}

/** As `figuresOf`, for the Parquet file at `$path`. */
export function figuresOfParquet(column: Exact | undefined): string {
  return figuresFrom('read_parquet($path, hive_partitioning = false)', column);
}

function figuresFrom(source: string, column: Exact | undefined): string {
  const sum = column === undefined ? 'null' : exactSum(quoted(column.name), column.decimals);
  return `select count(*) as rows, ${sum} as cost from ${source}`;
}

/** The rows of the Parquet file at `$path`: some of its columns; without columns no rows, to learn their names. */
export function rowsOfParquet(columns: readonly string[] | undefined): string {
  return `select ${columns?.map(quoted).join(', ') ?? '*'} from read_parquet($path, hive_partitioning = false)${columns === undefined ? ' limit 0' : ''}`;
}

/** Some columns of a query's answer. */
export function columnsNamed(query: string, columns: readonly string[]): string {
  return `select ${columns.map(quoted).join(', ')} from (${query}\n)`;
}

/** As `figuresOf`, for the JSON file at `$path`: `$pointer` is the column. */
export function figuresOfJsonFile(column: Exact | undefined): string {
  const cell = column === undefined ? 'null' : 'json_extract_string(json, $pointer)';
  return `select count(*) as rows, ${exactSum(cell, column?.decimals ?? 0)} as cost
    from read_json_objects($path, format = 'array', hive_partitioning = false)`;
}

/** The exact sum of `$costs`, a JSON list of amounts. */
export function sumOfCosts(decimals: number): string {
  return `select ${exactSum('cost', decimals)} as cost
    from (select unnest(cast($costs as json)::varchar[]) as cost)`;
}

function exactSum(cell: string, decimals: number): string {
  return `cast(sum(cast(${cell} as decimal(38, ${decimals}))) as varchar)`;
}

/** A column as it is, or cast to another type under the same name. */
export function cellOf(name: string, type: string | undefined): string {
  return type === undefined ? quoted(name) : `cast(${quoted(name)} as ${type}) as ${quoted(name)}`;
}

/**
 * A timestamp as an instant in UTC, under the same name. A cast gives the same, but asks the calendar of the session's zone
 * for each row: it was measured to be a third of what writing hours costs.
 */
export function instantCell(name: string): string {
  return `make_timestamptz(epoch_us(${quoted(name)})) as ${quoted(name)}`;
}

/** Cells of a query. */
export function selectCells(query: string, cells: readonly string[]): string {
  return `select ${cells.join(', ')} from (${query}\n)`;
}

/** Writes a query as Parquet to `$_path`; each fact is a parameter `$_fact_<name>`, stored under its name. */
export function copyToParquet(query: string, facts: readonly string[]): string {
  const metadata = facts.map((name) => `${quoted(name)}: $_fact_${name}`);
  const options = [
    'format parquet',
    'compression zstd',
    ...(metadata.length === 0 ? [] : [`kv_metadata {${metadata.join(', ')}}`]),
  ];
  return `copy (${query}\n) to $_path (${options.join(', ')})`;
}

/**
 * Writes a table of the lake, or a partition of it, as Parquet to `$_path`, without any instant: an unchanged month keeps
 * its bytes. Row groups of this size can be read by many workers.
 */
export function copyOfLake(query: string): string {
  return `copy (${query}\n) to $_path (format parquet, compression zstd, row_group_size 122880)`;
}

/**
 * Joins as a query writes them: the left side is read in its order, the right side is looked up. So a query can sort few
 * columns, join the others afterwards, and keep the order, on one thread.
 */
export const joinInOrder = `set disabled_optimizers = 'join_order,build_side_probe_side'`;
/** Joins as DuckDB chooses. */
export const joinAsChosen = 'reset disabled_optimizers';

/** The values of a query's column, those with the largest amount first. */
export function valuesByAmount(query: string, column: string, amount: string): string {
  return `select ${quoted(column)} as value from (${query}\n) group by all order by abs(sum(${quoted(amount)})) desc, value`;
}

/** The amount for the value bound to `parameter` in a column, under a name. */
export function amountOfValue(amount: string, column: string, parameter: string, name: string): string {
  return `sum(${quoted(amount)}) filter (${isValue(column, parameter)}) as ${quoted(name)}`;
}

/** The amount for all values other than those bound to `parameters`, under a name. */
export function amountOfOthers(amount: string, column: string, parameters: readonly string[], name: string): string {
  const isShown = parameters.map((parameter) => isValue(column, parameter)).join(' or ');
  return `sum(${quoted(amount)}) filter (not (${isShown})) as ${quoted(name)}`;
}

function isValue(column: string, parameter: string): string {
  return `${quoted(column)} is not distinct from cast($${parameter} as varchar)`;
}

/** Text around a query: its other columns, the amounts of the values, and the total. */
export function aroundSpread(
  others: readonly string[],
  rowCount: readonly string[],
  amount: string,
  total: string,
): { readonly before: string; readonly after: string } {
  const cells = [...others.map(quoted), ...rowCount, `sum(${quoted(amount)}) as ${quoted(total)}`];
  return { before: `select ${cells.join(', ')} from (`, after: ') group by all' };
}

/** Text around a query with the column `labels`: replaces it by a column for each label, with bound JSON pointers. */
export function aroundLabels(labels: readonly { readonly parameter: string; readonly name: string }[]): {
  readonly before: string;
  readonly after: string;
} {
  const cells = labels.map(
    ({ parameter, name }) => `json_extract_string(labels, cast($${parameter} as varchar)) as ${quoted(name)}`,
  );
  return { before: `select ${['* exclude (labels)', ...cells].join(', ')} from (`, after: ')' };
}

/** The columns of amounts in a second currency, made from those in USD. */
export interface ConvertedColumns {
  /** Exact columns of USD, and the names of the converted ones. */
  readonly conversions: readonly { readonly usd: string; readonly converted: string }[];
  /** The names of the columns with the rate and its day. */
  readonly rate: string;
  readonly rateDate: string;
  /** The column with a day of the row's month; undefined if all rows have the same rate. */
  readonly day: string | undefined;
}

/**
 * Text around a query that adds amounts in a second currency to the end of each row. `$_rates` are the rates by month as JSON.
 * A product of exact decimals is rounded once, half away from zero, to the decimals of USD.
 */
export function aroundConverted({ conversions, rate, rateDate, day }: ConvertedColumns): {
  readonly before: string;
  readonly after: string;
} {
  const cells = conversions.map(
    ({ usd, converted }) => `cast(answer.${quoted(usd)} * rates.rate as decimal(38, 12)) as ${quoted(converted)}`,
  );
  const added = [...cells, `rates.rate as ${quoted(rate)}`, `rates.rate_date as ${quoted(rateDate)}`];
  const rates = `select unnest(
    from_json($_rates, '[{"month": "DATE", "rate": "DECIMAL(18, 8)", "rate_date": "DATE"}]'), recursive := true
  )`;
  const isSame = day === undefined ? 'true' : `rates.month = cast(date_trunc('month', answer.${quoted(day)}) as date)`;
  return {
    before: `select answer.*, ${added.join(', ')} from (`,
    after: `) as answer left join (${rates}) as rates on ${isSame}`,
  };
}

/** The months of a column with days, as `2026-10`. */
export function monthsOf(query: string, day: string): string {
  return `select distinct strftime(${quoted(day)}, '%Y-%m') as month from (${query}
) where ${quoted(day)} is not null order by month`;
}

/** How often `$value` occurs in a column of the series, or of the resources. */
export function countValue(column: string, sources: ValueSources): string {
  return `select count(*) as rows from (${knownValues(column, sources)}) where value = $value`;
}

/** All values in a column of the series, or of the resources. */
export function valuesOf(column: string, sources: ValueSources): string {
  return `select value from (${knownValues(column, sources)}) where value is not null group by value order by value`;
}

/** The sources in which a column occurs, besides the series. */
interface ValueSources {
  readonly isOfResources: boolean;
  readonly isOfAccounts: boolean;
}

function knownValues(column: string, { isOfResources, isOfAccounts }: ValueSources): string {
  const ofResources = isOfResources ? ` union select ${quoted(column)} from resources` : '';
  const ofAccounts = isOfAccounts ? ` union select ${quoted(column)} from accounts` : '';
  return `select ${quoted(column)} as value from series${ofResources}${ofAccounts}`;
}

/** Creates the as-of view of a table; undefined if a file defines it, or if there is none. */
export function makeAsOfView({ name, asOf }: LedgerTable): string | undefined {
  if (asOf === 'own' || asOf === 'never') return undefined;
  const view = `create view ledger.${quoted(name)} as select`;
  const source = `from present.ledger.${quoted(name)}`;
  if (asOf === 'always') return `${view} * ${source}`;
  const { from, end, ends = [] } = asOf;
  const cells = ends.map(
    (column) =>
      `case when ${quoted(end ?? '')} <= getvariable('as_of') then ${quoted(column)} end as ${quoted(column)}`,
  );
  const replaced = cells.length === 0 ? '' : ` replace (${cells.join(', ')})`;
  return `${view} *${replaced} ${source} where ${quoted(from)} <= getvariable('as_of')`;
}

/**
 * The last instant at which anything in the ledger was seen or done, in milliseconds since 1970. Loads are ordered by
 * number.
 */
export function lastSeenOf(tables: readonly LedgerTable[]): string {
  const instants = tables
    .filter(({ asOf }) => asOf !== 'never')
    .flatMap((table) => instantsOf(table, ['seen', 'ran', 'platform']));
  return `select epoch_ms(max(instant)) as last_seen
    from (
      select max_by(seen_at, load_number) as instant from ledger.loads union all ${instants.join(' union all ')}
    )`;
}

/**
 * The last instants in the books, in milliseconds since 1970: overall, up to `$after`, and after it. Start and end
 * times of runs and steps only count for the last one, because they were never adjusted to follow earlier instants.
 */
export function lastInstantsOf(tables: readonly LedgerTable[]): string {
  const seen = tables.flatMap((table) => instantsOf(table, ['seen'], '$after'));
  const ran = tables.flatMap((table) => instantsOf(table, ['ran', 'slot']));
  return `with loads_before as (
      select max_by(seen_at, load_number) as instant, max(seen_at) filter (seen_at <= cast($after as timestamp)) as before
      from ledger.loads
    ),
    seen as (select max(instant) as instant, max(before) as before from (${seen.join(' union all ')})),
    done as (select max(instant) as instant from (${ran.join(' union all ')}))
    select
      epoch_ms(greatest(seen.instant, loads_before.instant)) as last,
      epoch_ms(greatest(seen.before, loads_before.before)) as last_before,
      epoch_ms(
        case
          when greatest(seen.instant, done.instant) > cast($after as timestamp) then greatest(seen.instant, done.instant)
        end
      ) as last_after
    from seen cross join done cross join loads_before`;
}

/** The last instant of each column of these kinds; with `after`, also the last one up to that parameter. */
function instantsOf({ name, instants = {}, where }: LedgerTable, kinds: readonly string[], after?: string): string[] {
  return Object.entries(instants)
    .filter(([, kind]) => kinds.includes(kind))
    .map(([column]) => {
      const last = `max(${quoted(column)})`;
      const before = after && `, ${last} filter (${quoted(column)} <= cast(${after} as timestamp)) as before`;
      const rows = where === undefined ? '' : ` where ${where}`;
      return `select ${last} as instant${before ?? ''} from ledger.${quoted(name)}${rows}`;
    });
}

/**
 * Corrects the instants of a table that are after the variable `false_after`, with the macro `corrected`. A future slot
 * is removed from its run, so that it runs when it is due. Undefined for a table without such instants.
 */
export function correctInstantsOf({ name, instants = {}, where }: LedgerTable): string | undefined {
  const columns = Object.entries(instants).filter(([, kind]) => kind !== 'load' && kind !== 'platform');
  if (columns.length === 0) return undefined;
  const cells = columns.map(([column, kind]) =>
    kind === 'slot' ? `${quoted(column)} = null` : `${quoted(column)} = corrected(${quoted(column)})`,
  );
  const last = `greatest(${columns.map(([column]) => quoted(column)).join(', ')})`;
  const rows = where === undefined ? '' : `${where} and `;
  return `update ledger.${quoted(name)} set ${cells.join(', ')} where ${rows}${last} > getvariable('false_after')`;
}

/** Some rows of a ledger table that the journal writes, each column as text, in a stable order. */
export function journaledRowsOf({ name, where }: LedgerTable): string {
  const rows = where === undefined ? '' : ` where ${where}`;
  return `select cast(columns(*) as varchar) from ledger.${quoted(name)}${rows} order by rowid limit $max_rows offset $first_row`;
}

/** Removes the rows of a ledger table that the journal writes. */
export function removeJournaledRowsOf({ name, where }: LedgerTable): string {
  return `delete from ledger.${quoted(name)}${where === undefined ? '' : ` where ${where}`}`;
}

/** Inserts rows of text, as `journaledRowsOf` returns them, into a ledger table. */
export function insertRestoredRows({ name }: LedgerTable, columns: readonly string[]): string {
  const structure = JSON.stringify([Object.fromEntries(columns.map((column) => [column, 'VARCHAR']))]);
  const rows = `select unnest(from_json($rows, ${literal(structure)}), recursive := true)`;
  return `insert into ledger.${quoted(name)} by name ${rows}`;
}

/** Keeps the rows of a query in their order, in the table `storedAnswer`. The query keeps its own lines. */
export function storeAnswer(query: string): string {
  return `create or replace temp table stored_answer as ${query}`;
}

/** The rows that `storeAnswer` keeps. */
export const storedAnswer = fromSource('temp.main.stored_answer');

/** The table with the answer of a cluster. */
export const engineAnswerTable = 'temp.main.engine_answer';

/**
 * Reads the answer of a cluster into `engineAnswerTable`: a line of JSON for each row, with the values as text under c0,
 * c1 and so on.
 */
export function makeEngineAnswer(
  file: string,
  columns: readonly { readonly name: string; readonly type: string }[],
): string {
  const given = columns.map((_, index) => `c${index}: 'VARCHAR'`).join(', ');
  const cells = columns.map(({ name, type }, index) => {
    const isNested = /\[\]$|^(STRUCT|MAP)\(/.test(type);
    return `cast(${isNested ? `cast(c${index} as json)` : `c${index}`} as ${type}) as ${quoted(name)}`;
  });
  return `create or replace temp table engine_answer as
    select ${cells.join(', ')}
    from read_json(${literal(file)}, format = 'newline_delimited', hive_partitioning = false, columns = {${given}})`;
}
