import { exitCodes } from '../base/errors.ts';
import { unprovenWindowCode } from '../base/failure.ts';
import type { Severity } from '../base/severity.ts';
import { formatInstant, type Instant } from '../time/time.ts';
import type { EndedAlert, Evaluation, KnownAlert, RaisedAlert, UnprovenText } from '../warehouse/index.ts';
import {
  type AlertFact,
  type BudgetAlertFact,
  type CheckFact,
  type ClockFact,
  type ClosedMonthFact,
  type DataFact,
  type DimensionFact,
  type InterfaceFact,
  type ListingsFact,
  parseFact,
  type RunFact,
  type UnprovenFact,
} from './alert-fact.ts';
import { withNews } from './causes.ts';
import { commandSinks } from './command-sink.ts';
import { coveredForecasts } from './covered-forecasts.ts';
import { largestDifference, monthsTouched } from './unproven-words.ts';

/** One change of an alert, to be sent to its sinks. */
export interface AlertEntry {
  readonly key: string;
  readonly occurrence: number;
  /**
   * reminded: its acknowledgement ended and it is still open. open: it was raised before this sink was added.
   */
  readonly transition: 'raised' | 'reminded' | 'open' | 'resolved';
  readonly fact: AlertFact;
  /** When it was raised; only for `open`. */
  readonly since?: string | undefined;
  /** What agents answered about it; only in a message on its way. */
  readonly answers?: readonly { readonly sink: string; readonly text: string }[] | undefined;
}

/** The result of an evaluation: changes of the ledger, and notifications. */
export interface Transitions {
  readonly raised: readonly RaisedAlert[];
  readonly ended: readonly EndedAlert[];
  readonly notified: Evaluation['notified'];
  readonly acknowledged: readonly string[];
  readonly entries: readonly { readonly entry: AlertEntry; readonly sinks: readonly string[] }[];
}

/** A budget alert lapses this long after its period ended: no later change would be reported. */
const lapseDays = 62;
/** It lapses this long after its period is complete: costs have settled by then, and its amount is out of date. */
const lapseCompleteDays = 3;
const dayMs = 86_400_000;

/** Whether a fact is about a period of a budget that is over, complete and settled. */
function isOfSettledPeriod(fact: AlertFact): boolean {
  if (fact.kind !== 'budget' || fact.completeThrough === null) return false;
  return Date.parse(fact.completeThrough) >= Date.parse(fact.periodEnd) + lapseCompleteDays * dayMs;
}

