import { dirname, join, resolve } from 'node:path';
import { allocationFile } from '../allocation/index.ts';
import { exitCodes, UnprovenError, UsageError } from '../base/errors.ts';
import { budgetsFile, loadBudgets, ownerBudgets } from '../budgets/rules/index.ts';
import { folderOf, loadConfig } from '../config/index.ts';
import { clusterAnswerQuery, readClusterAnswer } from '../engine/index.ts';
import { warnOfFutureDates } from '../health/index.ts';
import type { CommandInput } from '../options/read.ts';
import { flagOf, read, reading, type Values } from '../options/read.ts';
import { reportInChild } from '../options/table.ts';
import { parquetPartIn } from '../reports/exports/index.ts';
import {
  type CompletenessState,
  completenessOf,
  costColumnOf,
  fileReader,
  incompleteness,
  keepRows,
  signsOf,
} from '../reports/formats/index.ts';
import {
  described,
  filesNamed,
  isPartitioned,
  listOf,
  placeOf,
  publishReport,
  totalsOf,
  wholeAnswer,
  writeJson,
  writeTable,
} from '../reports/publishing/index.ts';
import {
  admitReport,
  blamingReport,
  checkReport,
  closeBeside,
  expectClosesHold,
  type FocusAsked,
  focusAsked,
  focusMetadata,
  type GivenParameter,
  instantOf,
  isOfOwners,
  monthsOfRange,
  namesOfFocus,
  newestLoad,
  orderedQuery,
  type ParameterValue,
  paramFlag,
  periodsOf,
  type ReadParameters,
  type Report,
  readBilledBesides,
  readEvaluated,
  readParameters,
  readReports,
  refusalWords,
  resolveAsOf,
  selectOf,
  settleParameters,
  shape,
  sqlParameters,
  unanswerable,
  withDaysOfMonths,
  withDefaults,
} from '../reports/questions/index.ts';
import { nearest, quoted } from '../text/choices.ts';
import type { Instant } from '../time/time.ts';
import { openBooks, snapshotFile } from '../warehouse/integrity/index.ts';
import { closedMonths, completeness } from '../warehouse/ledger/index.ts';
import { columnsNamed, readSql } from '../warehouse/sql/index.ts';
import type { Connection, SqlColumn } from '../warehouse/store/index.ts';
import { answerInCurrency } from './answer-in-currency.ts';
import type { ChildContext } from './context.ts';

/** Options that set a parameter of another name. */
const shorthands = [
  ['focusVersion', 'focus_version'],
  ['grain', 'grain'],
  ['by', 'dimension'],
  ['labels', 'labels'],
] as const;

/** The command line of a report. */
export type ReportLine = Values<typeof reportInChild>;

/** Runs a report and writes its files, in a child process: its SQL may be the user's. */
export async function answerReport(input: CommandInput, context: ChildContext): Promise<number> {
  const months = monthsAsked(input, context);
  if (months === undefined) return answerOnce(input, context);
  const reports = await readReports(join(context.dir, 'sql'));
  const report = reports.find(({ name }) => name === input.arguments[0]);
  const isMonthly = report?.parameters.some(({ name }) => name === 'month') ?? false;
  return isMonthly ? answerMonths(months, input, context) : answerOnce(input, context);
}

/** The months of a range; undefined if `--month` is none. */
function monthsAsked(input: CommandInput, context: Pick<ChildContext, 'effects'>): readonly string[] | undefined {
  const { month } = reading(reportInChild, input, context).values;
  return month === undefined ? undefined : monthsOfRange(month, '--month', context.effects.now());
}

