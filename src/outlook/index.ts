export { type PeriodEnd, periodEnd } from './ends.ts';
export { costAtPace, costOfDay, type KnownSpend, knownHours } from './pace.ts';