/**
 * Applies facts to the known alerts. Each sink is notified once when an alert is raised and once when it is resolved. An
 * open alert is reported again only if its revision differs. A sink that is added later gets the open alerts. A forecast
 * that the alert of an anomaly names already is raised without a notification. An open alert without a fact stays open,
 * because nothing is known. `everybody` are the default sinks. Pure.
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

  const covered = coveredForecasts(known, facts, { now, everybody });

  function sinksOf({ notify }: AlertFact): string[] {
    return [...new Set(notify.length > 0 ? notify : everybody)];
  }
  function raise(fact: AlertFact, before: KnownAlert | undefined): void {
    const isAcknowledged = before?.acknowledgedUntil !== undefined && before.acknowledgedUntil > now;
    const isSilent = isAcknowledged || covered.has(fact.key);
    const occurrence = (before?.occurrence ?? 0) + 1;
    const { key, kind, account, severity } = fact;
    const sinks = sinksOf(fact);
    raised.push({ key, occurrence, kind, account, severity, fact: JSON.stringify(fact), sinks, isNotified: !isSilent });
    if (!isSilent) {
      entries.push({
        entry: { key, occurrence, transition: 'raised', fact },
        sinks: [...sinks, ...commandSinks(fact)],
      });
    }
  }
  function end(alert: KnownAlert, ending: EndedAlert['ending'], fact: AlertFact): void {
    ended.push({ key: alert.key, occurrence: alert.occurrence, ending, fact: JSON.stringify(fact) });
  }

  /** Notifies sinks that were added since the alert was raised, unless it is acknowledged. */
  function share({ key, occurrence, sinks, acknowledgedUntil, raisedAt }: KnownAlert, fact: AlertFact): void {
    const added = sinksOf(fact).filter((sink) => !sinks.includes(sink));
    if (added.length === 0 || covered.has(key) || (acknowledgedUntil !== undefined && acknowledgedUntil > now)) return;
    notified.set(key, { key, occurrence, sinks: [...sinks, ...added] });
    const since = formatInstant(raisedAt);
    entries.push({ entry: { key, occurrence, transition: 'open', fact, since }, sinks: added });
  }

  for (const fact of factsByKey.values()) {
    const before = byKey.get(fact.key);
    const open = before?.isOpen === true ? before : undefined;
    if (fact.state === 'raised') {
      if (open === undefined) {
        // An alert that lapsed with its period is not raised again.
        const hasLapsed = before?.hasLapsed === true && isOfSettledPeriod(fact);
        if (!hasLapsed) raise(fact, before);
        continue;
      }
      if (isOfSettledPeriod(fact)) {
        end(open, 'lapsed', fact);
        continue;
      }
      if (fact.revision !== parseFact(open.fact).revision) {
        // An acknowledged alert does not change, so that its end is still reported.
        if (open.acknowledgedUntil !== undefined && open.acknowledgedUntil > now) continue;
        end(open, 'superseded', fact);
        raise(fact, open);
        continue;
      }
      const isDue = acknowledged.includes(open.key) || (!open.isNotified && open.acknowledgedUntil === undefined);
      if (isDue && (open.isNotified || !covered.has(open.key))) {
        const { key, occurrence, sinks, isNotified } = open;
        if (!isNotified) notified.set(key, { key, occurrence, sinks });
        const all = isNotified ? sinks : [...sinks, ...commandSinks(fact)];
        const transition = isNotified ? 'reminded' : 'raised';
        entries.push({ entry: { key, occurrence, transition, fact }, sinks: all });
      }
      share(open, fact);
    } else if (open !== undefined) {
      end(open, fact.state, fact);
      // Only sinks that were notified of the start are notified of the end.
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

type LastRun = Pick<
  RunFact,
  | 'command'
  | 'runNumber'
  | 'outcome'
  | 'exitCode'
  | 'error'
  | 'errorCode'
  | 'nextStep'
  | 'endedAt'
  | 'failingSince'
  | 'startedAs'
>;

/** The state of the data that facts are derived from. Instants are text; USD is decimal text. */
export interface DataState {
  readonly accounts: readonly {
    readonly account: string;
    /** False if the configuration no longer names the account: no new data is expected. */
    readonly isConfigured: boolean;
    readonly completeThrough: string | null;
    readonly isTooOld: boolean;
    /** Null unless this machine's clock was ahead of the platform's, or behind it. */
    readonly clock: Pick<ClockFact, 'aheadSeconds' | 'platformAt' | 'localAt'> | null;
    /** Newest first. */
    readonly unproven: readonly UnprovenText[];
  }[];
  readonly freshnessHours: number;
  /** Complete through, of all accounts. */
  readonly completeThrough: string | null;
  readonly checks: readonly {
    readonly name: string;
    readonly about: string;
    readonly severity: 'fail' | 'warn';
    readonly offenders: number | null;
    readonly error: string | null;
    readonly errorCode?: CheckFact['errorCode'];
  }[];
  /** The last finished run of each watched command. */
  readonly runs: readonly LastRun[];
  /** The listings that were not read in full. */
  readonly listings: readonly (ListingsFact['listings'][number] & { readonly account: string })[];
  readonly closedMonths: readonly (Pick<
    ClosedMonthFact,
    'month' | 'cost' | 'corrections' | 'deliveredIn' | 'billed' | 'reopen' | 'close' | 'drivers' | 'differs'
  > & {
    readonly account: string;
  })[];
  readonly dimensions: readonly (Pick<DimensionFact, 'dimension' | 'firstHour' | 'cost'> & {
    readonly account: string;
  })[];
  readonly interfaces: readonly (Pick<InterfaceFact, 'list' | 'name' | 'isMissing'> & { readonly account: string })[];
}

/** The check of listings; its rows have an alert of their own, which names the next step. */
const listingsCheck = 'listings_are_complete';

/** The check of closed months; a month that differs has an alert of its own, which names the next step. */
const closedMonthsCheck = 'closed_months_keep_their_numbers';

/** An alert shows this many windows and counts all. */
const windowsShown = 3;

/** Severities by kind that override the defaults. */
export type Severities = Readonly<Partial<Record<DataFact['kind'], Severity>>>;

/**
 * The current facts about the data, and an ending fact for every open alert that no longer applies. One cause gives one
 * fact: a consequence of another fact is left out, unless its alert is already open. Pure.
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
 * Whether a fact only follows from another: out-of-date books and unread listings after a failed ingest, the holes that
 * unproven windows leave, an ingest that failed because of them, or another command that refused because of either.
 */
function isConsequence(fact: DataFact, state: DataState): boolean {
  const ingest = state.runs.find(({ command, outcome }) => command === 'ingest' && outcome !== 'done');
  const windows = state.accounts.flatMap(({ unproven }) => unproven);
  if (fact.kind === 'stale') return ingest !== undefined;
  if (fact.kind === 'listings') return ingest !== undefined;
  if (fact.kind === 'check' && fact.error === null) {
    if (fact.check === 'coverage_has_no_hole') return windows.length > 0;
    if (fact.check === closedMonthsCheck) return state.closedMonths.some(({ differs }) => differs !== undefined);
    return fact.check === listingsCheck && (ingest !== undefined || state.listings.length > 0);
  }
  if (fact.kind !== 'run' || fact.exitCode !== exitCodes.unproven) return false;
  if (['damaged_file', 'changed_file'].includes(fact.errorCode ?? '')) return false;
  if (fact.command !== 'ingest') return ingest !== undefined || windows.length > 0;
  return fact.errorCode == null
    ? windows.some(({ reason }) => fact.error?.includes(reason))
    : windows.length > 0 && fact.errorCode === unprovenWindowCode;
}

/** All current facts about the data. Pure. */
export function heldFacts(state: DataState): DataFact[] {
  return [
    ...state.accounts.flatMap((account) => accountFacts(account, state.freshnessHours)),
    ...state.checks.flatMap((check) => checkFact(check, state.completeThrough) ?? []),
    ...state.runs.flatMap((run) => runFact(run, state) ?? []),
    ...listingsFacts(state),
    ...state.closedMonths.map((moved) => closedMonthFact(moved, throughOf(state, moved.account))),
    ...state.dimensions.map((dimension) => dimensionFact(dimension, throughOf(state, dimension.account))),
    ...state.interfaces.map((named) => interfaceFact(named, throughOf(state, named.account))),
  ];
}

/** The ending of a fact that no longer applies: resolved, or withdrawn if it is no longer evaluated. */
function overFact(fact: DataFact, state: DataState): DataFact {
  const account = state.accounts.find((candidate) => candidate.account === fact.account);
  function isLookedFor(): boolean {
    if (fact.kind === 'stale') return account?.isConfigured === true;
    if (fact.kind === 'check') return state.checks.some(({ name }) => name === fact.check);
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
            windows: mostUrgent(unproven),
            outOfDate: isConfigured && isTooOld ? [{ account, completeThrough }] : [],
          },
        ]),
  ];
}

