export { checkWords } from './check-codes.ts';
export {
  type InventoryStage,
  type ListingFacts,
  type ListingKey,
  type ListingOutcome,
  type ListingPeriod,
  type LiteItem,
  listingName,
  listingRequests,
} from './inventory.ts';
export type { BilledResource, JobExecutions } from './job-executions.ts';
export { type CostPartition, costPartitions, lastLoadOf, partitionsChangedSince, viewsSha256 } from './partitions.ts';
export type { DifferingHours, TotalDecimals, TotalsKnown } from './reconciliation.ts';
export type { DeploymentsStage } from './resource-events.ts';
export type { Stage } from './stage.ts';
export {
  type ComparedTotals,
  type Contradiction,
  contradictedQuestions,
  coveredAsMember,
  dueMonths,
  groupsByWorkspace,
  keepSeriesHours,
  openPastReader,
  type PastComparison,
  type PastDifference,
  type PastQuery,
  seriesLives,
  seriesVerified,
  type Verification,
} from './verified-past.ts';
export type { LoadedQuery, LoadFacts, LoadResult, LoadWritten } from './write-load.ts';
