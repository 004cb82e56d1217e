export { JournalLossError, journalFault, journalFolder } from './journal.ts';
export { type ClosedGaps, closeGaps, type LostEvents } from './journal-gaps.ts';
