import { readSqlFolder } from '../../warehouse/sql/index.ts';
import { orderedQuery, reportOf } from './catalogue.ts';

/** The lines of the invoice: the month's own by cost, then corrections of earlier months, then invoice differences. */
export function invoiceLines(): Promise<string> {
  return builtInReport('invoice_lines', ['cost'], ['charge_class', 'incurred_month']);
}

/**
 * The SQL of a report that comes with Costbook, in a fixed order: by `first`, what is null before all others, then by `top`,
 * largest first, then by its grain.
 */
export async function builtInReport(
  name: string,
  top: readonly string[] = [],
  first: readonly string[] = [],
): Promise<string> {
  const file = (await readSqlFolder('reports')).find((found) => found.name === name);
  if (file === undefined) throw new Error(`the report ${name} is missing`);
  return orderedQuery(reportOf(file), undefined, top, { first });
}
