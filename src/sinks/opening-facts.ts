import { difference, percentOf, plainUsd } from '../money/money.ts';
import { maxNameLength, oneLine } from '../text/safe-text.ts';
import { dayMs, formatInstant } from '../time/time.ts';
import type { CostSummary } from './cost-summary.ts';

/** The numbers of a summary, as text, which is all that a model gets. Names come from outside. */
export interface OpeningFacts {
  readonly period: string;
  readonly firstDay: string;
  readonly lastDay: string;
  readonly spentUsd: string | null;
  readonly spentBeforeUsd: string | null;
  readonly changeUsd: string | null;
  readonly changePercent: string | null;
  readonly largestChanges: readonly {
    readonly name: string;
    readonly beforeUsd: string;
    readonly nowUsd: string;
    readonly changeUsd: string;
  }[];
  readonly budgets: readonly {
    readonly name: string;
    readonly spentUsd: string | null;
    readonly budgetUsd: string;
    readonly usedPercent: string | null;
    readonly state: string | null;
  }[];
  readonly anomalies: {
    readonly open: string;
    readonly openImpactUsd: string;
    readonly ended: string;
    readonly endedImpactUsd: string;
  } | null;
  readonly isDataComplete: boolean;
}

/** More budgets tell no reader more. */
const maxBudgets = 20;

/** The numbers of a summary as a person would read them: to the cent, and percentages to a tenth. Pure. */
export function openingFacts(summary: CostSummary): OpeningFacts {
  const { name, start, end, spent, spentBefore, movers, budgets, anomalies, gaps } = summary;
  const isComparable = spent !== null && spentBefore !== null && gaps.length === 0;
  const moved = isComparable ? difference(spent, spentBefore) : undefined;
  return {
    period: name.slice(name.indexOf('/') + 1),
    firstDay: start.slice(0, 10),
    lastDay: formatInstant(Date.parse(end) - dayMs).slice(0, 10),
    spentUsd: spent === null ? null : amount(spent),
    spentBeforeUsd: spentBefore === null ? null : amount(spentBefore),
    changeUsd: moved === undefined ? null : change(moved),
    changePercent:
      moved === undefined || Number(spentBefore) <= 0 ? null : String(percentOf(moved, spentBefore ?? '0')),
    largestChanges: movers.map(({ name: mover, cost, costBefore }) => ({
      name: oneLine(mover, maxNameLength),
      beforeUsd: amount(costBefore),
      nowUsd: amount(cost),
      changeUsd: change(difference(cost, costBefore)),
    })),
    // A model reads USD here; budgets in other units are in the table below its text.
    budgets: budgets
      .filter(({ unit }) => unit === undefined)
      .slice(0, maxBudgets)
      .map(({ budget, spent: used, amount: whole, share, state }) => ({
        name: oneLine(budget, maxNameLength),
        spentUsd: used === null ? null : amount(used),
        budgetUsd: amount(whole),
        usedPercent: share,
        state,
      })),
    anomalies: anomalies && {
      open: String(anomalies.open),
      openImpactUsd: change(anomalies.openImpact),
      ended: String(anomalies.over),
      endedImpactUsd: change(anomalies.overImpact),
    },
    isDataComplete: gaps.length === 0,
  };
}

function amount(text: string): string {
  return plainUsd(text);
}

function change(text: string): string {
  return plainUsd(text, true);
}
