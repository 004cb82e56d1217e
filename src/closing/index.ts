export {
  type BilledMonth,
  closeObstacles,
  type InvoicesByAccount,
  isAsClosed,
  readBilledMonth,
  readClosedMonth,
} from './close.ts';
export { billedCost, invoiceDifference, invoiceWarning, invoiceWords, totalBilled } from './invoice.ts';
