/** The daily rate is the mean of this many last days: a week contains every weekday. */
const rateDays = 7;

/**
 * The daily rate of what unusual days cost more or less, over the last week. The first day is rarely a full day and counts
 * only if it is the only one. Pure.
 */
export function dailyRate(impacts: readonly number[]): number {
  const days = impacts.length > 1 ? impacts.slice(1).slice(-rateDays) : impacts;
  return days.reduce((sum, impact) => sum + impact, 0) / Math.max(1, days.length);
}
