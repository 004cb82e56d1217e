import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { expectProject } from '../base/project-folder.ts';
import type { CommandInput } from '../options/read.ts';
import { type Reading, reading } from '../options/read.ts';
import { options, usualTableRows } from '../options/table.ts';
import {
  type Answered,
  type AnswerFormat,
  answerFormats,
  askStatement,
  askToFile,
  askToStream,
} from '../query/index.ts';
import type { Command, CommandContext } from './command.ts';
import { checkOut } from './out-file.ts';

const maxQueryBytes = 1024 * 1024;

type Program = (typeof options.sql.openWith.choices)[number];

export const sqlCommand: Command = {
  name: 'sql',
  summary: 'Run one SQL query on the books. The query can only read.',
  arguments: [
    {
      name: '[query]',
      summary:
        'one SELECT over costs, costs_daily, costs_monthly, coverage, reconciliation, runs …; "-" reads it from stdin',
    },
  ],
  examples: [
    `costbook sql "select workspace, sum(cost) as cost from costs_monthly group by workspace order by cost desc"`,
    `costbook sql --format csv "select * from costs_daily where usage_date >= '2026-10-01'"`,
    'costbook sql --out costs.parquet --timeout 10m "select * from costs"',
    'costbook sql -f question.sql --max-rows 20',
    'costbook sql --json "select * from coverage"',
    'costbook sql --as-of 2026-10-05T12:00:00Z "select sum(cost) as cost from costs"',
    'costbook sql --open-with duckdb',
  ],
  async run(input, context) {
    const asked = reading(options.sql, input, context);
    const { problem } = asked;
    const { openWith: program, out, file, engine, raw, timeout: timeoutMs, ...given } = asked.values;
    if (program !== undefined) {
      asked.check();
      return openWith(program, context);
    }
    const format = formatOf(asked, context);
    const maxRows = given.maxRows ?? (format === 'table' ? usualTableRows : null);
    const asOf = given.asOf === undefined || given.asOf === 'now' ? null : given.asOf;
    const sources = [input.arguments[0], file].filter((source) => source !== undefined);
    if (sources.length !== 1) {
      problem(
        sources.length === 0
          ? 'no query given: pass it as an argument, name a file with --file, or pass "-" to read it from stdin'
          : 'found both a query and --file; expected only one',
      );
    }
    if (engine !== 'duckdb' && asOf !== null) problem('--as-of: the lake has the present books; leave out --engine');
    asked.check();

    expectProject(context); // the child process could not report this as well
    const sql = await readQuery(input, file, context);
    if (asOf !== null) await (await import('../health/index.ts')).warnOfFutureDates(context);
    context.progress('waiting for the answer');
    const question = { dir: context.dir, sql, asOf, format, raw, maxRows, layout: context.layout };
    if (engine === 'duckdb') return answerTo(question, { out, timeoutMs }, context);
    const { onCluster } = await import('./on-cluster.ts');
    const limits = { subject: 'the query', timeoutMs };
    const statement = await askStatement({ dir: context.dir, sql }, { timeoutMs, signal: context.signal });
    return onCluster(context, statement, limits, (rowsFile) =>
      answerTo({ ...question, rowsFile }, { out, timeoutMs }, context),
    );
  },
};

/** Asks a child process, and writes the answer to stdout or the file. */
async function answerTo(
  question: Parameters<typeof askToStream>[0],
  { out, timeoutMs }: { out: string | undefined; timeoutMs: number },
  context: CommandContext,
): Promise<number> {
  const { signal } = context;
  const { format } = question;
  if (out !== undefined) {
    const path = await checkOut(resolve(context.folder, out), context.dir);
    const answered = await askToFile(question, path, { timeoutMs, signal });
    const { rows, bytes, isTruncated, state } = answered;
    await context.answer(
      { ...state, path, format, rows, bytes, truncated: isTruncated },
      () => `${out} (${rows} row${rows === 1 ? '' : 's'}, ${bytes} bytes) ${footer(answered)}\n`,
    );
    return 0;
  }
  const answered = await askToStream(question, { timeoutMs, signal, write: (piece) => context.write(piece) });
  if (format !== 'table' && format !== 'json') context.tell(footer(answered));
  return 0;
}

function footer({ rows, isTruncated, sentence }: Answered): string {
  const cut = isTruncated ? `only the first ${rows} rows are shown (see --max-rows); ` : '';
  return `${cut}${sentence}`;
}

/** The requested format, by name or by the extension of `--out`. */
function formatOf(
  { values: { out, format: named }, isGiven, problem }: Reading<typeof options.sql>,
  context: CommandContext,
): AnswerFormat {
  if (out === undefined) {
    if (context.json && named !== undefined && named !== 'json') {
      problem('--json cannot be combined with --format');
    }
    if (context.isTerminal && (named === 'parquet' || named === 'arrow')) {
      problem(`--format ${named}: a terminal cannot show this; name a file with --out`);
    }
    return named ?? (context.json ? 'json' : 'table');
  }
  const ofEnding = answerFormats.find((format) => out.endsWith(`.${format}`));
  if (named === undefined && ofEnding === undefined && !isGiven.format) {
    const endings = answerFormats.filter((format) => format !== 'table').map((format) => `.${format}`);
    problem(`--out: "${out}" does not end in ${endings.join(', ')}; choose the format with --format`);
  }
  return named ?? ofEnding ?? 'csv';
}

async function readQuery(input: CommandInput, file: string | undefined, context: CommandContext): Promise<string> {
  const [typed = ''] = input.arguments;
  const sql =
    file === undefined
      ? typed === '-'
        ? await context.readInput(maxQueryBytes)
        : typed
      : await readQueryFile(file, context);
  if (Buffer.byteLength(sql) > maxQueryBytes) throw new UsageError('the query is longer than 1 MiB');
  if (sql.trim() === '') throw new UsageError('the query is empty; expected one SELECT');
  return sql;
}

async function readQueryFile(file: string, { folder }: CommandContext): Promise<string> {
  const path = resolve(folder, file);
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new UsageError(`--file: ${file} does not exist; expected a file with one SELECT`);
  if (found.isDirectory()) throw new UsageError(`--file: ${file} is a folder; expected a file with one SELECT`);
  // A device has no end; one byte more says that it is too long.
  const pieces = (await createReadStream(path, { end: maxQueryBytes }).toArray()) as Buffer[];
  return Buffer.concat(pieces)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
}

/** Prints the command that opens the snapshot in another program, read-only. */
async function openWith(program: Program, context: CommandContext): Promise<number> {
  const { expectBooks, snapshotFile } = await import('../warehouse/integrity/index.ts');
  await expectBooks(context.dir);
  const line = lines[program](snapshotFile(context.dir));
  await context.answer({ line }, () => `${line}\n`);
  return 0;
}

/** A path quoted for the shell and for Python; JSON strings are valid Python. */
const lines: Readonly<Record<Program, (file: string) => string>> = {
  duckdb: (file) => `duckdb -readonly '${file.replaceAll("'", `'\\''`)}'`,
  python: (file) => `import duckdb; books = duckdb.connect(${JSON.stringify(file)}, read_only=True)`,
  notebook: (file) =>
    `import duckdb; books = duckdb.connect(${JSON.stringify(file)}, read_only=True); books.sql("from costs_monthly").df()`,
};
