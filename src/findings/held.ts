import type { Severity } from '../base/severity.ts';
import { moneyOf, usd } from '../money/money.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { KnownAlert } from '../warehouse/watch/index.ts';
import { nightsCause, outOfDateCause } from './causes.ts';
import { throughOf, type World } from './kind.ts';
import { type AlertFact, type AnyKind, type DataFact, dataKindOf, dataKinds, parseFact } from './kinds/index.ts';

/** Severities by kind that override the defaults. */
export type Severities = Readonly<Partial<Record<DataFact['kind'], Severity>>>;

/** What the books say to each kind. */
export type RowsOfKinds = Readonly<Partial<Record<DataFact['kind'], readonly unknown[]>>>;

/** Reads what the books say about these kinds, by default about all. */
export async function readRows(
  connection: Connection,
  world: World,
  isRead: (kind: AnyKind) => boolean = () => true,
): Promise<RowsOfKinds> {
  const rows: Partial<Record<DataFact['kind'], readonly unknown[]>> = {};
  for (const kind of dataKinds) if (kind.read && isRead(kind)) rows[kind.name] = await kind.read(connection, world);
  return rows;
}

/** All current findings about the data. Pure. */
export function heldFacts(rows: RowsOfKinds, world: World): DataFact[] {
  return dataKinds.flatMap((kind) => kind.findings(rows[kind.name] ?? [], world));
}

/**
 * The current findings about the data, and an ending one for every open alert that no longer applies. One cause gives one
 * finding: a consequence of another one is left out, unless its alert is already open. Pure.
 */
export function dataFacts(
  rows: RowsOfKinds,
  world: World,
  known: readonly KnownAlert[],
  severities: Severities = {},
): DataFact[] {
  const openFacts = new Map(known.flatMap((alert) => (alert.isOpen ? [[alert.key, parseFact(alert.fact)]] : [])));
  const all = heldFacts(rows, world);
  const held = all.flatMap((fact) => {
    const open = openFacts.get(fact.key);
    const follows = dataKindOf(fact)?.follows?.(fact, all) ?? false;
    if (open === undefined && follows) return [];
    return [{ ...withNews(fact, open, follows), severity: severities[fact.kind] ?? fact.severity }];
  });
  const keys = new Set(held.map(({ key }) => key));
  const over = [...openFacts].flatMap(([key, fact]): DataFact[] =>
    keys.has(key) || fact.kind === 'budget' || fact.kind === 'anomaly' ? [] : [overFact(fact, world)],
  );
  return [...held, ...over];
}

/** The ending of a finding that no longer applies: resolved, or withdrawn if it is no longer evaluated. */
function overFact(fact: DataFact, world: World): DataFact {
  const isKnown = fact.account === null || world.accounts.some(({ account }) => account === fact.account);
  const isLookedFor = dataKindOf(fact)?.isLookedFor?.(fact, world) ?? isKnown;
  const completeThrough = fact.account === null ? world.completeThrough : throughOf(world, fact.account);
  return { ...fact, state: isLookedFor ? 'resolved' : 'withdrawn', completeThrough };
}

/** The most causes to store. A cause older than these may be reported again. */
const maxCauses = 100;

/** An amount is news again once it has doubled and grown by so much, in trillionths of a USD. */
const leastGrowth = moneyOf('5');

/**
 * Marks what is new in a fact compared with its open alert: a cause that was not reported since the alert was raised, or an
 * amount at least twice the one reported last. A cause that returns is not new. Neither is a consequence of another alert. Pure.
 */
export function withNews<T extends DataFact>(fact: T, open: AlertFact | undefined, isConsequence: boolean): T {
  const kind = dataKindOf(fact);
  const now = kind?.causes?.(fact) ?? [];
  if (open === undefined || open.kind !== fact.kind) return now.length === 0 ? fact : { ...fact, causes: now };
  const before = (open as DataFact).causes ?? kind?.causes?.(open as DataFact) ?? [];
  const added = isConsequence ? [] : now.filter((cause) => !before.includes(cause));
  if (now.length === 0 && before.length === 0) return fact;
  const [amount, reported] = [
    kind?.amount?.(fact),
    (open as DataFact).reportedAmount ?? kind?.amount?.(open as DataFact),
  ];
  const hasGrown = !isConsequence && isMuchMore(amount, reported);
  if (added.length === 0 && !hasGrown) {
    return { ...fact, causes: before, revision: open.revision, reportedAmount: reported };
  }
  const causes = [...before, ...added].slice(-maxCauses);
  const isOtherCause = added.some((cause) => cause !== outOfDateCause && cause !== nightsCause);
  const changedFrom = isOtherCause
    ? (kind?.causeWords?.(open as DataFact) ?? '')
    : hasGrown
      ? usd(reported ?? '0')
      : undefined;
  return {
    ...fact,
    causes,
    revision: `${Number.parseInt(open.revision ?? '1', 10) + 1 || 2} ${[...added, ...(hasGrown ? [amount] : [])].join(', ')}`,
    changedFrom,
    reportedAmount: amount,
  };
}

/** Whether the size of an amount is much larger: a difference may be below zero. */
function isMuchMore(amount: string | undefined, reported: string | undefined): boolean {
  if (amount === undefined || reported === undefined) return false;
  const [now = 0n, before = 0n] = [amount, reported].map((text) => moneyOf(text)).map((one) => (one < 0n ? -one : one));
  return now >= 2n * before && now - before >= leastGrowth;
}
