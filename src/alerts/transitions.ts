import { exitCodes } from '../errors.ts';
import type { Severity } from '../severity.ts';
import { formatInstant, type Instant } from '../time.ts';
import type { EndedAlert, Evaluation, KnownAlert, RaisedAlert } from '../warehouse/index.ts';
import type {
  AlertFact,
  BudgetAlertFact,
  CheckFact,
  ClockFact,
  ClosedMonthFact,
  DataFact,
  DimensionFact,
  RunFact,
} from './alert-facts.ts';
import { withNews } from './causes.ts';
import { largestDifference, monthsTouched } from './unproven.ts';

/** One thing that happened to an alert and that its sinks are told. */
export interface AlertEntry {
  readonly key: string;
  readonly occurrence: number;
  /**
   * reminded: it was acknowledged until now, and still holds. open: it was raised earlier, before this sink was to be
   * notified.
   */
  readonly transition: 'raised' | 'reminded' | 'open' | 'resolved';
  readonly fact: AlertFact;
  /** When it was raised; only of what was open before. */
  readonly since?: string | undefined;
}

/** What an evaluation comes to: what changes in the ledger, and what is told to whom. */
export interface Transitions {
  readonly raised: readonly RaisedAlert[];
  readonly ended: readonly EndedAlert[];
  readonly notified: Evaluation['notified'];
  readonly acknowledged: readonly string[];
  readonly entries: readonly { readonly entry: AlertEntry; readonly sinks: readonly string[] }[];
}

/** Alerts of a budget's period that is over for so long lapse: nothing changes in it any more that would be told. */
const lapseDays = 62;
const dayMs = 86_400_000;

/**
 * What becomes of alerts by facts. Each sink is notified of each crossing once: of a fact that is open already again only
 * where its revision differs, and of one that was resolved when it is raised again. A sink that came later gets what is
 * open. Where there is no fact for an open alert nothing is known, and it stays open. `everybody` are the sinks of facts
 * that name none. Pure.
 */
export function transitionsOf(
  known: readonly KnownAlert[],
  facts: readonly AlertFact[],
  { now, everybody }: { readonly now: Instant; readonly everybody: readonly string[] },
): Transitions {
  const raised: RaisedAlert[] = [];
  const ended: EndedAlert[] = [];
  const notified = new Map<string, Evaluation['notified'][number]>();
  const entries: { entry: AlertEntry; sinks: readonly string[] }[] = [];
  const byKey = new Map(known.map((alert) => [alert.key, alert]));
  const factsByKey = new Map(facts.map((fact) => [fact.key, fact]));
  const acknowledged = known.flatMap(({ key, acknowledgedUntil }) =>
    acknowledgedUntil !== undefined && acknowledgedUntil <= now ? [key] : [],
  );

  function sinksOf({ notify }: AlertFact): string[] {
    return [...new Set(notify.length > 0 ? notify : everybody)];
  }
  function raise(fact: AlertFact, before: KnownAlert | undefined): void {
    const isSilent = before?.acknowledgedUntil !== undefined && before.acknowledgedUntil > now;
    const occurrence = (before?.occurrence ?? 0) + 1;
    const { key, kind, account, severity } = fact;
    const sinks = sinksOf(fact);
    raised.push({ key, occurrence, kind, account, severity, fact: JSON.stringify(fact), sinks, isNotified: !isSilent });
    if (!isSilent) entries.push({ entry: { key, occurrence, transition: 'raised', fact }, sinks });
  }
  function end(alert: KnownAlert, ending: EndedAlert['ending'], fact: AlertFact): void {
    ended.push({ key: alert.key, occurrence: alert.occurrence, ending, fact: JSON.stringify(fact) });
  }

  /** Notifies the sinks that an open alert did not have yet; nobody while it is acknowledged. */
  function share({ key, occurrence, sinks, acknowledgedUntil, raisedAt }: KnownAlert, fact: AlertFact): void {
    const added = sinksOf(fact).filter((sink) => !sinks.includes(sink));
    if (added.length === 0 || (acknowledgedUntil !== undefined && acknowledgedUntil > now)) return;
    notified.set(key, { key, occurrence, sinks: [...sinks, ...added] });
    const since = formatInstant(raisedAt);
    entries.push({ entry: { key, occurrence, transition: 'open', fact, since }, sinks: added });
  }

  for (const fact of factsByKey.values()) {
    const before = byKey.get(fact.key);
    const open = before?.isOpen === true ? before : undefined;
    if (fact.state === 'raised') {
      if (open === undefined) {
        raise(fact, before);
        continue;
      }
      if (fact.revision !== parseFact(open.fact).revision) {
        // While it is acknowledged it stays as it was reported, so that its end is reported as well.
        if (open.acknowledgedUntil !== undefined && open.acknowledgedUntil > now) continue;
        end(open, 'superseded', fact);
        raise(fact, open);
        continue;
      }
      if (acknowledged.includes(open.key) || (!open.isNotified && open.acknowledgedUntil === undefined)) {
        const { key, occurrence, sinks, isNotified } = open;
        if (!isNotified) notified.set(key, { key, occurrence, sinks });
        entries.push({ entry: { key, occurrence, transition: isNotified ? 'reminded' : 'raised', fact }, sinks });
      }
      share(open, fact);
    } else if (open !== undefined) {
      end(open, fact.state, fact);
      // Nobody is told the end of what nobody was told the beginning of.
      if (fact.state === 'resolved' && open.isNotified) {
        const { key, occurrence, sinks } = open;
        entries.push({ entry: { key, occurrence, transition: 'resolved', fact }, sinks });
      }
    }
  }
  for (const alert of known) {
    if (!alert.isOpen || ended.some(({ key }) => key === alert.key)) continue;
    const fact = factsByKey.get(alert.key) ?? parseFact(alert.fact);
    if (fact.kind === 'budget' && Date.parse(fact.periodEnd) + lapseDays * dayMs < now) end(alert, 'lapsed', fact);
    else if (!factsByKey.has(alert.key)) share(alert, fact);
  }
  return { raised, ended, notified: [...notified.values()], acknowledged, entries };
}

