import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { UsageError } from '../errors.ts';
import { expectProject } from '../project-folder.ts';
import { type Answered, type AnswerFormat, answerFormats, askToFile, askToStream } from '../query/index.ts';
import type { Command, CommandContext, CommandInput } from './command.ts';
import { optionReader, timeoutOf } from './options.ts';

/** Enough for a question, and short enough that one that runs away is noticed. */
const usualTimeoutMs = 60_000;
/** Rows that a terminal table shows; whoever wants more wants a file. */
const usualTableRows = 1000;
const maxQueryBytes = 1024 * 1024;

const programs = ['duckdb', 'python', 'notebook'] as const;

export const sqlCommand: Command = {
  name: 'sql',
  summary: 'Answer one SQL query from the published snapshot.',
  arguments: [
    {
      name: '[query]',
      summary:
        'one SELECT over costs, costs_daily, costs_monthly, coverage, reconciliation, runs …; "-" reads it from stdin',
    },
  ],
  options: [
    { flags: '-f, --file <file>', summary: 'read the query from this file' },
    {
      flags: '--as-of <instant>',
      summary: 'what would have been answered then; the present books are in the catalog present',
    },
    { flags: '--format <format>', summary: `${answerFormats.join(', ')}; a table by default, or as --out ends` },
    { flags: '--out <file>', summary: 'write the answer as this file, whole or not at all' },
    { flags: '--max-rows <count>', summary: `at most so many rows; in a table ${usualTableRows} by default` },
    {
      flags: '--timeout <duration>',
      summary: `end the query after so long, such as 90s or 10m; ${usualTimeoutMs / 1000}s by default`,
    },
    { flags: '--raw', summary: 'in CSV, leave text that looks like a formula as it is' },
    { flags: '--open-with <program>', summary: `print the line that opens the snapshot in ${programs.join(', ')}` },
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
    const options = optionReader(input, context.effects.now());
    const program = options.choice('openWith', programs);
    if (program !== undefined) {
      options.check();
      return openWith(program, context);
    }
    const out = options.text('out');
    const format = formatOf(options, out, context);
    const maxRows = options.count('maxRows') ?? (format === 'table' ? usualTableRows : null);
    const timeoutMs = timeoutOf(options) ?? usualTimeoutMs;
    const asked = options.asOf();
    const asOf = asked === undefined || asked === 'now' ? null : asked;
    const sources = [input.arguments[0], options.text('file')].filter((source) => source !== undefined);
    if (sources.length !== 1) {
      options.problem(
        sources.length === 0
          ? 'no query was given: write it behind "sql", name its file with --file, or give it on stdin and write "-"'
          : 'a query and --file were both given; expected one of them',
      );
    }
    options.check();

    expectProject(context); // the process that answers could not say it as well
    const sql = await readQuery(input, options.text('file'), context);
    if (asOf !== null) await (await import('./books-clock.ts')).warnOfFutureDates(context);
    context.progress('waiting for the answer');
    const question = { dir: context.dir, sql, asOf, format, raw: options.flag('raw'), maxRows, layout: context.layout };
    const { signal } = context;
    if (out !== undefined) {
      const path = await checkOut(resolve(out), context.dir);
      const answered = await askToFile(question, path, { timeoutMs, signal });
      const { rows, bytes, isTruncated, state } = answered;
      await context.write(
        context.json
          ? `${JSON.stringify({ ...state, path, format, rows, bytes, truncated: isTruncated })}\n`
          : `${out} (${rows} row${rows === 1 ? '' : 's'}, ${bytes} bytes) ${footer(answered)}\n`,
      );
      return 0;
    }
    const answered = await askToStream(question, { timeoutMs, signal, write: (piece) => context.write(piece) });
    if (format !== 'table' && format !== 'json') context.tell(footer(answered));
    return 0;
  },
};

