import { UnprovenError } from '../base/errors.ts';
import { type NextStep, reducedAccessStep, reducedTotalsStep, renamedStep } from '../base/next-step.ts';
import { usd } from '../money/money.ts';
import type { ComparedTotals } from '../warehouse/load/index.ts';
import type { Role } from '../warehouse/page.ts';

/**
 * If the platform reports less than the books on this many days, or by this share of their cost, suspect reduced
 * access.
 */
export const accessDays = 3;
const accessShareOfDays = 0.8;
const accessShareOfCost = 0.7;

/** How a token has less access than the books show: the ingest needs a confirmation then. */
export interface ReducedAccess {
  readonly code: 'reduced_access' | 'reduced_totals' | 'renamed_workspaces';
  /** What was found, without the account and without a full stop. */
  readonly found: string;
  readonly next: NextStep;
}

/** How the role of a token is less than the one that fetched the books; undefined if it is not. Pure. */
export function reducedRole(before: Role | undefined, now: Role): ReducedAccess | undefined {
  if (before !== 'admin' || now === 'admin') return undefined;
  return {
    code: 'reduced_access',
    found: "the books were fetched with an admin token, and this token is a member's: it cannot see workspaces",
    next: reducedAccessStep,
  };
}

/** How the platform reports only a part of what the books have; undefined if it does not. Pure. */
export function reducedTotals(totals: ComparedTotals): ReducedAccess | undefined {
  const { ours, theirs, days, lowerDays, empty, workspacesGone, renames } = totals;
  const isLess = days >= accessDays && lowerDays >= days * accessShareOfDays && theirs < ours * accessShareOfCost;
  const isEmpty = empty.days >= accessDays;
  if (!isLess && !isEmpty && workspacesGone.length === 0) return undefined;
  if (!isLess && !isEmpty && workspacesGone.every((name) => renames.some(({ workspace }) => workspace === name))) {
    const names = renames.map(({ workspace, newName }) => `workspace ${workspace} is probably named ${newName} now`);
    const same = 'the platform reports the same cost on the same days under a name that the books do not have';
    return { code: 'renamed_workspaces', found: `${names.join(', ')}: ${same}`, next: renamedStep };
  }
  const found = isLess
    ? `over ${days} settled days with cost, the platform now reports ${usdOf(theirs)}, but the books have ` +
      `${usdOf(ours)} for the same days`
    : isEmpty
      ? `the platform no longer reports any cost on ${empty.days} settled days from ${empty.from} to ${empty.to}, for which the ` +
        `books have ${usdOf(empty.ours)}`
      : `the platform no longer reports any cost, on any settled day, for ${workspacesGone.join(', ')}`;
  return { code: 'reduced_totals', found, next: reducedTotalsStep };
}

/** A sum as every other surface shows it: two decimals of a double are 186.99 of 186.995. */
function usdOf(sum: number): string {
  return usd(sum.toFixed(12));
}

/**
 * Throws UnprovenError if an account was fetched as admin before and the token is now a member's: its new rows would
 * lose their workspaces, so a person has to confirm it.
 */
export function checkRoleChange(account: string, before: Role | undefined, now: Role, accepted: boolean): void {
  if (!accepted) refuse(account, reducedRole(before, now));
}

/** Throws UnprovenError if the platform shows only a part of what it showed before; renamed workspaces may be accepted alone. */
export function refuseReducedTotals(account: string, totals: ComparedTotals, areRenamesAccepted: boolean): void {
  const reduced = reducedTotals(totals);
  if (reduced?.code !== 'renamed_workspaces' || !areRenamesAccepted) refuse(account, reduced);
}

function refuse(account: string, reduced: ReducedAccess | undefined): void {
  if (reduced === undefined) return;
  const { code, found, next } = reduced;
  throw new UnprovenError(`account ${account}: ${found}. Nothing was changed.`, { code, next });
}