/** Runs a report for each month. Each month is its own export, as of its close if it is closed. */
async function answerMonths(months: readonly string[], input: CommandInput, context: ChildContext): Promise<number> {
  await expectAnswers(months, input, context);
  const counted = { rows: 0, files: 0, unchanged: true };
  let lead = '[';
  const display = new Set<string>();
  for (const month of months) {
    let isBegun = false;
    const exitCode = await answerOnce(
      { ...input, options: { ...input.options, month } },
      {
        ...context,
        count: ({ rows, files, unchanged }) => {
          counted.rows += Number(rows);
          counted.files += Number(files);
          counted.unchanged &&= unchanged === true;
        },
        tell(words) {
          if (!display.has(words)) context.tell(words);
          display.add(words);
        },
        async write(data) {
          // One JSON value: a list with an answer per month.
          if (!isBegun) await context.write(context.json ? lead : `${lead === '[' ? '' : '\n'}${month}\n`);
          isBegun = true;
          lead = ',';
          await context.write(data);
        },
      },
    );
    if (exitCode !== exitCodes.done) return exitCode;
  }
  if (context.json) await context.write(']\n');
  context.count?.(counted);
  return exitCodes.done;
}

/** Throws if a month cannot be answered, and names all such months, before anything is written. */
async function expectAnswers(months: readonly string[], input: CommandInput, context: ChildContext): Promise<void> {
  const reports = await readReports(join(context.dir, 'sql'));
  const obstacles: Obstacles[] = [];
  for (const month of months) {
    const asked = await readQuestion({ ...input, options: { ...input.options, month } }, context, reports);
    const { books, missing, refusals } = await openQuestion(asked, context);
    books.close();
    obstacles.push({ missing, refusals });
  }
  expectAnswerable(obstacles, read(reportInChild, input, context));
}

/** Reasons why a report cannot run. */
interface Obstacles {
  /** Incomplete data, one sentence each. */
  readonly missing: readonly string[];
  /** Periods that the books cannot contain, and unknown names. */
  readonly refusals: Awaited<ReturnType<typeof unanswerable>>;
}

/**
 * Throws UnprovenError for incomplete data if completeness is required, and UsageError for a question without an
 * answer.
 */
export function expectAnswerable(
  obstacles: readonly Obstacles[],
  { requireComplete, allowEmpty }: Pick<ReportLine, 'requireComplete' | 'allowEmpty'>,
): void {
  const missing = [...new Set(obstacles.flatMap((one) => one.missing))];
  if (requireComplete && missing.length > 0) throw new UnprovenError([...missing, 'nothing was written']);
  const refusals = refusalWords(obstacles.flatMap((one) => one.refusals));
  if (allowEmpty || refusals.length === 0) return;
  throw new UsageError([...refusals, 'nothing was written; --allow-empty writes the empty answer']);
}

/** Opens the books as of the right instant, and finds the reasons why the report cannot run. */
export async function openQuestion(
  { report, line, asked, read }: Awaited<ReturnType<typeof readQuestion>>,
  context: ChildContext,
) {
  const { dir, reader, signal } = context;
  let asOf = instantOf(asked);
  let books = await openBooks(dir, { lockedDown: false, asOf, reader, signal });
  try {
    let state = await completenessOf(books.connection, asOf);
    const closed = (await closedMonths(books.connection)).at(-1)?.month;
    const values = settle(read, { state, closed }, line.requireComplete);
    const periods = periodsOf(values);
    const resolved = await resolveAsOf(books.connection, asked, periods);
    await expectClosesHold(books.connection, asked, { periods, sql: report.file.text });
    if (resolved !== asOf) {
      books.close();
      asOf = resolved;
      books = await openBooks(dir, { lockedDown: false, asOf, isClose: true, reader, signal });
      state = await completenessOf(books.connection, asOf);
      // Without --as-of, the instant is that of a close.
      state = { ...state, closedAt: state.asOf };
    } else if (asked !== undefined) {
      state = { ...state, ...(await closeBeside(books.connection, asOf, { periods, sql: report.file.text })) };
    }
    const { connection } = books;
    const account = values.find((value) => value.name === 'account')?.sqlValue ?? null;
    const accounts = (await completeness(connection)).filter((row) => account === null || row.account === account);
    const evaluated = report.evaluated && (await readEvaluated(connection, report.evaluated, { accounts, periods }));
    const now = context.effects.now();
    const isOfBudget = values.some(({ name, isDefault }) => name === 'budget' && !isDefault);
    const refusals = await unanswerable(connection, report, values, {
      accounts,
      now: asOf ?? now,
      // A forecast is about the future.
      isOfFuture: report.evaluated !== undefined,
      budgets: isOfBudget ? (loadBudgets(budgetsFile(dir), { now }) ?? []).map(({ name }) => name) : [],
    });
    const missing = [
      ...incompleteness(accounts, periods, { isClose: state.closedAt !== null }),
      ...(evaluated?.gaps ?? []),
    ];
    const besides = await readBilledBesides(connection, report, values);
    return { books, state, values, periods, asOf, accounts, evaluated, besides, missing, refusals };
  } catch (error) {
    books.close();
    throw error;
  }
}

