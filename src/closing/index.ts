export {
  type BilledMonth,
  closeObstacles,
  firstCloseWarning,
  type InvoicesByAccount,
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
