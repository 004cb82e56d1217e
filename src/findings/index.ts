export { cardOf } from './card.ts';
export { isSameCause } from './causes.ts';
export { type AlertFacts, type AlertFactsOptions, readAlertFacts } from './collect.ts';
export { isCommandSink } from './command-sink.ts';
export { isExplainedByAnomaly } from './covered-forecasts.ts';
export { currentCauses, readOutOfDate } from './current.ts';
export { dashboardLink } from './dashboard-link.ts';
export { keyOfFinding } from './finding.ts';
export { withNews } from './held.ts';
export { type HoursToCheck, hoursToCheck } from './hours-to-check.ts';
export { type AlertFact, parseFact, stepOf, wordsOfKind } from './kinds/index.ts';
export {
  alertKey,
  diskKey,
  endedRunOf,
  isRefusedClose,
  stepAfterMistakes,
  stepAfterRun,
} from './kinds/run.ts';
export { idleWords, staleStep } from './kinds/stale.ts';
export { type OpenAlert, openAlerts, wordsOf } from './open-alerts.ts';
export { listedCosts } from './owner-sources.ts';
export { alertRows } from './rows.ts';
export { shownWithOthers } from './same-budget.ts';
export { type AlertEntry, type Transitions, transitionsOf } from './transitions.ts';
export { unprovenWords, windowLines } from './unproven-words.ts';
export { withUnusualCosts } from './unusual-costs.ts';
export { missingCostWords, withUsualCosts } from './usual-costs.ts';
