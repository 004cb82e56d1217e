import type { Instant } from '../time.ts';
import type { EndedAlert, KnownAlert, RaisedAlert } from '../warehouse/index.ts';
import type { AnomalyFact } from './anomalies/index.ts';
import type { Severity } from './budget-file.ts';
import type { BudgetFact, Driver } from './budgets.ts';

/** What every fact about the data tells. */
interface DataFactHead {
  /** `stale/acc_main`: the same however often, and by whomever, it is evaluated. */
  readonly key: string;
  /** Null where it is about several accounts, or about none. */
  readonly account: string | null;
  readonly severity: Severity;
  /** Names of the sinks that are told; none where nobody else is named than everybody. */
  readonly notify: readonly string[];
  /** withdrawn: nobody asks for it any more, which is told to nobody. */
  readonly state: 'raised' | 'resolved' | 'withdrawn';
  /** Through when the books are complete: of the account, or of all. */
  readonly completeThrough: string | null;
  /** A raised fact with another revision than was told is told again. */
  readonly revision?: string | undefined;
}

/** The books of an account are complete through too long ago. */
export interface StaleFact extends DataFactHead {
  readonly kind: 'stale';
  readonly freshnessHours: number;
}

/** This machine's clock was ahead of the platform's when the account was read last. */
export interface ClockFact extends DataFactHead {
  readonly kind: 'clock';
  readonly aheadSeconds: number;
  readonly platformAt: string;
  readonly localAt: string;
}

/** Hours of an account in a month do not prove: what the platform tells of them contradicts itself. */
export interface UnprovenFact extends DataFactHead {
  readonly kind: 'unproven';
  readonly month: string;
  /** How many windows. */
  readonly count: number;
  /** The newest of them. */
  readonly windows: readonly { readonly start: string; readonly end: string; readonly because: string }[];
}

/** A check returned what should not be in the books. */
export interface CheckFact extends DataFactHead {
  readonly kind: 'check';
  readonly check: string;
  readonly about: string;
  /** Null where its SQL is wrong. */
  readonly offenders: number | null;
  readonly error: string | null;
}

/** The last run of a command failed. */
export interface RunFact extends DataFactHead {
  readonly kind: 'run';
  readonly command: string;
  readonly runNumber: number;
  readonly outcome: string;
  readonly exitCode: number | null;
  readonly error: string | null;
  readonly endedAt: string | null;
}

/** The platform tells something else of a closed month than when it was closed. */
export interface ClosedMonthFact extends DataFactHead {
  readonly kind: 'closed_month';
  readonly month: string;
  /** USD, decimal text: more than was closed, less where negative. */
  readonly cost: string;
  readonly corrections: number;
  readonly deliveredIn: readonly string[];
  readonly drivers: readonly Driver[];
}

/** Costs of a billing dimension that is not on the platform's own list. */
export interface DimensionFact extends DataFactHead {
  readonly kind: 'dimension';
  readonly dimension: string;
  readonly firstHour: string;
  /** USD so far, decimal text. */
  readonly cost: string;
}

/** A threshold of a budget. */
export type BudgetAlertFact = Omit<BudgetFact, 'state'> & {
  readonly state: BudgetFact['state'] | 'withdrawn';
  readonly revision?: string | undefined;
};

export type DataFact = StaleFact | ClockFact | UnprovenFact | CheckFact | RunFact | ClosedMonthFact | DimensionFact;
export type AlertFact = DataFact | BudgetAlertFact | AnomalyFact;
export type AlertKind = AlertFact['kind'];

/** One thing that happened to an alert and that its sinks are told. */
export interface AlertEntry {
  readonly key: string;
  readonly occurrence: number;
  /** reminded: it was acknowledged until now, and still holds. */
  readonly transition: 'raised' | 'reminded' | 'resolved';
  readonly fact: AlertFact;
}

/** What an evaluation comes to: what changes in the ledger, and what is told to whom. */
export interface Transitions {
  readonly raised: readonly RaisedAlert[];
  readonly ended: readonly EndedAlert[];
  readonly told: readonly { readonly key: string; readonly occurrence: number }[];
  readonly acknowledged: readonly string[];
  readonly entries: readonly { readonly entry: AlertEntry; readonly sinks: readonly string[] }[];
}

/** Alerts of a budget's period that is over for so long lapse: nothing changes in it any more that would be told. */
const lapseDays = 62;
const dayMs = 86_400_000;

/**
 * What becomes of alerts by facts. Each crossing is told once: a fact that is open already is told again only where its
 * revision differs, and one that was resolved when it is raised again. Where there is no fact for an open alert nothing
 * is known, and it stays open. `everybody` are the sinks that are told where a fact names none. Pure.
 */