/** Parses the command line. Throws UsageError that lists every mistake. Reads nothing from the books. */
export async function readQuestion(
  input: CommandInput,
  context: Pick<ChildContext, 'dir' | 'folder' | 'env' | 'json' | 'effects'>,
  reports: readonly Report[],
  flag = paramFlag,
) {
  const now = context.effects.now();
  const { values: line, problem, attempt, check } = reading(reportInChild, input, context);
  const { parquetDecimals, asOf: asked } = line;
  const [name] = input.arguments;
  const found = reports.find((candidate) => candidate.name === name);
  const report = found && withConfiguredNames(found, context);
  if (report === undefined) problem(unknownReport(name, reports));
  if (report?.problem !== undefined) throw new UsageError(report.problem);
  if (line.dialect !== undefined && !line.printSql) problem('--dialect applies only to --print-sql');
  if (line.engine !== 'duckdb' && line.printSql)
    problem('--print-sql prints without running: use --dialect, not --engine');
  if (context.json && line.printSql) problem('--print-sql prints SQL: leave out --json');
  const excel = attempt(() => excelAsked(line));
  const formats = line.format ?? (excel === undefined ? report?.formats : undefined) ?? [];
  if (report !== undefined) checkForm(report, { formats, parquetDecimals, isExcel: excel !== undefined }, problem);
  const period: GivenParameter[] = (['month', 'from', 'to'] as const).flatMap((option) => {
    const text = line[option];
    return text === undefined ? [] : [{ name: option, text, what: `--${option}` }];
  });
  const given = report === undefined ? period : withDaysOfMonths(report, period, now);
  for (const [option, parameter] of shorthands) {
    const text = line[option];
    if (text !== undefined) given.push({ name: parameter, text, what: flagOf(option) });
  }
  if (line.withDeprecatedColumns) {
    given.push({ name: 'deprecated_columns', text: 'true', what: '--with-deprecated-columns' });
  }
  for (const [parameter, text] of line.param) {
    if (text === undefined) problem(`--param: found ${quoted(parameter)}, expected name=value`);
    else given.push({ name: parameter, text, what: `${flag}${parameter}` });
  }
  // Relative dates count from the time of the command.
  const folders = line.allowFiles.map((folder) => resolve(context.folder, folder));
  const from = { now: instantOf(asked) ?? now, dir: context.dir, folders, problem, flag };
  const read = report === undefined ? [] : await readParameters(report, given, from);
  attempt(() => checkFocus(read));
  check();
  if (report === undefined) throw new UsageError('name a report');
  return { report, line, excel, formats, parquetDecimals, asked, read };
}

/** Throws UsageError for a FOCUS version or grain that does not exist. */
function checkFocus(read: ReadParameters): void {
  const values = read.flatMap(({ parameter: { name }, value }) =>
    typeof value === 'string' ? [] : [{ name, sqlValue: value.sqlValue }],
  );
  focusAsked(values);
}

