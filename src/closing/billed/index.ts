export {
  type BilledMonth,
  closeObstacles,
  firstCloseWarning,
  invoicesOf,
  isAsClosed,
  readBilledMonth,
  readClosedMonth,
} from './close.ts';
export {
  billedCost,
  describeInvoices,
  invoiceDifference,
  invoiceWarning,
  invoiceWords,
  type RevokedInvoice,
  sameInvoiceWarning,
  totalBilled,
} from './invoice.ts';
