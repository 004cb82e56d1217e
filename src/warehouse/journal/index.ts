export { JournalLossError, journalFault, journalFolder, nameOfBooks } from './journal.ts';
export { closeGaps, type LostEvents } from './journal-gaps.ts';
