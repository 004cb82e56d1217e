import { formatInstant } from '../../time/time.ts';
import { readSql } from '../../warehouse/sql/index.ts';
import type { Connection } from '../../warehouse/store/index.ts';
import type { Report } from './catalogue.ts';
import { type ParameterValue, periodsOf } from './parameters.ts';

/** What a month bills and a report of its own hours does not contain. USD as exact decimal text. */
export interface BilledBesides {
  readonly corrections: string;
  readonly invoiceDifference: string;
}

/**
 * What the month of an answer bills besides the costs of its own hours, for a report whose header says `--! without:
 * corrections`. Undefined for another report, and if the month bills nothing besides.
 */
export async function readBilledBesides(
  connection: Connection,
  report: Report,
  values: readonly ParameterValue[],
): Promise<BilledBesides | undefined> {
  const [period] = periodsOf(values);
  if (!report.isWithoutCorrections || period === undefined) return undefined;
  const given = (wanted: string) => values.find(({ name }) => name === wanted)?.sqlValue ?? null;
  const [row = {}] = await connection.rows(await readSql('closing', 'billed_besides'), {
    ...{ from: formatInstant(period.start), to: formatInstant(period.end) },
    ...{ account: given('account'), workspace: given('workspace') },
  });
  const besides = { corrections: String(row['corrections']), invoiceDifference: String(row['invoice_difference']) };
  return Object.values(besides).some((amount) => /[1-9]/.test(amount)) ? besides : undefined;
}

/** The sentence that names these amounts. */
export function besidesWords({ corrections, invoiceDifference }: BilledBesides): string {
  const parts = [
    [corrections, 'corrections of earlier months'],
    [invoiceDifference, 'difference to the invoice'],
  ].flatMap(([amount = '', words]) => (/[1-9]/.test(amount) ? [`${amount} USD ${words}`] : []));
  return `not in these costs: ${parts.join(', ')}, which the month bills as well; chargeback_summary and invoice_lines have them`;
}
