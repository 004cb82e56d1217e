export { type ClockFault, futureInstants, warnOfFutureDates } from './books-clock.ts';
export type { HealthContext } from './context.ts';
export { examine } from './examine.ts';
export { type FileFault, faultsOfFiles } from './files-of-books.ts';
export type { Diagnosis } from './found.ts';
export { askPlatform, type PlatformSeen } from './platform-access.ts';
export { type Undelivered, undelivered } from './undelivered.ts';
export { unendedWords } from './unended-words.ts';
