export { expectedEnd, notBelowSpent, type PeriodEnd, toSaveDaily } from './ends.ts';
export { costAtPace, costOfDay, type KnownSpend, knownHours } from './pace.ts';
