import { styleText } from 'node:util';
import { aboveWords, countWords } from '../alerts/index.ts';
import { exitCodes } from '../base/errors.ts';
import { firstOf } from '../base/failure.ts';
import { asClause, asSentence, nextWords } from '../base/next-step.ts';
import { loadConfig } from '../config/index.ts';
import { isRefusedClose } from '../findings/index.ts';
import { age, ageBeyond, keysOf, type Problem, restatedDays, type Status } from '../health/index.ts';
import { usd } from '../money/money.ts';
import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import { revokedWords } from '../reports/exports/index.ts';
import { folded } from '../terminal/index.ts';
import { counted } from '../text/counted.ts';
import { forTerminal } from '../text/safe-text.ts';
import type { Instant } from '../time/time.ts';
import type { Command, CommandContext } from './command.ts';
import { statusOfProject } from './status-now.ts';
import { unprovenLines, youngLines } from './unproven-lines.ts';

export const statusCommand: Command = {
  name: 'status',
  summary: 'Show whether the numbers can be trusted: completeness, freshness, unproven windows, the last run.',
  examples: ['costbook status', 'costbook status --json', 'costbook status --exit-code'],
  async run(input, context) {
    const { dir, env, effects } = context;
    const asked = read(options.status, input, context);
    const now = effects.now();
    const config = loadConfig({ dir, env, now, requireAccounts: false });
    const status = await statusOfProject(config, context);
    await context.answer(status, () => folded(describe(status, now, painter(asked.noColor, context)), context.layout));
    return asked.exitCode && !status.isTrustworthy ? exitCodes.unproven : exitCodes.done;
  },
};

/** Colors a text, or returns it unchanged. */
type Paint = (colour: 'green' | 'red' | 'yellow' | 'bold' | 'dim', text: string) => string;

/** Colors on a terminal that supports them, unless switched off (no-color.org). */
function painter(noColor: boolean, { env, isTerminal }: CommandContext): Paint {
  const isForced = !['', '0', undefined].includes(env['FORCE_COLOR']);
  const isRefused = Boolean(env['NO_COLOR']) || noColor;
  const hasColours = !isRefused && (isForced || (isTerminal && env['TERM'] !== 'dumb'));
  return (colour, text) => (hasColours ? styleText(colour, text, { validateStream: false }) : text);
}

/** A problem: its cause, what follows from it, and the next step. What the first line says already is not said again. */
function problemLines(problem: Problem, isSaid: boolean, paint: Paint): string[] {
  const { found, also, follows, next, isFailure } = problem;
  const causes = isSaid ? also : [found, ...also];
  return [
    ...causes.map((line) => paint(isFailure ? 'red' : 'yellow', `  - ${forTerminal(line)}`)),
    ...follows.map((words) => `    So: ${forTerminal(words)}`),
    `    ${forTerminal(nextWords(next))}`,
  ];
}

const alertsShown = 5;

/** The open alerts, most severe first, without those that are shown above. */
function alertLines(status: Status, place: Parameters<typeof aboveWords>[2], paint: Paint): string[] {
  const { critical, messagesWaiting, list } = status.alerts;
  const waiting = messagesWaiting === 0 ? '' : `; ${counted(messagesWaiting, 'undelivered message')}`;
  if (list.length === 0) return waiting === '' ? [] : ['', paint('yellow', `no open alerts${waiting}`)];
  const above = new Set(keysOf(status.problems));
  const others = list.filter(({ key }) => !above.has(key));
  const shownAbove = aboveWords(list.length, list.length - others.length, place);
  const where = others.length === 0 ? '' : '. What to do: "costbook alerts --open"';
  const head = `${countWords(list)}${shownAbove}${waiting}${where}`;
  return [
    '',
    paint(critical > 0 || messagesWaiting > 0 ? 'yellow' : 'dim', head),
    ...others
      .slice(0, alertsShown)
      .map(({ icon, title, asOf }) => forTerminal(`  ${icon} ${title}${datedWords(asOf, status)}`)),
    ...(others.length > alertsShown ? [`  and ${others.length - alertsShown} more`] : []),
  ];
}

/** The date of amounts that are older than the books. */
function datedWords(asOf: string | undefined, { accounts }: Status): string {
  const isOld = asOf !== undefined && accounts.every(({ completeThrough }) => completeThrough !== asOf);
  return isOld ? ` (as of ${asOf})` : '';
}

const proven = 'The books are proven and fresh.';
const notProven = 'not everything in the books is proven and fresh';

/** What is worst in books that cannot be trusted; undefined if they can. */
function worstOf({ isTrustworthy, problems }: Status): Problem | undefined {
  if (isTrustworthy) return undefined;
  return problems.find(({ isUntrusted, headline }) => isUntrusted || headline !== undefined) ?? problems[0];
}

