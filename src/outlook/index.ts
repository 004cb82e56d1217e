export { expectedEnd, notBelowSpent, type PeriodEnd } from './ends.ts';
export { costAtPace, costOfDay, type KnownSpend, knownHours } from './pace.ts';
