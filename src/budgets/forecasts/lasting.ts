import { dayNamed } from '../../time/time.ts';
import type { AnomalyRow } from '../../warehouse/watch/index.ts';

/** So many anomalies that last are assumed in every account: without any experience, what goes on goes on. */
const assumed = 1;
/** An account says as much of a scope as so many anomalies of its own. */
const ofAccount = 1;
/** An anomaly that became usual has lasted if some of its last week was unusual; otherwise it was a single run of a new cost. */
const lateDays = 7;
/** Days from which on the chance stays: the detection takes what lasts so long for usual. */
const mostDays = 28;

/**
 * How likely an anomaly of this age (in days) still adds its cost on each of the days after the last known one: as often as earlier
 * ones that reached its age went on, those of its own scope above all. The last chance is that of all later days. Pure.
 */
export function chancesToLast(row: AnomalyRow, rows: readonly AnomalyRow[], age: number): readonly number[] {
  const ended = rows.flatMap((other) => {
    const isLike =
      other.account === row.account && other.is_up && other.kind !== 'price' && other.first_day < row.first_day;
    if (!isLike || (other.state !== 'over' && other.state !== 'usual')) return [];
    const [firstDay, lastDay] = [dayNamed(other.first_day), dayNamed(other.last_day)];
    const hasLasted = other.state === 'usual' && dayNamed(other.ended_day ?? other.last_day) - lastDay <= lateDays;
    const days = hasLasted ? Number.POSITIVE_INFINITY : lastDay - firstDay + 1;
    const isOwn =
      other.workspace === row.workspace &&
      other.resource_type === row.resource_type &&
      other.billing_dimension === row.billing_dimension;
    return days < age ? [] : [{ days, isOwn }];
  });
  const own = ended.filter(({ isOwn }) => isOwn);
  return Array.from({ length: mostDays }, (_, place) => {
    const lasted = ({ days }: { readonly days: number }) => days >= age + place + 1;
    const account = (ended.filter(lasted).length + assumed) / (ended.length + assumed);
    return (own.filter(lasted).length + ofAccount * account) / (own.length + ofAccount);
  });
}
