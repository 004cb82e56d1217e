import type { NextStep } from '../../base/next-step.ts';
import type { Driver } from '../../budgets/spend/index.ts';
import { centsAddingUp, sumOf, usd } from '../../money/money.ts';
import { counted } from '../../text/counted.ts';
import type { Instant } from '../../time/time.ts';
import {
  closeAgainStep,
  differingCloses,
  type MonthToClose,
  newTotal,
  type Reopening,
  readMonthsToClose,
  reopenAndClose,
} from '../../warehouse/ledger/index.ts';
import type { Connection } from '../../warehouse/store/index.ts';
import { driverList } from '../budget-words.ts';
import { type Finding, findingOf } from '../finding.ts';
import { type DataKind, throughOf } from '../kind.ts';
import { alertRows } from '../rows.ts';
import type { Words } from '../words.ts';

/** The costs of a closed month changed: the platform changed them, or the books lost what was closed. */
export interface ClosedMonthFact extends Finding<'closed_month'> {
  readonly month: string;
  /** Change since the close, USD, decimal text. Negative if the month costs less. */
  readonly cost: string;
  readonly corrections: number;
  /** The months that bill the corrections. */
  readonly deliveredIn: readonly string[];
  /** The change that each of these months bills, oldest first, USD as decimal text. Missing with `differs`, as the next two. */
  readonly billed?: readonly { readonly month: string; readonly cost: string }[] | undefined;
  /** The closed months from this one on, oldest first: reopened, the month itself can bill the change. */
  readonly reopen?: readonly string[] | undefined;
  /** The months to close after that, with their invoices. */
  readonly close?: readonly MonthToClose[] | undefined;
  /** The start of the month, if the books of the account begin later: it can be closed again only once they do not. */
  readonly since?: string | undefined;
  readonly drivers: readonly Driver[];
  /** Undefined while the month still has the numbers of its close, so that corrections bill the change. */
  readonly differs?: (Reopening & { readonly closedCost: string; readonly cost: string }) | undefined;
}

type Row = Omit<ClosedMonthFact, Exclude<keyof Finding, 'account'>> & { readonly account: string };

export const closedMonth: DataKind<ClosedMonthFact, Row> = {
  name: 'closed_month',
  read: (connection, { hours, known = [] }) => {
    // The open alert may be about any month.
    const isAny = known.some(({ isOpen, key }) => isOpen && key.startsWith('closed_month/'));
    return closedMonthsChanged(connection, isAny ? undefined : hours?.from);
  },
  findings: (rows, world) =>
    rows.map(({ account, ...moved }) => ({
      ...findingOf('closed_month', [account, moved.month], {
        account,
        severity: moved.differs === undefined ? 'warning' : 'critical',
        completeThrough: throughOf(world, account),
      }),
      // Reopening and closing later months can change who bills what while the sum stays the same.
      revision:
        moved.differs === undefined
          ? (moved.billed ?? []).map(({ month, cost }) => `${month} ${cost}`).join(', ')
          : `differs: ${moved.cost}`,
      ...moved,
    })),
  words: closedMonthWords,
  over: ({ account, month }) => ({
    title: `${month} of ${account} has no unbilled change any more`,
    sentences: ['It was reopened, its change was undone, or a later close has billed it.'],
  }),
  step: (fact) => (fact.differs === undefined ? stepAfterCorrections(fact) : closeAgainStep(fact.differs)),
  amount: ({ cost }) => cost,
  size: ({ cost }) => Math.abs(Number(cost)),
  isDated: true,
  isRefreshed: true,
  page: () => '/months',
};

/**
 * The closed months that changed: by corrections, or because the books no longer have what was closed. Before `from` the
 * books are those of the last evaluation, which compared them; undefined compares every month.
 */
async function closedMonthsChanged(connection: Connection, from: Instant | undefined): Promise<readonly Row[]> {
  const within = from === undefined ? undefined : { start: from, end: Number.POSITIVE_INFINITY };
  const differing = (await differingCloses(connection, within)).map(
    ({ account, month, closedCost, cost, ...rest }) => ({
      ...{ account, month, cost: rest.difference, corrections: 0, deliveredIn: [], drivers: [] },
      differs: { closedCost, cost, reopen: rest.reopen, close: rest.close },
    }),
  );
  const rows = await alertRows(connection, 'closed_months');
  const toClose = rows.length === 0 ? () => [] : await readMonthsToClose(connection);
  const moved = rows.map((row) => {
    const billed = JSON.parse(String(row['billed'])) as { readonly month: string; readonly cost: string }[];
    return {
      account: String(row['account']),
      month: String(row['month']),
      cost: String(row['cost']),
      corrections: Number(row['corrections']),
      deliveredIn: billed.map(({ month }) => month),
      billed,
      reopen: String(row['reopen']).split(','),
      close: toClose(String(row['month'])),
      ...(row['since'] === null ? {} : { since: String(row['since']) }),
      drivers: JSON.parse(String(row['drivers'])) as Driver[],
    };
  });
  const isDiffering = ({ account, month }: { account: string; month: string }) =>
    differing.some((each) => each.account === account && each.month === month);
  // What later closes have billed is nobody's concern any more.
  const isOver = (each: (typeof moved)[number]) => each.deliveredIn.every((month) => isBilled(each, month));
  return [...differing, ...moved.filter((each) => !isDiffering(each) && !isOver(each))];
}

