import { join } from 'node:path';
import { type AnomalyFact, anomalyFacts, readFeedback, readKnownAnomalies } from '../anomalies/index.ts';
import { MachineError } from '../base/errors.ts';
import { failuresOf, shortly } from '../base/failure.ts';
import { formatInstant, hourMs, type Instant } from '../time/time.ts';
import {
  type CheckResult,
  completeness,
  contradictions,
  lastClocks,
  readChecks,
  unprovenText,
  unprovenWindows,
} from '../warehouse/ledger/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { AnswerCache, Connection } from '../warehouse/store/index.ts';
import type { OutOfDate } from './finding.ts';
import { heldFacts, readRows } from './held.ts';
import { type AccountState, type CheckState, outOfDateIn, throughOf, type World } from './kind.ts';
import { type AlertFact, type DataFact, dataKindOf } from './kinds/index.ts';
import { alertKey, diskKey } from './kinds/run.ts';
import { shownWithOthers } from './same-budget.ts';
import { withUsualCosts } from './usual-costs.ts';

/** What the books say of an account: through when it is complete, and the windows that are unproven for good. */
export type BooksOfAccount = Pick<AccountState, 'account' | 'completeThrough' | 'unproven'>;

/** What readAccounts needs to know besides the books. */
interface AccountsAsked {
  readonly now: Instant;
  readonly freshnessHours: number;
  readonly configured: readonly string[];
  readonly cache?: AnswerCache | undefined;
  /** What the command has read already. */
  readonly known?: readonly BooksOfAccount[] | undefined;
}

export async function readAccounts(
  connection: Connection,
  { now, freshnessHours, configured, cache, known }: AccountsAsked,
): Promise<readonly AccountState[]> {
  const clocks = await lastClocks(connection);
  return (known ?? (await booksOfAccounts(connection, cache))).map(({ account, completeThrough, unproven }) => ({
    ...{ account, completeThrough, unproven },
    isConfigured: configured.length === 0 || configured.includes(account),
    isTooOld: completeThrough === null || Date.parse(completeThrough) < now - freshnessHours * hourMs,
    clock: clockOf(clocks.find((clock) => clock.account === account)),
  }));
}

async function booksOfAccounts(connection: Connection, cache?: AnswerCache): Promise<readonly BooksOfAccount[]> {
  const found: BooksOfAccount[] = [];
  for (const { account, completeThrough } of await completeness(connection, cache)) {
    const windows = [...(await unprovenWindows(connection, account)), ...(await contradictions(connection, account))];
    found.push({
      account,
      completeThrough: completeThrough === undefined ? null : formatInstant(completeThrough),
      // Young hours may still change; the next run fetches them again.
      unproven: windows.filter(({ isYoung }) => !isYoung).map(unprovenText),
    });
  }
  return found;
}

/** The accounts that should be up to date and are not, with what they usually cost. */
export async function readOutOfDate(connection: Connection, asked: AccountsAsked): Promise<OutOfDate> {
  const accounts = await withUsualCosts(connection, await readAccounts(connection, asked), asked.now, asked.cache);
  return outOfDateIn({ accounts, now: asked.now }, 'failed');
}

/** The project whose checks are run again: in a child process, as they may be the user's. */
export interface ProjectOfChecks {
  readonly dir: string;
  readonly signal: AbortSignal;
  /** How long a check may take, by default 20 seconds: if it takes longer, its alert stays open. */
  readonly timeoutMs?: number;
  /** What the command has read of the accounts already. */
  readonly accounts?: readonly BooksOfAccount[];
}

/** What the checks of open alerts find now. */
async function checkAgain(
  facts: readonly AlertFact[],
  { dir, signal, timeoutMs = 20_000 }: ProjectOfChecks,
): Promise<readonly CheckState[]> {
  const names = new Set(facts.flatMap((fact) => (fact.kind === 'check' ? [fact.check] : [])));
  if (names.size === 0) return [];
  const checks = (await readChecks(join(dir, 'sql'))).filter(({ name }) => names.has(name));
  const { runChecks } = await import('../query/index.ts');
  return (await runChecks(dir, checks, { signal, timeoutMs })).map(checkState);
}

/** Open alerts compared with the books as they are now. */
export interface CurrentCauses {
  /** The keys of those whose cause is gone: the next evaluation ends them. */
  readonly ended: ReadonlySet<string>;
  /** What the next evaluation would report of an alert, where commands since may have made its words wrong. */
  readonly facts: ReadonlyMap<string, AlertFact>;
}

/**
 * Which open alerts have lost their cause: the command has succeeded since, the books are fresh or proven again, the
 * month was reopened, the check passes. And the present words of those about closed months and anomalies. Reads only
 * what these alerts need. Without a project, alerts of checks stay open.
 */
