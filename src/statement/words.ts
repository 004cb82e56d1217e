import { ownerText } from '../reports/formats/index.ts';
import { maxNameLength, oneLine } from '../text/safe-text.ts';
import { formatMonth, monthName, shownInstant } from '../time/time.ts';
import type { StatementData } from './data.ts';

/** `Statement for October 2026, team payments`. */
export function titleOf({ month, owner, dimension }: Pick<StatementData, 'month' | 'owner' | 'dimension'>): string {
  const of = owner === undefined ? '' : `, ${dimension} ${shownName(owner)}`;
  return `Statement for ${monthName(month)}${of}`;
}

/** What the numbers rest on: closed, settled, complete or a draft; and which numbers of the month before are shown. */
export function stateOf(
  data: Pick<StatementData, 'month' | 'state' | 'missing' | 'isMonthBeforeClosed' | 'owners'>,
): string {
  const { month, state, missing, isMonthBeforeClosed, owners } = data;
  if (state.closedAt !== null) {
    // Both months are compared by the same rules, so an owner may have another part than its own statement had.
    const rules = owners.some((row) => typeof row['owner'] === 'string') ? ', its owners by the rules of this one' : '';
    const before = isMonthBeforeClosed ? ` The month before has the costs of its own close${rules}.` : '';
    return `Closed at ${shownInstant(state.closedAt)}. The numbers are those of the close.${before}`;
  }
  const before = isMonthBeforeClosed ? ' The month before is closed and has its current numbers.' : '';
  if (missing.length > 0) return `DRAFT. ${missing.join('. ')}. The numbers will change.${before}`;
  const name = formatMonth(month);
  return `Complete, not closed. The numbers can change until "costbook close ${name}".${before}`;
}

/** A name from the platform on one line, without marks that change its direction. */
export function shownName(name: string): string {
  return oneLine(name, maxNameLength);
}

/** An owner as people write it. */
export function shownOwner(owner: unknown): string {
  return shownName(ownerText(typeof owner === 'string' ? owner : undefined));
}
