import { createHash } from 'node:crypto';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { loadConfig } from '../config.ts';
import { nearest } from '../did-you-mean.ts';
import { exitCodes, UnprovenError, UsageError } from '../errors.ts';
import {
  blamingReport,
  boundParameters,
  type CompletenessState,
  checkReport,
  completenessOf,
  describeCompleteness,
  type ExportedFile,
  exportFile,
  exportFormats,
  exportText,
  type FocusAsked,
  factsOf,
  focusAsked,
  focusMetadata,
  focusVersions,
  formatTable,
  type GivenParameter,
  incompleteness,
  instantOf,
  momentOf,
  newestLoad,
  orderedQuery,
  type ParameterValue,
  parameterOption,
  periodsOf,
  type Question,
  type ReadParameters,
  type Report,
  readParameters,
  readReports,
  saidParameters,
  settleParameters,
  withFocusNames,
} from '../reports/index.ts';
import { formatInstant, type Instant } from '../time.ts';
import { completeness, openBooks, type SqlColumn, toCellText, toJsonValue } from '../warehouse/index.ts';
import type { Command, CommandContext } from './command.ts';
import { optionReader } from './options.ts';

export const reportCommand: Command = {
  name: 'report',
  summary: 'Answer a report from the published snapshot and write it as files.',
  arguments: [{ name: '[name]', summary: 'the report; --list names them all' }],
  options: [
    { flags: '--month <month>', summary: 'the month, for example 2026-10; by default the last complete one' },
    { flags: '--from <date>', summary: 'the first day, of a report that is about days' },
    { flags: '--to <date>', summary: 'the day after the last one' },
    {
      flags: '--param <name=value>',
      summary: 'any parameter of the report, as --list names them; may be repeated',
      isRepeatable: true,
    },
    {
      flags: '--as-of <instant>',
      summary: 'what would have been answered then, or now for the present; the files say so in their names',
    },
    {
      flags: '--format <formats>',
      summary: `comma-separated: ${exportFormats.join(', ')}; by default what the report says`,
    },
    { flags: '--out <dir>', summary: 'where the files go; by default exports/<report> in the project folder' },
    { flags: '--raw', summary: 'in CSV, leave text that looks like a formula as it is' },
    { flags: '--parquet-decimals <type>', summary: 'exact, or double for readers that have no decimals' },
    {
      flags: '--focus-version <version>',
      summary: `of the report focus: ${focusVersions.join(' or ')}; ${focusVersions[0]} by default`,
    },
    {
      flags: '--with-deprecated-columns',
      summary: 'of the report focus: also the columns that the version has deprecated, for older readers',
    },
    { flags: '--require-complete', summary: 'exit 4, writing nothing, where what the report is about is not complete' },
    { flags: '--list', summary: 'name the reports with their parameters' },
  ],
  examples: [
    'costbook report --list',
    'costbook report cost_by_workspace --month 2026-10',
    'costbook report cost_by_workspace --month 2026-10 --format csv,arrow --out /srv/finance',
    'costbook report cost_by_workspace --as-of 2026-11-03 --require-complete',
    'costbook report focus --month 2026-10 --focus-version 1.2 --format parquet',
  ],
  async run(input, context) {
    const now = context.effects.now();
    const options = optionReader(input, now);
    const reports = await readReports(join(context.dir, 'sql'));
    if (options.flag('list')) {
      await context.write(context.json ? `${JSON.stringify(reports.map(described))}\n` : listOf(reports));
      return exitCodes.done;
    }
    const [name] = input.arguments;
    const found = reports.find((candidate) => candidate.name === name);
    const report = found && withConfiguredNames(found, context);
    if (report === undefined) options.problem(unknownReport(name, reports));
    const formats = options.choices('format', exportFormats) ?? report?.formats ?? [];
    const parquetDecimals = options.choice('parquetDecimals', ['exact', 'double']) ?? 'exact';
    const asked = options.asOf();
    const given: GivenParameter[] = ['month', 'from', 'to'].flatMap((option) => {
      const text = options.text(option);
      return text === undefined ? [] : [{ name: option, text, what: `--${option}` }];
    });
    const version = options.text('focusVersion');
    if (version !== undefined) given.push({ name: 'focus_version', text: version, what: '--focus-version' });
    if (options.flag('withDeprecatedColumns')) {
      given.push({ name: 'deprecated_columns', text: 'true', what: '--with-deprecated-columns' });
    }
    for (const text of options.texts('param')) {
      const [, parameter, value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
      if (parameter === undefined || value === undefined) {
        options.problem(`--param: found "${text}", expected name=value`);
      } else given.push({ name: parameter, text: value, what: `--param ${parameter}` });
    }
    // Relative dates count from the instant at which the question is put.
    const reading = { now: instantOf(asked) ?? now, dir: context.dir, problem: options.problem };
    const read = report === undefined ? [] : await readParameters(report, given, reading);
    options.check();
    if (report === undefined) throw new UsageError('name a report');

    const isRequired = options.flag('requireComplete');
    let asOf = instantOf(asked);
    let books = await openBooks(context.dir, { lockedDown: false, asOf, signal: context.signal });
    try {
      let state = await completenessOf(books.connection, asOf);
      const values = settle(read, state, isRequired);
      const focus = focusAsked(values);
      const periods = periodsOf(values);
      const moment = await momentOf(books.connection, asked, periods);
      if (moment !== asOf) {
        books.close();
        asOf = moment;
        books = await openBooks(context.dir, { lockedDown: false, asOf, signal: context.signal });
        state = await completenessOf(books.connection, asOf);
        // Nobody asked for an instant: it is that of a close.
        state = { ...state, closedAt: state.asOf };
      }
      const { connection } = books;
      const account = values.find((value) => value.name === 'account')?.bound ?? null;
      const accounts = (await completeness(connection)).filter((row) => account === null || row.account === account);
      const lacking = incompleteness(accounts, periods);
      if (isRequired && lacking.length > 0) throw new UnprovenError(`${lacking.join('\n')}\nnothing was written`);
      for (const sentence of lacking) context.tell(`warning: ${sentence}`);

      refuseOneNameForSeveral(values, accounts);
      const parameters = boundParameters(values);
      return await blamingReport(report, async () => {
        const answered = await checkReport(connection, report, parameters);
        const columns = chosenColumns(answered, focus);
        const question: Question = { connection, query: orderedQuery(report, focus?.columns), parameters };
        const folder = resolve(options.text('out') ?? join(context.dir, 'exports', report.name));
        const stem = fileStem(report, values, instantOf(asked));
        const files: ExportedFile[] = [];
        for (const format of formats) {
          const path = join(folder, `${stem}.${format}`);
          const told = { raw: options.flag('raw'), parquetDecimals, facts: factsOf(state) };
          files.push(await exportFile(question, { ...told, format, path }));
        }
        if (focus !== undefined) {
          const createdAt = await newestLoad(connection, String(parameters['month']));
          const text = focusMetadata(focus.version, columns, createdAt);
          files.push(await exportText(join(folder, `${stem}-metadata.json`), 'metadata', text));
        }
        const answer = { report, values, state, columns, files };
        await (context.json ? writeJson(context, question, answer) : writeTable(context, question, answer));
        return exitCodes.done;
      });
    } finally {
      books.close();
    }
  },
};

/** A report that is told in FOCUS names provider and account as the configuration does; others do without it. */
function withConfiguredNames(report: Report, { dir, env, effects }: CommandContext): Report {
  if (!report.parameters.some(({ name }) => name === 'focus_version')) return report;
  return withFocusNames(report, loadConfig({ dir, env, now: effects.now(), requireAccounts: false }).focus);
}

/** One name of an account cannot be that of several: each has its own in the configuration. */
function refuseOneNameForSeveral(values: readonly ParameterValue[], accounts: readonly { account: string }[]): void {
  const name = values.find((value) => value.name === 'account_name')?.bound ?? null;
  if (name === null || accounts.length < 2) return;
  const ids = accounts.map(({ account }) => account).join(', ');
  throw new UsageError(
    `focus.accountName is "${name}", and the books have ${accounts.length} accounts: ${ids}; ` +
      'remove it and write name in each entry of accounts, which the next ingest puts into the books',
  );
}

/** The columns that are answered with: those of FOCUS in its order, or all. Throws UsageError where the SQL lacks one. */
function chosenColumns(answered: readonly SqlColumn[], focus: FocusAsked | undefined): readonly SqlColumn[] {
  if (focus === undefined) return answered;
  const missing = focus.columns.filter((name) => !answered.some((column) => column.name === name));
  if (missing.length > 0) {
    throw new UsageError(`the report lacks columns of FOCUS ${focus.version}: ${missing.join(', ')}`);
  }
  return focus.columns.flatMap((name) => answered.filter((column) => column.name === name));
}

/** A report that was answered, and where it was written to. */
interface Answer {
  readonly report: Report;
  readonly values: readonly ParameterValue[];
  readonly state: CompletenessState;
  readonly columns: readonly SqlColumn[];
  readonly files: readonly ExportedFile[];
}

function described({ name, about, grain, parameters, formats }: Report): Record<string, unknown> {
  return {
    name,
    about,
    grain,
    parameters: parameters.map((parameter) => ({ ...parameter, default: parameter.default ?? null })),
    formats,
  };
}

function listOf(reports: readonly Report[]): string {
  const columns = ['report', 'parameters', 'formats', 'about'].map((name) => ({ name, type: 'VARCHAR' }));
  const rows = reports.map(({ name, parameters, formats, about }) => [
    name,
    parameters.map(parameterOption).join(' '),
    formats.join(', '),
    about,
  ]);
  return `${formatTable(columns, rows, { maxCellWidth: Number.POSITIVE_INFINITY })}\n`;
}

function unknownReport(name: string | undefined, reports: readonly Report[]): string {
  const names = reports.map((candidate) => candidate.name);
  if (name === undefined) return `name a report: ${names.join(', ')}`;
  const guess = nearest(name, names);
  return `there is no report "${name}"${guess ? ` (did you mean "${guess}"?)` : ''}: expected one of ${names.join(', ')}`;
}

/** The values of the parameters. Where completeness is required, books that cannot say what is complete do not meet that. */
function settle(read: ReadParameters, state: CompletenessState, isRequired: boolean): ParameterValue[] {
  const isWaiting = read.some(({ value }) => typeof value === 'string');
  try {
    return settleParameters(read, state);
  } catch (error) {
    if (isRequired && isWaiting && error instanceof UsageError) throw new UnprovenError(error.message);
    throw error;
  }
}

/**
 * The name of the files without their ending: the report, its period, what else was asked of it, and as of when, so
 * that no answer takes the place of one to another question.
 */
function fileStem(report: Report, values: readonly ParameterValue[], asOf: Instant | undefined): string {
  const parts = values.flatMap(({ name, said, isDefault }) => {
    if (['month', 'from', 'to'].includes(name)) return said === null ? [] : [fileNamePart(String(said))];
    return isDefault ? [] : [`${name}-${fileNamePart(String(said ?? 'all'))}`];
  });
  // Colons are no characters for file names.
  const moment = asOf === undefined ? [] : [`as-of-${formatInstant(asOf).replaceAll(':', '')}`];
  return [report.name, ...parts, ...moment].join('-');
}

/** A value as part of a file's name; where it has characters that names should not have, its hash tells it from others. */
function fileNamePart(value: string): string {
  const plain = value.replaceAll(':', '');
  if (/^[\w.-]{1,40}$/.test(plain)) return plain;
  const hash = createHash('sha256').update(value).digest('hex').slice(0, 8);
  return `${plain.replace(/[^\w.-]+/g, '_').slice(0, 40)}-${hash}`;
}

async function writeJson(context: CommandContext, question: Question, answer: Answer): Promise<void> {
  const { report, values, state, columns, files } = answer;
  const head = { report: report.name, parameters: saidParameters(values), ...state, columns, files };
  // Written with the first rows: what fails at once must not leave half a JSON value on stdout.
  let lead = `${JSON.stringify(head).slice(0, -1)},"rows":[`;
  const { pieces } = await question.connection.stream(question.query, question.parameters);
  for await (const rows of pieces) {
    if (rows.length === 0) continue;
    const lines = rows.map((row) =>
      JSON.stringify(Object.fromEntries(columns.map(({ name }, index) => [name, toJsonValue(row[index] ?? null)]))),
    );
    await context.write(`${lead}\n${lines.join(',\n')}`);
    lead = ',';
  }
  await context.write(`${lead === ',' ? '\n' : lead}]}\n`);
}

/** A screenful for a look; the files have all. */
const maxShownRows = 40;

async function writeTable(context: CommandContext, question: Question, answer: Answer): Promise<void> {
  const { query, parameters, connection } = question;
  const { columns, pieces } = await connection.stream(`${query} limit ${maxShownRows}`, parameters);
  const shown: (string | undefined)[][] = [];
  for await (const rows of pieces) for (const row of rows) shown.push(row.map(toCellText));
  const count = answer.files[0]?.rows ?? shown.length;
  const cut = count > shown.length ? `, the first ${shown.length} are shown` : '';
  await context.write(`${formatTable(columns, shown)}\n`);
  await context.write(`(${count} row${count === 1 ? '' : 's'}${cut}) ${describeCompleteness(answer.state)}\n`);
  for (const file of answer.files) await context.write(`${shortest(file.path)}\n`);
}

/** The path as a person in this folder would write it. */
function shortest(path: string): string {
  const fromHere = relative('.', path);
  return isAbsolute(fromHere) || fromHere.startsWith('..') ? path : fromHere;
}