/** A fact as the ledger keeps it. */
export function parseFact(json: string): AlertFact {
  return JSON.parse(json) as AlertFact;
}

type LastRun = Pick<RunFact, 'command' | 'runNumber' | 'outcome' | 'exitCode' | 'error' | 'endedAt'>;

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
    readonly unproven: readonly {
      readonly start: string;
      readonly end: string;
      readonly reason: string;
      /** The largest difference in cost: USD, decimal text without sign; null where no cost differs. */
      readonly costDifference: string | null;
    }[];
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
  readonly runs: readonly LastRun[];
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

/** How severe an alert of each kind is, where somebody wants it otherwise. */
export type Severities = Readonly<Partial<Record<DataFact['kind'], Severity>>>;

/**
 * The facts about the data that hold, and for every open alert about the data that does not hold any more the fact that
 * says so. One cause is one fact: what only follows from another one is left out, unless it is open already. Pure.
 */
export function dataFacts(state: DataState, known: readonly KnownAlert[], severities: Severities = {}): DataFact[] {
  const openFacts = new Map(known.flatMap((alert) => (alert.isOpen ? [[alert.key, parseFact(alert.fact)]] : [])));
  const held = heldFacts(state).flatMap((fact) => {
    const open = openFacts.get(fact.key);
    const follows = isConsequence(fact, state);
    if (open === undefined && follows) return [];
    return [{ ...withNews(fact, open, follows), severity: severities[fact.kind] ?? fact.severity }];
  });
  const keys = new Set(held.map(({ key }) => key));
  const over = [...openFacts].flatMap(([key, fact]): DataFact[] =>
    keys.has(key) || fact.kind === 'budget' || fact.kind === 'anomaly' ? [] : [overFact(fact, state)],
  );
  return [...held, ...over];
}

/**
 * Whether another fact has the cause: old books after an ingest that failed, an ingest that failed for hours that differ
 * from the platform's totals, and another command that refuses to go on because of either.
 */
function isConsequence(fact: DataFact, state: DataState): boolean {
  const ingest = state.runs.find(({ command, outcome }) => command === 'ingest' && outcome !== 'done');
  if (fact.kind === 'stale') return ingest !== undefined;
  if (fact.kind !== 'run' || fact.exitCode !== exitCodes.unproven) return false;
  const windows = state.accounts.flatMap(({ unproven }) => unproven);
  if (fact.command !== 'ingest') return ingest !== undefined || windows.length > 0;
  return windows.some(({ reason }) => fact.error?.includes(reason));
}

function heldFacts(state: DataState): DataFact[] {
  return [
    ...state.accounts.flatMap((account) => accountFacts(account, state.freshnessHours)),
    ...state.checks.flatMap((check) => checkFact(check, state.completeThrough) ?? []),
    ...state.runs.flatMap((run) => runFact(run, state) ?? []),
    ...state.closedMonths.map((moved) => closedMonthFact(moved, throughOf(state, moved.account))),
    ...state.dimensions.map((dimension) => dimensionFact(dimension, throughOf(state, dimension.account))),
  ];
}

/** A fact that held and does not any more; withdrawn where nobody looks for it now. */
function overFact(fact: DataFact, state: DataState): DataFact {
  const account = state.accounts.find((candidate) => candidate.account === fact.account);
  function isLookedFor(): boolean {
    if (fact.kind === 'stale') return account?.isConfigured === true;
    if (fact.kind === 'check') return state.checks.some(({ name }) => name === fact.check);
    // Books of an older version have one of each month, in the place of which there is one of the account now.
    if (fact.kind === 'unproven' && (account?.unproven.length ?? 0) > 0) return false;
    return fact.account === null || account !== undefined;
  }
  const completeThrough = fact.account === null ? state.completeThrough : throughOf(state, fact.account);
  return { ...fact, state: isLookedFor() ? 'resolved' : 'withdrawn', completeThrough };
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
    ...(unproven.length === 0
      ? []
      : [
          {
            ...head,
            key: keyOf('unproven', account),
            kind: 'unproven' as const,
            severity: 'critical' as const,
            months: monthsTouched(unproven),
            difference: largestDifference(unproven) ?? null,
            count: unproven.length,
            windows: unproven.slice(0, windowsShown).map(({ start, end, reason }) => ({ start, end, reason })),
            outOfDate: isConfigured && isTooOld ? [{ account, completeThrough }] : [],
          },
        ]),
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

function runFact(run: LastRun, state: DataState): RunFact | undefined {
  if (run.outcome === 'done') return undefined;
  const outOfDate =
    run.command === 'ingest' ? state.accounts.filter(({ isConfigured, isTooOld }) => isConfigured && isTooOld) : [];
  return {
    key: keyOf('run', run.command),
    kind: 'run',
    account: null,
    severity: 'critical',
    notify: [],
    state: 'raised',
    completeThrough: state.completeThrough,
    outOfDate: outOfDate.map(({ account, completeThrough }) => ({ account, completeThrough })),
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
