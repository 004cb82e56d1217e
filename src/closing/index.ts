export { closeMonth, type MonthClose } from './close-month.ts';
export { parseInvoices } from './given-invoices.ts';
export { reopenMonth } from './reopen-month.ts';
export { exportsOfRevoked } from './revoked.ts';