export function transitionsOf(
  known: readonly KnownAlert[],
  facts: readonly AlertFact[],
  { now, everybody }: { readonly now: Instant; readonly everybody: readonly string[] },
): Transitions {
  const raised: RaisedAlert[] = [];
  const ended: EndedAlert[] = [];
  const told: { key: string; occurrence: number }[] = [];
  const entries: { entry: AlertEntry; sinks: readonly string[] }[] = [];
  const byKey = new Map(known.map((alert) => [alert.key, alert]));
  const factsByKey = new Map(facts.map((fact) => [fact.key, fact]));
  const acknowledged = known.flatMap(({ key, acknowledgedUntil }) =>
    acknowledgedUntil !== undefined && acknowledgedUntil <= now ? [key] : [],
  );

  function raise(fact: AlertFact, before: KnownAlert | undefined): void {
    const isSilent = before?.acknowledgedUntil !== undefined && before.acknowledgedUntil > now;
    const occurrence = (before?.occurrence ?? 0) + 1;
    const { key, kind, account, severity } = fact;
    const sinks = [...new Set(fact.notify.length > 0 ? fact.notify : everybody)];
    raised.push({ key, occurrence, kind, account, severity, fact: JSON.stringify(fact), sinks, isTold: !isSilent });
    if (!isSilent) entries.push({ entry: { key, occurrence, transition: 'raised', fact }, sinks });
  }
  function end(alert: KnownAlert, ending: EndedAlert['ending'], fact: AlertFact): void {
    ended.push({ key: alert.key, occurrence: alert.occurrence, ending, fact: JSON.stringify(fact) });
  }

  for (const fact of factsByKey.values()) {
    const before = byKey.get(fact.key);
    const open = before?.isOpen === true ? before : undefined;
    if (fact.state === 'raised') {
      if (open === undefined) raise(fact, before);
      else if (fact.revision !== parseFact(open.fact).revision) {
        // While it is acknowledged it stays as it was reported, so that its end is reported as well.
        if (open.acknowledgedUntil !== undefined && open.acknowledgedUntil > now) continue;
        end(open, 'superseded', fact);
        raise(fact, open);
      } else if (acknowledged.includes(open.key) || (!open.isTold && open.acknowledgedUntil === undefined)) {
        const { key, occurrence, sinks, isTold } = open;
        if (!isTold) told.push({ key, occurrence });
        entries.push({ entry: { key, occurrence, transition: isTold ? 'reminded' : 'raised', fact }, sinks });
      }
    } else if (open !== undefined) {
      end(open, fact.state, fact);
      // Nobody is told the end of what nobody was told the beginning of.
      if (fact.state === 'resolved' && open.isTold) {
        const { key, occurrence, sinks } = open;
        entries.push({ entry: { key, occurrence, transition: 'resolved', fact }, sinks });
      }
    }
  }
  for (const alert of known) {
    if (!alert.isOpen || ended.some(({ key }) => key === alert.key)) continue;
    const fact = factsByKey.get(alert.key) ?? parseFact(alert.fact);
    if (fact.kind === 'budget' && Date.parse(fact.periodEnd) + lapseDays * dayMs < now) end(alert, 'lapsed', fact);
  }
  return { raised, ended, told, acknowledged, entries };
}

/** A fact as the ledger keeps it. */
export function parseFact(json: string): AlertFact {
  return JSON.parse(json) as AlertFact;
}

/** What is known of the data, for facts about it. Instants are text, USD decimal text. */
export interface DataState {
  readonly accounts: readonly {
    readonly account: string;
    /** Of an account that the configuration no longer names nothing new is expected. */
    readonly isConfigured: boolean;
    readonly completeThrough: string | null;
    readonly isTooOld: boolean;
    /** Null where this machine's clock was not ahead of the platform's. */
    readonly clock: Pick<ClockFact, 'aheadSeconds' | 'platformAt' | 'localAt'> | null;
    /** Newest first. */
    readonly unproven: readonly { readonly start: string; readonly end: string; readonly because: string }[];
  }[];
  readonly freshnessHours: number;
  /** Through when all accounts are complete. */
  readonly completeThrough: string | null;
  readonly checks: readonly {
    readonly name: string;
    readonly about: string;
    readonly severity: 'fail' | 'warn';
    readonly offenders: number | null;
    readonly error: string | null;
  }[];
  /** The last run that is over, of each command that is watched. */
  readonly runs: readonly Pick<RunFact, 'command' | 'runNumber' | 'outcome' | 'exitCode' | 'error' | 'endedAt'>[];
  readonly closedMonths: readonly (Pick<
    ClosedMonthFact,
    'month' | 'cost' | 'corrections' | 'deliveredIn' | 'drivers'
  > & {
    readonly account: string;
  })[];
  readonly dimensions: readonly (Pick<DimensionFact, 'dimension' | 'firstHour' | 'cost'> & {
    readonly account: string;
  })[];
}

/** How many windows an alert shows; all are counted. */
const windowsShown = 3;

/**
 * The facts about the data that hold, and for every open alert about the data that does not hold any more the fact that
 * says so. Pure.
 */