/** Throws UsageError for mistakes on the command line, before reading the books. */
export async function checkQuestion(
  input: CommandInput,
  context: Pick<ChildContext, 'dir' | 'folder' | 'env' | 'json' | 'effects'>,
): Promise<void> {
  // The first month of a range is enough: all months are parsed the same way.
  const [month = input.options['month']] = monthsAsked(input, context) ?? [];
  const asked = { ...input, options: { ...input.options, month } };
  await readQuestion(asked, context, await readReports(join(context.dir, 'sql')));
}

async function writeList(reports: readonly Report[], context: ChildContext): Promise<number> {
  const sound = reports.filter(({ problem }) => problem === undefined);
  await context.answer(sound.map(described), () => listOf(sound, context.layout));
  for (const { name, problem } of reports) {
    if (problem !== undefined) context.tell(`warning: the report ${name} cannot be used: ${problem}`);
  }
  return exitCodes.done;
}

/** The CSV for spreadsheets, and their language: `--excel`, or `--excel=de`. Undefined if it is not requested. */
function excelAsked({ excel, totals }: ReportLine): { totals: boolean; language: string | undefined } | undefined {
  if (excel === undefined) return undefined;
  const language = excel === true ? undefined : excel;
  signsOf(language);
  return { totals, language };
}

async function answerOnce(input: CommandInput, context: ChildContext): Promise<number> {
  const reports = await readReports(join(context.dir, 'sql'));
  const asked = reading(reportInChild, input, context);
  if (asked.values.list) {
    asked.check();
    return writeList(reports, context);
  }
  const question = await readQuestion(input, context, reports);
  const { report, line, excel, formats, parquetDecimals } = question;
  if (instantOf(question.asked) !== undefined) await warnOfFutureDates(context);
  const opened = await openQuestion(question, context);
  const { books, state, values, periods, asOf, accounts, evaluated, besides, missing, refusals } = opened;
  const written = fileReader(dirname(snapshotFile(context.dir)), context.signal);
  try {
    context.progress(report.name);
    const { connection } = books;
    expectAnswerable([{ missing, refusals }], line);
    const advice = isOfOwners(report) ? await adviceOnOwners(connection, context.dir) : [];
    for (const sentence of [...missing, ...(evaluated?.gone ?? []), ...advice]) context.tell(`warning: ${sentence}`);

    const focus = focusAsked(values);
    refuseOneNameForSeveral(values, accounts);
    const isUsual = (await resolveAsOf(connection, undefined, periods)) === asOf;
    const root = resolve(context.folder, folderOf(line.out) ?? join(context.dir, 'exports'));
    const place = placeOf({ report, values, asOf, isUsual, root, dir: context.dir });
    const parquetPart = await parquetPartIn(place, report.name);
    const rows = line.engineRows === undefined ? [] : [line.engineRows];
    // From here on, the SQL may be the user's; that of the lake is not.
    const lake = isPartitioned(report) ? lakeNames(context, accounts) : undefined;
    if (lake === undefined) {
      await books.lockDown({ files: [...filesNamed(values), ...rows, parquetPart] });
    }
    return await blamingReport(report, async () => {
      const asked = rows[0] === undefined ? report : await answeredByCluster(connection, report, values, rows[0]);
      const own = await shape(connection, asked, sqlParameters(values));
      const answered = chosenColumns(await checkReport(connection, own.report, own.parameters), focus);
      const inBoth = await answerInCurrency(line, context, { ...own, columns: answered }, opened);
      const { report: shaped, parameters, columns, currency } = inBoth;
      const about = { values, state, evaluated, besides, currency, columns };
      const ordered = { connection, query: orderedQuery(shaped), parameters };
      // The lake asks for its own tables.
      const kept = lake === undefined ? await keepRows(ordered) : ordered;
      const answering = focus === undefined ? kept : { ...kept, query: columnsNamed(kept.query, focus.columns) };
      const shown = { ...shaped, file: { ...shaped.file, text: kept.query }, wrapping: undefined };
      const totals = line.totals ? expectTotals(shaped, columns) : [];
      const published = await publishReport({
        report: { ...report, totals: shaped.totals, converted: shaped.converted ?? [] },
        question: answering,
        ...about,
        engine: rows.length === 0 ? undefined : 'spark',
        asOf,
        formats,
        raw: line.raw,
        excel,
        parquetDecimals,
        focus: focus && {
          version: focus.version,
          metadata: focusMetadata(
            focus.version,
            parquetDecimals === 'double' ? withDoubles(columns) : columns,
            await newestLoad(connection, String(parameters['month'])),
          ),
        },
        lake,
        ...{ place, parquetPart, reading: written.connection },
        onProgress: context.progress,
        signal: context.signal,
      });
      context.published?.({ reportFolder: place.reportFolder, folder: published.folder });
      context.progress('reading the answer');
      const answer = { ...about, report: shown, published, totals, isExcel: excel !== undefined };
      context.count?.({
        rows: published.manifest.rows,
        files: published.manifest.files.length,
        unchanged: published.isUnchanged,
      });
      if (context.asData) await context.answer(await wholeAnswer(answering, answer), () => '');
      else await (context.json ? writeJson(context, answering, answer) : writeTable(context, answering, answer));
      return exitCodes.done;
    });
  } finally {
    written.close();
    books.close();
  }
}

