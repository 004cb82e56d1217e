import type { DuckDBConnection } from '@duckdb/node-api';
import { UsageError } from '../../base/errors.ts';
import { nearest } from '../../text/choices.ts';
import { type Parsed, parsedOf, type Tree, walk } from '../sql/parse-tree.ts';
import { readSql } from '../sql/sql-files.ts';
import type { Fail } from './duckdb-errors.ts';

/**
 * The functions after FROM that only answer. DuckDB has others that write files, change how it works, or read memory by its
 * address; a new one is refused until it stands here. What reads files reads those that the lock-down allows.
 */
const answering = new Set(
  `duckdb_approx_database_count duckdb_columns duckdb_connection_count duckdb_constraints duckdb_coordinate_systems
  duckdb_databases duckdb_dependencies duckdb_extensions duckdb_external_file_cache duckdb_functions duckdb_indexes
  duckdb_keywords duckdb_memory duckdb_optimizers duckdb_prepared_statements duckdb_profiling_settings duckdb_schemas
  duckdb_secret_types duckdb_sequences duckdb_settings duckdb_table_sample duckdb_tables duckdb_temporary_files duckdb_types
  duckdb_variables duckdb_views generate_series glob histogram histogram_values icu_calendar_names json_each json_tree
  parquet_bloom_probe parquet_file_metadata parquet_full_metadata parquet_kv_metadata parquet_metadata parquet_scan
  parquet_schema pg_timezone_names pragma_collations pragma_database_size pragma_metadata_info pragma_platform pragma_show
  pragma_storage_info pragma_table_info pragma_user_agent pragma_version query query_table range read_blob read_csv
  read_csv_auto read_json read_json_auto read_json_objects read_json_objects_auto read_ndjson read_ndjson_auto
  read_ndjson_objects read_parquet read_text repeat repeat_row sniff_csv sql_auto_complete summary test_all_types
  test_vector_types unnest`.split(/\s+/),
);

/** Functions of one row that do more than answer. */
const acting = new Set(['write_log', 'json_serialize_plan']);

/** Functions, and views over them, that name folders of this machine: whoever asks from elsewhere learns nothing of it. */
const placing = new Set(
  `current_setting duckdb_databases duckdb_extensions duckdb_external_file_cache duckdb_profiling_settings duckdb_settings
  duckdb_temporary_files pg_settings pragma_database_list`.split(/\s+/),
);

/** Functions after FROM that read the table whose name they are given. */
const tabled = new Set(['histogram', 'histogram_values']);

/** Functions that run the text in their argument. They may run only what can be read before: a literal. */
const running = new Set(['query', 'query_table']);

/**
 * Throws UsageError unless a SELECT calls only functions that answer, also in the texts that it runs with `query`. DuckDB's
 * parser says what it calls, before anything is bound: binding runs computed arguments already. Throws `another()` for a
 * statement of another kind.
 */
export async function expectAnswering(
  connection: DuckDBConnection,
  fail: Fail,
  text: string,
  { another, hidesPlaces }: { readonly another: () => Error; readonly hidesPlaces: boolean },
): Promise<void> {
  const waiting = [text];
  const seen = new Set<string>();
  for (let sql = waiting.pop(); sql !== undefined; sql = waiting.pop()) {
    if (seen.has(sql)) continue;
    seen.add(sql);
    const { node, error, errorKind } = await parse(connection, fail, sql);
    if (node === undefined) {
      if (sql === text && errorKind === 'not implemented') throw another();
      throw new UsageError(`found a text that is not one SELECT, expected one SELECT (${error})`);
    }
    const calls: Tree[] = [];
    walk(node, (one) => {
      if (one.type === 'TABLE_FUNCTION') calls.push((one['function'] ?? {}) as Tree);
      else if (one.class === 'FUNCTION' && acting.has(nameOf(one))) throw refusedFunction(nameOf(one));
      if (hidesPlaces && placing.has(relationOf(one))) throw placingName(relationOf(one));
    });
    for (const call of calls) {
      const name = nameOf(call);
      if (!answering.has(name)) throw await unlisted(connection, fail, name);
      if (hidesPlaces && tabled.has(name)) expectWithoutPlaces(name, call);
      if (!running.has(name)) continue;
      const texts = textsRunBy(name, call);
      if (name === 'query') waiting.push(...texts);
      const named = hidesPlaces ? wordsIn(texts.join(' ')).find((word) => placing.has(word)) : undefined;
      if (named !== undefined) throw placingName(named);
    }
  }
}

