export { JournalLossError, journalFault, journalFolder } from './journal.ts';
export { closeGaps, type LostEvents } from './journal-gaps.ts';