export async function currentCauses(
  connection: Connection,
  open: readonly AlertFact[],
  now: Instant,
  project?: ProjectOfChecks,
): Promise<CurrentCauses> {
  const facts = open
    .filter((fact) => dataKindOf(fact) !== undefined && !unrecordedKeys.includes(fact.key))
    .filter(({ kind }) => (kind !== 'check' && kind !== 'disk') || project !== undefined);
  const limits = facts.flatMap((fact) => (fact.kind === 'stale' ? [fact.freshnessHours] : []));
  const freshnessHours = limits.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...limits);
  const accounts = open.some(({ account, kind }) => account !== null || kind === 'run')
    ? await withUsualCosts(
        connection,
        (await readAccounts(connection, { now, freshnessHours, configured: [], known: project?.accounts })).map(
          outOfDateAsBefore(facts),
        ),
        now,
      )
    : [];
  const checks = project === undefined ? [] : await checkAgain(facts, project);
  const invoiceDays = facts.flatMap((fact) => (fact.kind === 'invoice' ? (fact.days ?? []) : []))[0];
  const world = { now, dir: project?.dir, accounts, freshnessHours, invoiceDays, completeThrough: null, checks };
  const rows = await readRows(connection, world, ({ name }) => facts.some(({ kind }) => kind === name));
  const held = heldFacts(rows, world);
  const heldKeys = new Set(held.map(({ key }) => key));
  const stored = new Map(facts.map((fact) => [fact.key, fact]));
  const current = [
    ...held
      .filter((fact) => dataKindOf(fact)?.isRefreshed === true)
      .map((fact) => refreshed(fact, stored.get(fact.key))),
    ...(open.some(({ kind }) => kind === 'anomaly') ? await anomaliesNow(connection, open, world) : []),
  ];
  const others = shownWithOthers(open);
  const besides = open.flatMap((fact) => (others.has(fact.key) ? [{ ...fact, shownIn: others.get(fact.key) }] : []));
  return {
    ended: new Set(facts.flatMap(({ key }) => (heldKeys.has(key) ? [] : [key]))),
    facts: new Map([...current, ...besides].map((fact) => [fact.key, fact as AlertFact])),
  };
}

/**
 * A finding of today, with what only an evaluation knows of it: its severity, and what it reported before. What the finding
 * itself no longer has, such as the step in which another run was killed, is gone.
 */
function refreshed(fact: DataFact, stored: AlertFact | undefined): DataFact {
  if (stored === undefined || stored.kind !== fact.kind) return fact;
  const { causes, changedFrom, reportedAmount, revision, severity } = stored as DataFact;
  const reported = { causes, changedFrom, reportedAmount, revision };
  const completeThrough = fact.completeThrough ?? stored.completeThrough;
  return { ...reported, ...fact, severity, completeThrough } as DataFact;
}

/** Books that were too old for an open alert are so until they have newer hours, whatever the limit was. */
function outOfDateAsBefore(open: readonly AlertFact[]): (account: AccountState) => AccountState {
  const late = open.flatMap((fact) => ('outOfDate' in fact ? fact.outOfDate : []));
  return (one) => ({
    ...one,
    // Only settings say which accounts are read: one that left them has no newer run.
    isConfigured: open.every(({ kind, account }) => kind !== 'account' || account !== one.account),
    isTooOld:
      one.isTooOld ||
      late.some(({ account, completeThrough }) => account === one.account && completeThrough === one.completeThrough),
  });
}

/** The anomalies of open alerts as the books have them now: an alert has the amount of its last message. */
async function anomaliesNow(
  connection: Connection,
  open: readonly AlertFact[],
  world: World,
): Promise<readonly AnomalyFact[]> {
  const known = new Map(
    open.flatMap((fact) => (fact.kind === 'anomaly' ? [[fact.key, { isOpen: true, fact }] as const] : [])),
  );
  const asked = new Set(
    [...known.values()].flatMap(({ fact }) => [fact.key, ...(fact.parts ?? []).map(({ key }) => key)]),
  );
  const rows = (await readKnownAnomalies(connection, '1970-01-01')).filter((row) => asked.has(row.anomaly_key));
  const evaluated = await connection.rows(await readSql('anomalies', 'evaluated'));
  // Of hours that were loaded later nobody knows whether they are usual.
  const throughs = new Map(evaluated.map((row) => [String(row['account']), Number(row['evaluated_through'])]));
  const now = anomalyFacts(rows, known, {
    ...{ notify: [], feedback: await readFeedback(connection) },
    completeThroughOf: (account) => {
      const [through, known] = [throughOf(world, account), throughs.get(account)];
      return through === null || known === undefined || known >= Date.parse(through) ? through : formatInstant(known);
    },
  });
  // What it does to budgets is known since its last message, and only of that day.
  return now.map((fact) => {
    const { owner, budgets, completeThrough } = known.get(fact.key)?.fact ?? {};
    const isSame = budgets !== undefined && completeThrough === fact.completeThrough;
    return { ...fact, ...(owner === undefined ? {} : { owner }), ...(isSame ? { budgets } : {}) };
  });
}

/** Alerts whose cause the books do not record: books that cannot be written, a full disk, files that "alert" could not read. */
const unrecordedKeys: readonly string[] = ['books', diskKey, alertKey];

export function checkState({ check: { name, about, severity }, offenders, error }: CheckResult): CheckState {
  const errorCode = error === undefined ? null : error instanceof MachineError ? 'machine' : 'sql';
  return {
    name,
    about,
    severity,
    offenders: offenders ?? null,
    error: error === undefined ? null : shortly(failuresOf(error)),
    errorCode,
  };
}

/** Both clocks, if ours was more than an hour ahead or behind. */
function clockOf(read: Awaited<ReturnType<typeof lastClocks>>[number] | undefined): AccountState['clock'] {
  if (read === undefined || Math.abs(read.aheadSeconds) * 1000 <= hourMs) return null;
  const { aheadSeconds, platformAt, localAt } = read;
  return { aheadSeconds, platformAt: formatInstant(platformAt), localAt: formatInstant(localAt) };
}