/** The names that the lake's table focus shows. With several accounts, each has the name in the books. */
function lakeNames(
  { dir, env, effects }: Pick<ChildContext, 'dir' | 'folder' | 'env' | 'effects'>,
  accounts: readonly unknown[],
): { provider: string; accountName: string | null } {
  const { provider, accountName } = loadConfig({ dir, env, now: effects.now(), requireAccounts: false }).focus;
  return { provider, accountName: accounts.length === 1 ? (accountName ?? null) : null };
}

/** A report whose SELECT is the cluster's answer. What Costbook adds to a SELECT is added to that. */
async function answeredByCluster(
  connection: Connection,
  report: Report,
  values: readonly ParameterValue[],
  rowsFile: string,
): Promise<Report> {
  await admitReport(connection, report);
  await readClusterAnswer(connection, rowsFile, { sql: selectOf(report), parameters: sqlParameters(values) });
  return { ...report, file: { ...report.file, text: clusterAnswerQuery } };
}

/** A report with the project's defaults: the FOCUS names, and the budgets to compare with. */
function withConfiguredNames(
  report: Report,
  { dir, env, effects }: Pick<ChildContext, 'dir' | 'folder' | 'env' | 'effects'>,
): Report {
  const now = effects.now();
  if (report.parameters.some(({ name }) => name === 'focus_version')) {
    return withDefaults(report, namesOfFocus(loadConfig({ dir, env, now, requireAccounts: false }).focus));
  }
  if (report.parameters.some(({ name }) => name === 'budgets')) {
    return withDefaults(report, { budgets: ownerBudgets(loadBudgets(budgetsFile(dir), { now }) ?? []) });
  }
  return report;
}

/** Advice for a report by owner, if the rules in the books give no cost an owner; otherwise undefined. */
export async function adviceOnOwners(connection: Connection, dir: string): Promise<string[]> {
  // The default rule counts as a rule.
  const [row] = await connection.rows(await readSql('allocation', 'rule_count'));
  if (Number(row?.['rules']) > 1) return [];
  return [
    `the books have no allocation rules, so no cost has an owner: write rules in ${allocationFile(dir)} ` +
      '(allocation.example.yaml explains them), test them with "costbook allocation test", and apply them with ' +
      '"costbook allocation apply"',
  ];
}