export function dataFacts(state: DataState, known: readonly KnownAlert[]): DataFact[] {
  const held = [
    ...state.accounts.flatMap((account) => accountFacts(account, state.freshnessHours)),
    ...state.checks.flatMap((check) => checkFact(check, state.completeThrough) ?? []),
    ...state.runs.flatMap((run) => runFact(run, state.completeThrough) ?? []),
    ...state.closedMonths.map((moved) => closedMonthFact(moved, throughOf(state, moved.account))),
    ...state.dimensions.map((dimension) => dimensionFact(dimension, throughOf(state, dimension.account))),
  ];
  const keys = new Set(held.map(({ key }) => key));
  const over = known.flatMap((alert): DataFact[] => {
    const fact = alert.isOpen && !keys.has(alert.key) ? parseFact(alert.fact) : undefined;
    return fact === undefined || fact.kind === 'budget' || fact.kind === 'anomaly' ? [] : [overFact(fact, state)];
  });
  return [...held, ...over];
}

/** A fact that held and does not any more; withdrawn where nobody looks for it now. */
function overFact(fact: DataFact, state: DataState): DataFact {
  const account = state.accounts.find((candidate) => candidate.account === fact.account);
  const isAsked =
    fact.kind === 'stale'
      ? account?.isConfigured === true
      : fact.kind === 'check'
        ? state.checks.some(({ name }) => name === fact.check)
        : fact.account === null || account !== undefined;
  const completeThrough = fact.account === null ? state.completeThrough : throughOf(state, fact.account);
  return { ...fact, state: isAsked ? 'resolved' : 'withdrawn', completeThrough };
}

function throughOf(state: DataState, account: string): string | null {
  return state.accounts.find((candidate) => candidate.account === account)?.completeThrough ?? null;
}

function keyOf(...parts: readonly string[]): string {
  return parts.map((part) => encodeURIComponent(part)).join('/');
}

function accountFacts(
  { account, isConfigured, isTooOld, clock, completeThrough, unproven }: DataState['accounts'][number],
  freshnessHours: number,
): DataFact[] {
  const head = { account, notify: [], state: 'raised' as const, completeThrough };
  const months = [...new Set(unproven.map(({ start }) => start.slice(0, 7)))];
  return [
    ...(isConfigured && isTooOld
      ? [
          {
            ...head,
            key: keyOf('stale', account),
            kind: 'stale' as const,
            severity: 'critical' as const,
            freshnessHours,
          },
        ]
      : []),
    ...(clock === null
      ? []
      : [{ ...head, key: keyOf('clock', account), kind: 'clock' as const, severity: 'warning' as const, ...clock }]),
    ...months.map((month): UnprovenFact => {
      const windows = unproven.filter(({ start }) => start.startsWith(month));
      return {
        ...head,
        key: keyOf('unproven', account, month),
        kind: 'unproven',
        severity: 'critical',
        month,
        count: windows.length,
        windows: windows.slice(0, windowsShown),
      };
    }),
  ];
}

function checkFact(check: DataState['checks'][number], completeThrough: string | null): CheckFact | undefined {
  const { name, about, offenders, error } = check;
  if (offenders === 0 && error === null) return undefined;
  return {
    key: keyOf('check', name),
    kind: 'check',
    account: null,
    severity: check.severity === 'fail' || error !== null ? 'critical' : 'warning',
    notify: [],
    state: 'raised',
    completeThrough,
    check: name,
    about,
    offenders,
    error,
  };
}

function runFact(run: DataState['runs'][number], completeThrough: string | null): RunFact | undefined {
  if (run.outcome === 'done') return undefined;
  return {
    key: keyOf('run', run.command),
    kind: 'run',
    account: null,
    severity: 'critical',
    notify: [],
    state: 'raised',
    completeThrough,
    ...run,
  };
}

function closedMonthFact(
  { account, ...moved }: DataState['closedMonths'][number],
  completeThrough: string | null,
): ClosedMonthFact {
  return {
    key: keyOf('closed_month', account, moved.month),
    kind: 'closed_month',
    account,
    severity: 'warning',
    notify: [],
    state: 'raised',
    completeThrough,
    revision: moved.cost,
    ...moved,
  };
}

function dimensionFact(
  { account, ...dimension }: DataState['dimensions'][number],
  completeThrough: string | null,
): DimensionFact {
  return {
    key: keyOf('dimension', account, dimension.dimension),
    kind: 'dimension',
    account,
    severity: 'info',
    notify: [],
    state: 'raised',
    completeThrough,
    ...dimension,
  };
}

/**
 * Facts of budgets with those of open alerts that no budget asks for any more: the budget, or its threshold, was changed
 * or removed. Pure.
 */
export function withWithdrawn(
  facts: readonly BudgetAlertFact[],
  known: readonly KnownAlert[],
  isAsked: (fact: BudgetAlertFact) => boolean,
): BudgetAlertFact[] {
  const withdrawn = known.flatMap((alert): BudgetAlertFact[] => {
    const fact = alert.isOpen ? parseFact(alert.fact) : undefined;
    if (fact?.kind !== 'budget' || isAsked(fact)) return [];
    return [{ ...fact, state: 'withdrawn' }];
  });
  const gone = new Set(withdrawn.map(({ key }) => key));
  return [...facts.filter(({ key }) => !gone.has(key)), ...withdrawn];
}