/** The newest windows; the one that has failed for the most nights is among them, because it decides the next step. */
function mostUrgent(unproven: readonly UnprovenText[]): UnprovenFact['windows'] {
  const newest = unproven.slice(0, windowsShown);
  const [oldest] = unproven.toSorted((a, b) => (b.nights ?? 0) - (a.nights ?? 0));
  const shown = oldest === undefined || newest.includes(oldest) ? newest : [...newest.slice(0, -1), oldest];
  return shown.map(({ start, end, reason, nights }) => ({ start, end, reason, ...(nights ? { nights } : {}) }));
}

function checkFact(check: DataState['checks'][number], completeThrough: string | null): CheckFact | undefined {
  const { name, about, offenders, error, errorCode = null } = check;
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
    errorCode,
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

/** One alert for an account, however many of its listings could not be read. */
function listingsFacts(state: DataState): ListingsFact[] {
  const accounts = [...new Set(state.listings.map(({ account }) => account))];
  return accounts.map((account) => ({
    key: keyOf('listings', account),
    kind: 'listings',
    account,
    severity: 'warning',
    notify: [],
    state: 'raised',
    completeThrough: throughOf(state, account),
    listings: state.listings
      .filter((listing) => listing.account === account)
      .map(({ account: _, ...listing }) => listing),
  }));
}

function closedMonthFact(
  { account, ...moved }: DataState['closedMonths'][number],
  completeThrough: string | null,
): ClosedMonthFact {
  return {
    key: keyOf('closed_month', account, moved.month),
    kind: 'closed_month',
    account,
    severity: moved.differs === undefined ? 'warning' : 'critical',
    notify: [],
    state: 'raised',
    completeThrough,
    // Reopening and closing later months can change who bills what while the sum stays the same.
    revision:
      moved.differs === undefined
        ? (moved.billed ?? []).map(({ month, cost }) => `${month} ${cost}`).join(', ')
        : `differs: ${moved.cost}`,
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

function interfaceFact(
  { account, ...named }: DataState['interfaces'][number],
  completeThrough: string | null,
): InterfaceFact {
  return {
    key: keyOf('interface', account, named.list, named.name),
    kind: 'interface',
    account,
    // Without a dimension that Costbook groups by, the next windows cannot be fetched.
    severity: named.isMissing ? 'critical' : 'info',
    notify: [],
    state: 'raised',
    completeThrough,
    ...named,
  };
}

/**
 * Adds a withdrawn fact for every open alert whose budget or threshold was changed or removed. Pure.
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