async function parse(connection: DuckDBConnection, fail: Fail, sql: string): Promise<Parsed> {
  const reader = await connection.runAndReadAll(await readSql('engine', 'parse_tree'), { sql }).catch(fail);
  return parsedOf(String(reader.getRowsJson()[0]?.[0]));
}

/** The names of DuckDB's functions after FROM. */
async function tableFunctions(connection: DuckDBConnection, fail: Fail): Promise<ReadonlySet<string>> {
  const reader = await connection.runAndReadAll(await readSql('engine', 'table_functions')).catch(fail);
  return new Set(reader.getRowsJson().map(([name]) => String(name)));
}

function wordsIn(text: string): readonly string[] {
  return text.toLowerCase().match(/[a-z0-9_]+/g) ?? [];
}

/** The texts that a function runs. Throws UsageError for a computed one. */
function textsRunBy(name: string, call: Tree): readonly string[] {
  const literals = literalsIn(call['children']);
  if (literals === undefined) {
    throw new UsageError(`${name}() is refused with a computed text: write the text into it as a literal`);
  }
  return literals;
}

/** Throws UsageError if an argument is computed, or names what names folders. */
function expectWithoutPlaces(name: string, call: Tree): void {
  walk(call['children'], (argument) => {
    if (argument.class !== undefined && !['COLUMN_REF', 'CONSTANT', 'COMPARISON'].includes(argument.class)) {
      throw new UsageError(
        `${name}() is refused here with a computed argument: use a subquery with its own "group by"`,
      );
    }
    const words = wordsIn(
      Object.values(argument)
        .flat()
        .filter((value) => typeof value === 'string')
        .join(' '),
    );
    const named = words.find((word) => placing.has(word));
    if (named !== undefined) throw placingName(named);
  });
}

/** The literals of arguments, also in a list; undefined if one is computed. */
function literalsIn(given: unknown): readonly string[] | undefined {
  const found: string[] = [];
  for (const argument of Array.isArray(given) ? (given as Tree[]) : []) {
    const { value } = (argument['value'] ?? {}) as Tree;
    const isList = argument.class === 'FUNCTION' && nameOf(argument) === 'list_value';
    const inner = isList ? literalsIn(argument['children']) : undefined;
    if (argument.class === 'CONSTANT' && typeof value === 'string') found.push(value);
    else if (inner !== undefined) found.push(...inner);
    else if (!isTruthValue(argument)) return undefined;
  }
  return found;
}

/** Whether an argument is `true` or `false`, which the parser reads as a cast of a text. */
function isTruthValue(argument: Tree): boolean {
  const [kind, child] = [argument['cast_type'] as Tree | undefined, argument['child'] as Tree | undefined];
  return argument.class === 'CAST' && kind?.['id'] === 'BOOLEAN' && child?.class === 'CONSTANT';
}

/** What a node calls or reads: a function, a view, or what SHOW describes. */
function relationOf(node: Tree): string {
  const called = node['function'] as Tree | undefined;
  const own = node.class === 'FUNCTION' ? node : (called ?? {});
  return nameOf(own) || String(node['table_name'] ?? '').toLowerCase();
}

/** A function's name as DuckDB compares names. */
function nameOf(called: Tree): string {
  return String(called['function_name'] ?? '').toLowerCase();
}

/**
 * As `expectAnswering`, for a PIVOT whose columns are values: DuckDB splits it into statements and shows no tree. No word
 * in it may be the name of a function that acts, or that runs a text; names are written as they are.
 */
export async function expectAnsweringWords(
  connection: DuckDBConnection,
  fail: Fail,
  text: string,
  hidesPlaces: boolean,
): Promise<void> {
  const known = await tableFunctions(connection, fail);
  for (const word of wordsIn(text)) {
    if (hidesPlaces && (placing.has(word) || tabled.has(word))) throw placingName(word);
    if (acting.has(word) || running.has(word) || (known.has(word) && !answering.has(word))) {
      throw refusedFunction(word, ' in a PIVOT without a list of values');
    }
  }
}

/** The error for a function after FROM that is not known to answer: perhaps there is none of that name. */
async function unlisted(connection: DuckDBConnection, fail: Fail, name: string): Promise<UsageError> {
  if ((await tableFunctions(connection, fail)).has(name)) return refusedFunction(name);
  const near = nearest(name, [...answering]);
  return new UsageError(
    `there is no function ${name}() after FROM${near === undefined ? '' : ` (did you mean "${near}"?)`}`,
  );
}

function placingName(name: string): UsageError {
  return new UsageError(
    `${name} is refused here: it names folders of the machine with the books. Use "costbook sql" there`,
  );
}

function refusedFunction(name: string, where = ''): UsageError {
  return new UsageError(`${name}() is refused${where}: expected functions that only answer`);
}