function footer({ rows, isTruncated, sentence }: Answered): string {
  const cut = isTruncated ? `the first ${rows} rows, there are more (--max-rows); ` : '';
  return `${cut}${sentence}`;
}

/** The format that was asked for, by name or by the ending of `--out`. */
function formatOf(
  options: ReturnType<typeof optionReader>,
  out: string | undefined,
  context: CommandContext,
): AnswerFormat {
  const named = options.choice('format', answerFormats);
  if (out === undefined) {
    if (context.json && named !== undefined && named !== 'json') {
      options.problem('--json and --format contradict each other');
    }
    if (context.isTerminal && (named === 'parquet' || named === 'arrow')) {
      options.problem(`--format ${named}: a terminal cannot show it; name a file with --out`);
    }
    return named ?? (context.json ? 'json' : 'table');
  }
  const ofEnding = answerFormats.find((format) => out.endsWith(`.${format}`));
  if (named === undefined && ofEnding === undefined && options.text('format') === undefined) {
    const endings = answerFormats.filter((format) => format !== 'table').map((format) => `.${format}`);
    options.problem(`--out: "${out}" ends in none of ${endings.join(', ')}; name the format with --format`);
  }
  return named ?? ofEnding ?? 'csv';
}

async function readQuery(input: CommandInput, file: string | undefined, context: CommandContext): Promise<string> {
  const [typed = ''] = input.arguments;
  const sql = file === undefined ? (typed === '-' ? await context.readInput() : typed) : await readQueryFile(file);
  if (Buffer.byteLength(sql) > maxQueryBytes) throw new UsageError('the query is longer than 1 MiB');
  if (sql.trim() === '') throw new UsageError('the query is empty; expected one SELECT');
  return sql;
}

async function readQueryFile(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (!found) throw new UsageError(`--file: there is no ${file}; expected a file with one SELECT`);
  if (found.isDirectory()) throw new UsageError(`--file: ${file} is a folder; expected a file with one SELECT`);
  return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
}

/** Throws UsageError where the file has no folder, is one, or would lie among the books themselves. */
async function checkOut(path: string, dir: string): Promise<string> {
  const folder = await realpath(dirname(path)).catch(() => undefined);
  if (folder === undefined) throw new UsageError(`--out: the folder ${dirname(path)} does not exist; make it first`);
  const found = await stat(path).catch(() => undefined);
  if (found && !found.isFile()) throw new UsageError(`--out: ${path} is no file; expected the name of one`);
  const books = await realpath(dirname(await snapshot(dir))).catch(() => undefined);
  if (books !== undefined && !relative(books, folder).startsWith('..')) {
    throw new UsageError(`--out: ${path} lies in ${books}, which is for the books alone; name another folder`);
  }
  return join(dirname(path), basename(path));
}

/** Where the snapshot lies. Loaded only here: to load DuckDB takes longer than all else that this process does. */
async function snapshot(dir: string): Promise<string> {
  const { snapshotFile } = await import('../warehouse/index.ts');
  return snapshotFile(dir);
}

/** Prints the line that opens the snapshot elsewhere, for reading only. */
async function openWith(program: (typeof programs)[number], context: CommandContext): Promise<number> {
  const { expectBooks } = await import('../warehouse/index.ts');
  await expectBooks(context.dir);
  const line = lines[program](await snapshot(context.dir));
  await context.write(context.json ? `${JSON.stringify({ line })}\n` : `${line}\n`);
  return 0;
}

/** A path as the shell and as Python read it, whatever stands in it; JSON's texts are Python's too. */
const lines: Readonly<Record<(typeof programs)[number], (file: string) => string>> = {
  duckdb: (file) => `duckdb -readonly '${file.replaceAll("'", `'\\''`)}'`,
  python: (file) => `import duckdb; books = duckdb.connect(${JSON.stringify(file)}, read_only=True)`,
  notebook: (file) =>
    `import duckdb; books = duckdb.connect(${JSON.stringify(file)}, read_only=True); books.sql("from costs_monthly").df()`,
};