/** Whether a month that bills corrections of an older one is closed too. */
function isBilled({ reopen = [] }: Pick<ClosedMonthFact, 'reopen'>, month: string): boolean {
  return reopen.includes(month);
}

/** Corrections need no step: an open month bills them when it is closed, and a closed one has billed a part of them. */
function stepAfterCorrections(fact: ClosedMonthFact): NextStep {
  const { month, deliveredIn } = fact;
  const closed = deliveredIn.filter((each) => isBilled(fact, each));
  const open = deliveredIn.filter((each) => !isBilled(fact, each));
  // The title has both amounts.
  const [billed, rest] =
    closed.length === 0
      ? ['', 'the difference']
      : [`the close of ${closed.join(', ')} shows a part as a correction, and `, 'the rest'];
  const will = `${billed}the close of ${open.join(', ')} will show ${rest} as a correction`;
  const shown = `${month} stays as it was closed; ${will}. "costbook restatements" lists what changed`;
  return { who: 'No action needed', words: `${shown}. ${inItsMonth(fact)}.` };
}

/** How the month itself bills the change: what else then moves to or from a month with an invoice needs a corrected invoice. */
function inItsMonth({ account, month, since, reopen = [month], close = [] }: ClosedMonthFact): string {
  const begin = since === undefined ? '' : `set since of ${account} to ${since}, run "costbook ingest", then `;
  const recipe = `${begin}run ${reopenAndClose(close.length === 0 ? { reopen } : { reopen, close })}`;
  const corrected = close.filter(({ invoices }) => invoices.some(({ invoiced }) => invoiced === newTotal));
  const months = corrected.map((one) => one.month).join(', ');
  if (corrected.length === 0) return `To have it in ${month} instead, ${recipe}`;
  const totals = corrected.flatMap(({ invoices }) => invoices.filter(({ invoiced }) => invoiced === newTotal));
  // Reopened, the month also bills what changed for other accounts.
  const accounts = [...new Set(totals.map((one) => one.account))];
  const whose = accounts.every((each) => each === account) ? months : `${months} for ${accounts.join(' and ')}`;
  return totals.length === 1
    ? `Only if the platform sends a corrected invoice of ${whose}: ${recipe}, with its total as ${newTotal}`
    : `Only if the platform sends corrected invoices of ${whose}: ${recipe}, with their totals as ${newTotal}`;
}

/** What each month bills, in cents that add up to the change. */
function billedCents({ billed = [], cost }: ClosedMonthFact): NonNullable<ClosedMonthFact['billed']> {
  const shown = centsAddingUp(
    billed.map((one) => one.cost),
    cost,
  );
  return billed.map(({ month }, index) => ({ month, cost: shown[index] ?? '0' }));
}

/** `: +5.00 USD in 2026-10 (closed), +3.01 USD in 2026-11 (open)`; empty if one month bills all, which the step names. */
function billedIn(fact: ClosedMonthFact): string {
  const state = (month: string) => (isBilled(fact, month) ? 'closed' : 'open');
  const parts = billedCents(fact).map(({ month, cost }) => `${usd(cost, true)} in ${month} (${state(month)})`);
  return parts.length > 1 ? `: ${parts.join(', ')}` : '';
}

/** `has changed by +8.01 USD since it was closed`; what closed months have billed is apart from what an open one will bill. */
function changedBy(fact: ClosedMonthFact): string {
  const { cost } = fact;
  const billed = billedCents(fact);
  const costOf = (parts: typeof billed) => sumOf(parts.map(({ cost }) => cost));
  const before = billed.filter(({ month }) => isBilled(fact, month));
  const later = billed.filter(({ month }) => !isBilled(fact, month));
  return before.length > 0 && later.length > 0
    ? `has changed since it was closed: ${usd(costOf(before), true)} billed, ${usd(costOf(later), true)} to come`
    : `has changed by ${usd(cost, true)} since it was closed`;
}

function closedMonthWords({ differs, ...fact }: ClosedMonthFact): Words {
  if (differs !== undefined) {
    return {
      title: `${fact.month} of ${fact.account} no longer matches its close: closed with ${usd(differs.closedCost)}, now ${usd(differs.cost)}`,
      sentences: [
        `Do not use its costs, or corrections in later months, until ${differs.reopen.length === 0 ? 'its missing hours are fetched' : 'the month is closed'} again.`,
      ],
    };
  }
  return {
    title: `${fact.month} of ${fact.account} ${changedBy(fact)}`,
    sentences: [
      `The platform corrected ${counted(fact.corrections, 'hourly cost')}${billedIn(fact)}. The exports of ${fact.month} do not change.`,
    ],
    list: driverList('Largest changes', fact.drivers, { isSigned: true }),
  };
}