/** Refuses a single account name for several accounts; each account has its own name in the configuration. */
function refuseOneNameForSeveral(values: readonly ParameterValue[], accounts: readonly { account: string }[]): void {
  const name = values.find((value) => value.name === 'account_name')?.sqlValue ?? null;
  if (name === null || accounts.length < 2) return;
  const ids = accounts.map(({ account }) => account).join(', ');
  throw new UsageError(
    `focus.accountName is "${name}", but the books have ${accounts.length} accounts: ${ids}; ` +
      'remove it and set name in each entry of accounts; the next ingest stores these names in the books',
  );
}

/** Reports formats that a report cannot be written in, and doubles if no format can contain them. */
function checkForm(
  report: Report,
  {
    formats,
    parquetDecimals,
    isExcel,
  }: { formats: readonly string[]; parquetDecimals: 'exact' | 'double'; isExcel: boolean },
  problem: (text: string) => void,
): void {
  if (isPartitioned(report)) {
    const others = formats.filter((format) => format !== 'parquet');
    if (others.length > 0) {
      problem(`--format: the report ${report.name} is only written as parquet, found ${others.join(', ')}`);
    }
    if (isExcel) problem(`--excel: the report ${report.name} is only written as parquet; leave out --excel`);
    if (parquetDecimals === 'double') {
      problem(
        `--parquet-decimals: the report ${report.name} is only written with exact decimals; leave out --parquet-decimals`,
      );
    }
  } else if (parquetDecimals === 'double' && !formats.includes('parquet')) {
    problem(`--parquet-decimals applies only to parquet, but the requested formats are ${formats.join(', ')}`);
  }
}

/** The columns with totals. Throws UsageError if there are none. */
function expectTotals(report: Report, columns: readonly SqlColumn[]): readonly string[] {
  const totals = totalsOf(report, columns, costColumnOf(columns, report.file.header['cost']));
  if (totals.length > 0) return totals;
  throw new UsageError(
    `--totals: the report ${report.name} has no column to sum; expected a column cost, or "--! totals:" in ${report.file.path}`,
  );
}

/** The columns after decimals were converted to doubles, which have no exact precision. */
function withDoubles(columns: readonly SqlColumn[]): SqlColumn[] {
  return columns.map(({ name, type }) => ({ name, type: type.startsWith('DECIMAL') ? 'DOUBLE' : type }));
}

/**
 * The columns to write: those of FOCUS in its order, or all. Throws UsageError if the SQL does not return one of them.
 */
function chosenColumns(answered: readonly SqlColumn[], focus: FocusAsked | undefined): readonly SqlColumn[] {
  if (focus === undefined) return answered;
  const missing = focus.columns.filter((name) => !answered.some((column) => column.name === name));
  if (missing.length > 0) {
    throw new UsageError(`the report is missing columns of FOCUS ${focus.version}: ${missing.join(', ')}`);
  }
  return focus.columns.flatMap((name) => answered.filter((column) => column.name === name));
}

/** Former reports whose names are now commands. */
const formerNames = new Map([
  ['forecast', 'stored_forecasts'],
  ['restatements', 'restated_days'],
]);

function unknownReport(name: string | undefined, reports: readonly Report[]): string {
  const names = reports.map((candidate) => candidate.name);
  if (name === undefined) return `name a report: ${names.join(', ')}`;
  const guess = formerNames.get(name) ?? nearest(name, names);
  return `there is no report "${name}"${guess ? ` (did you mean "${guess}"?)` : ''}: expected one of ${names.join(', ')}`;
}

/** The values of the parameters. If completeness is required, throws when the books cannot say what is complete. */
function settle(
  read: ReadParameters,
  { state, closed }: { readonly state: CompletenessState; readonly closed: Instant | undefined },
  isRequired: boolean,
): ParameterValue[] {
  const isWaiting = read.some(({ value }) => typeof value === 'string');
  try {
    return settleParameters(read, state, closed);
  } catch (error) {
    if (isRequired && isWaiting && error instanceof UsageError)
      throw new UnprovenError(error.found, { next: error.next });
    throw error;
  }
}