/** The answer to the question whether the numbers can be trusted. */
function headline(status: Status, paint: Paint): string {
  const { isTrustworthy, problems, alerts } = status;
  if (!isTrustworthy) {
    const worst = worstOf(status);
    return paint('red', paint('bold', forTerminal(`NO: ${asSentence(worst?.headline ?? worst?.found ?? notProven)}`)));
  }
  // Who reads the first line alone must not think that all is well.
  const unchecked = alerts.list.filter(({ cannotRun }) => cannotRun).length;
  const urgent = [
    ...(unchecked > 0 ? [`${counted(unchecked, 'check')} cannot run`] : []),
    ...(problems.some(({ key }) => key === 'run/ingest') ? ['the last ingest failed'] : []),
    ...alerts.list.filter(({ severity, cannotRun }) => severity === 'critical' && !cannotRun).map(({ title }) => title),
  ];
  if (urgent.length > 0) return paint('red', paint('bold', `ALERT: ${firstWords(urgent)} ${proven}`));
  const toDo = problems.filter(({ next }) => next.who === 'Act').map(({ found }) => found);
  if (toDo.length > 0) return paint('yellow', paint('bold', `ALERT: ${firstWords(toDo)} ${proven}`));
  const warnings = alerts.list
    .filter(({ severity, needsNothing }) => severity === 'warning' && !needsNothing)
    .map(({ title }) => title);
  return warnings.length > 0
    ? paint('yellow', paint('bold', `YES, with a warning: ${firstWords(warnings)} ${proven}`))
    : paint('green', paint('bold', 'YES: everything in the books is proven and fresh.'));
}

/** The first of several findings, and how many more there are, as a sentence. */
function firstWords([first = '', ...others]: readonly string[]): string {
  return forTerminal(
    asSentence(`${asClause(first)}${others.length === 0 ? '' : ` (and ${others.length} more to act on)`}`),
  );
}

function describe(status: Status, now: Instant, paint: Paint): string {
  const { accounts, closed, moved, revokedExports: revoked, lastRun, freshnessHours, restated } = status;
  // The first line names critical alerts: messages that wait, and the like, come after them.
  const areAlertsFirst = status.isTrustworthy && status.alerts.critical > 0;
  const isAfter = ({ isFailure }: Problem) => areAlertsFirst && !isFailure;
  const worst = worstOf(status);
  const isSaid = (problem: Problem) => problem === worst && (problem.headline ?? problem.found) === problem.found;
  // What the first line says comes right below it.
  const problems = status.problems.toSorted((a, b) => Number(isSaid(b)) - Number(isSaid(a)));
  const [after, before] = [true, false].map((side) =>
    problems
      .filter((problem) => isAfter(problem) === side)
      .flatMap((problem) => problemLines(problem, isSaid(problem), paint)),
  ) as [string[], string[]];
  const lines = [
    headline(status, paint),
    ...before,
    ...alertLines(status, after.length === 0 ? 'above' : before.length === 0 ? 'below' : 'above and below', paint),
    ...(after.length === 0 ? [] : ['', ...after]),
  ];
  for (const account of accounts) {
    const { completeThrough, settledThrough } = account;
    const tooOld = account.isTooOld && account.isConfigured;
    lines.push(
      '',
      paint('bold', forTerminal(`${account.account}${account.name === null ? '' : ` (${account.name})`}`)),
      `  complete through   ${completeThrough ?? 'nothing yet'}` +
        `${completeThrough === null ? '' : paint('dim', `  ${tooOld ? ageBeyond(completeThrough, now, freshnessHours) : age(completeThrough, now)} ago`)}` +
        `${tooOld ? paint('red', '  TOO OLD') : ''}` +
        `${account.isConfigured ? '' : '  (no longer in costbook.yaml)'}`,
      `  settled through    ${settledThrough ?? 'nothing yet'}`,
      `  first hour         ${account.firstCovered ?? 'nothing yet'}`,
      `  last read as       ${account.role ?? 'not known yet'}`,
    );
    if (Number(account.unknownWorkspaceCost) !== 0) {
      lines.push(`  workspace unknown  ${account.unknownWorkspaceCost} USD (rows without uuid, fetched as member)`);
    }
    lines.push(...resourceLines(account, status.alerts).map((line) => forTerminal(line)));
    if (account.unproven.length === 0) lines.push(`  unproven           ${paint('green', 'nothing')}`);
    lines.push(...unprovenLines(account.unproven).map((line) => paint('red', line)));
    lines.push(...youngLines(account.postponed).map((line) => paint('yellow', line)));
    if (account.lastRun !== null && account.lastRun.exitCode !== 0) {
      const { exitCode } = account.lastRun;
      if (accounts.length > 1) lines.push(`  last run           ${paint('red', 'FAILED')}, exit ${exitCode}`);
    }
  }
  lines.push('');
  if (status.begun !== null) lines.push(`books begun at ${status.begun}`);
  if (closed !== null) lines.push(`closed through ${closed.month}, last close at ${closed.closedAt}`);
  for (const { month, cost, corrections, billed } of moved) {
    if (status.alerts.list.some(({ key }) => key.startsWith('closed_month/') && key.endsWith(`/${month}`))) continue;
    const parts =
      billed.length > 1 ? billed.map((one) => `${one.month} (${usd(one.cost, true)})`) : billed.map((one) => one.month);
    const rows = `${counted(corrections, 'correction')}, billed in ${parts.join(', ')}`;
    lines.push(`  ${month} changed by ${usd(cost, true)} since its close: ${rows}`);
  }
  const revoke = revokedWords(revoked);
  if (revoke !== undefined) lines.push(revoke);
  if (restated.hours > 0) {
    const hours = counted(restated.hours, 'hourly cost');
    const but =
      closed === null ? 'All numbers include it' : 'Open months include it, and closed months stay as they were closed';
    const parts = restated.months.map(({ month, cost }) => `${usd(cost, true)} in ${month}`).join(', ');
    lines.push(
      `in the last ${restatedDays} days the platform corrected ${hours}: ${parts}. ${but} ("costbook restatements" lists them). What of it is unusual is an alert`,
    );
  }
  if (lastRun !== null && (lastRun['outcome'] !== 'running' || status.unended === null))
    lines.push(
      lastRunLine(
        lastRun,
        status.unstored.length > 0 || status.unended !== null
          ? 'a later run is not in the books; the last one there,'
          : 'last run',
        accounts.some(({ unproven }) => unproven.length > 0),
        paint,
      ),
    );
  return `${lines.join('\n')}\n`;
}

