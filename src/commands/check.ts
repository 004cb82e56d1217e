import { join } from 'node:path';
import { exitCodes, worstExitCode } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import { checkMachineStep, checkSqlStep, type NextStep, stepSentence } from '../base/next-step.ts';
import { type HoursToCheck, hoursToCheck } from '../findings/index.ts';
import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import { runChecks } from '../query/index.ts';
import { completenessOf, describeCompleteness } from '../reports/formats/index.ts';
import { formatTable, type TableLayout } from '../terminal/index.ts';
import { counted } from '../text/counted.ts';
import { formatInstant, formatMonth } from '../time/time.ts';
import { withBooks } from '../warehouse/integrity/index.ts';
import { type CheckResult, readChecks } from '../warehouse/ledger/index.ts';
import { knownAlerts } from '../warehouse/watch/index.ts';
import type { Command } from './command.ts';

export const checkCommand: Command = {
  name: 'check',
  summary: 'Run data checks on the books. Each check is a SELECT that should return no rows.',
  needsProject: ({ options }) => options['list'] !== true,
  examples: ['costbook check', 'costbook check --changed', 'costbook check --json', 'costbook check --list'],
  async run(input, context) {
    const { list: isList, changed: isChanged, timeout: timeoutMs } = read(options.check, input, context);
    const checks = await readChecks(join(context.dir, 'sql'));
    if (isList) {
      const listed = checks.map(({ name, severity, about }) => ({ name, severity, about }));
      const width = Math.max(...listed.map(({ name }) => name.length));
      await context.answer(listed, () =>
        listed.map(({ name, severity, about }) => `${severity}  ${name.padEnd(width)}  ${about}\n`).join(''),
      );
      for (const { name, problem } of checks) {
        if (problem !== undefined) context.tell(`warning: cannot run the check ${name}: ${problem}`);
      }
      return exitCodes.done;
    }

    return withBooks(context.dir, { lockedDown: true }, async (books) => {
      const state = await completenessOf(books.connection);
      const hours = isChanged ? await hoursToCheck(books.connection, await knownAlerts(books.connection)) : undefined;
      function progress(done: number): void {
        const next = checks[done];
        if (next !== undefined) context.progress(`check ${done + 1} of ${checks.length}, ${next.name}`);
      }
      let done = 0;
      progress(done);
      const results = await runChecks(context.dir, checks, {
        signal: context.signal,
        hours,
        timeoutMs,
        async onResult(result) {
          done += 1;
          progress(done);
          if (!context.json) await context.write(describe(result, context.layout));
        },
      });
      context.run?.keepChecks(results);
      if (context.json) {
        const { completeThrough } = state;
        const from = isChanged ? { changedFrom: hours === undefined ? null : formatInstant(hours.from) } : {};
        await context.write(`${JSON.stringify({ completeThrough, ...from, checks: results.map(toJson) })}\n`);
      } else await context.write(`${hours === undefined ? '' : changedWords(hours)}${describeCompleteness(state)}\n`);
      for (const result of results) {
        const words = complaint(result);
        if (words !== undefined) context.tell(words);
      }
      const failures = failuresIn(results);
      const next = failures[0]?.next ?? undefined;
      if (next !== undefined) context.tell(`costbook: ${stepSentence(next)}`);
      context.count?.({
        checks: results.length,
        failed: failures.length,
        warned: results.filter((result) => exitCodeOfCheck(result) === exitCodes.done && result.offenders !== 0).length,
      });
      if (failures.length > 0) context.run?.explain(failures);
      return worstExitCode(results.map(exitCodeOfCheck));
    });
  },
};

/** What was read, if that was not every hour. */
function changedWords({ from, whole }: HoursToCheck): string {
  const others = whole.length === 0 ? '' : `; every hour for ${whole.join(', ')}, whose alert is open`;
  return `Read the hours from ${formatMonth(from)} on: earlier months have not changed since they were checked${others}.\n`;
}

function exitCodeOfCheck({ check, offenders, error }: CheckResult): number {
  if (error !== undefined) return error.exitCode;
  return check.severity === 'fail' && offenders !== 0 ? exitCodes.unproven : exitCodes.done;
}

/** What failed: first the checks that could not run, with the step for all of these. */
function failuresIn(results: readonly CheckResult[]): readonly Failure[] {
  const failed = results.filter((result) => exitCodeOfCheck(result) !== exitCodes.done);
  const wrong = failed.filter(({ error }) => error?.exitCode === exitCodes.usage);
  const others = failed.filter((result) => result.error !== undefined && !wrong.includes(result));
  const sqlStep = checkSqlStep(wrong.map(({ check }) => check.name));
  const machineStep = wrong.length > 0 ? sqlStep : checkMachineStep;
  const failure = (result: CheckResult, code: string, next: NextStep | null): Failure => {
    return { code, subject: result.check.name, found: complaint(result) ?? '', next };
  };
  return [
    ...wrong.map((result) => failure(result, 'check_sql', sqlStep)),
    ...others.map((result) => failure(result, 'check_machine', machineStep)),
    ...failed.filter(({ error }) => error === undefined).map((result) => failure(result, 'check_found_rows', null)),
  ];
}

function toJson({ check, offenders, rows, error }: CheckResult): Record<string, unknown> {
  const { name, severity, about } = check;
  return { name, severity, about, offenders: offenders ?? null, rows, error: error?.message ?? null };
}

const indent = ' '.repeat(6);

/** The line of a check, followed by the rows it found. */
function describe({ check, offenders, columns, cells, error }: CheckResult, layout: TableLayout): string {
  if (offenders === 0) return `pass  ${check.name}\n`;
  const verdict =
    offenders === undefined
      ? error?.exitCode === exitCodes.usage
        ? 'its SQL failed'
        : 'did not finish'
      : counted(offenders, 'offender');
  const head = `${check.severity === 'fail' || offenders === undefined ? 'FAIL' : 'warn'}  ${check.name}: ${verdict}\n`;
  if (offenders === undefined) return head;
  const cut = offenders > cells.length ? `(the first ${cells.length} of ${offenders})\n` : '';
  return `${head}      Expected: ${check.about}\n${`${formatTable(columns, cells, { ...layout, width: layout.width && layout.width - indent.length })}\n${cut}`.replace(/^(?=.)/gm, indent)}`;
}

/** The message for stderr; undefined if the check passed. */
function complaint({ check, offenders, error }: CheckResult): string | undefined {
  if (error !== undefined) return error.message;
  if (offenders === undefined || offenders === 0) return undefined;
  const words = `check ${check.name}: found ${counted(offenders, 'row')}, expected none; ${check.file.path} explains them`;
  return check.severity === 'warn' ? `warning: ${words}` : words;
}
