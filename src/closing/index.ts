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
  totalBilled,
} from './invoice.ts';