/** The parts of the costs of 30 days, by what gave them their owners. */
const sourceWords = { labels: 'labels', mounts: 'mounts', names: 'name rules', default: 'default' } as const;
const workspacesShown = 3;

/** What listings explain of an account's costs. */
function resourceLines({ account, resources }: Status['accounts'][number], { list }: Status['alerts']): string[] {
  if (resources === null) return [];
  const { expected, listed, listedAt, hasRules, bySource, neverListed } = resources;
  const parts = Object.entries(sourceWords).flatMap(([source, words]) => {
    const cost = bySource[source as keyof typeof bySource];
    return Number(cost) === 0 ? [] : [`${usd(cost)} by ${words}`];
  });
  const named = neverListed.map(({ workspace, cost }) => `${workspace ?? 'no workspace'} ${usd(cost)}`);
  const more = named.length > workspacesShown ? ` and ${named.length - workspacesShown} more` : '';
  const isPartOld = list.some(({ key }) => key === `listings/${account}`);
  return [
    listedAt === null
      ? `  resources          ${isPartOld ? 'no listing could be read' : 'not listed, as inventory is off or has just been turned on'}: names of people, labels and states are unknown`
      : `  resources          ${listed} of ${counted(expected, 'resource')} with costs listed, ${isPartOld ? 'some by an older listing, which the alert names; the others' : 'last'} at ${listedAt}`,
    ...(parts.length === 0
      ? []
      : [`  owners, 30 days    ${hasRules ? parts.join(', ') : 'none: no allocation rules'}`]),
    ...(named.length === 0
      ? []
      : [`  never listed       ${named.slice(0, workspacesShown).join(', ')}${more}: see docs/allocation.md`]),
  ];
}

/** How the last run ended; a refused close changed nothing and is not shown as a failure. */
function lastRunLine(run: NonNullable<Status['lastRun']>, which: string, hasUnproven: boolean, paint: Paint): string {
  const [command, outcome] = [String(run['command']), String(run['outcome'])];
  const exitCode = run['exitCode'] === null ? null : Number(run['exitCode']);
  const isRefused = isRefusedClose({ command, outcome, exitCode });
  const words =
    `${which} ${run['runNumber']} (${command}) ${isRefused ? 'refused' : outcome === 'interrupted' ? 'killed' : outcome} at ${run['endedAt'] ?? run['startedAt']}` +
    `, exit ${exitCode ?? 'not yet'}${isRefused ? `: ${forTerminal(firstOf(run.failures))}` : exitCode === exitCodes.undelivered ? ': only a message was not delivered' : exitCode === exitCodes.unproven && hasUnproven ? ': the hours above differ' : ''}`;
  return outcome === 'done' || isRefused ? words : paint('red', words);
}
