export {
  type BilledMonth,
  closeObstacles,
  type InvoicesByAccount,
  isAsClosed,
  readBilledMonth,
  readClosedMonth,
} from './close.ts';
export {
  billedCost,
  describeInvoices,
  invoiceDifference,
  invoiceOption,
  invoiceWarning,
  invoiceWords,
  totalBilled,
} from './invoice.ts';
