import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { AnomalyRow } from '../warehouse/watch/index.ts';

/** The anomalies that are open, or that ended on a day or later. */
export async function readKnownAnomalies(connection: Connection, from: string): Promise<AnomalyRow[]> {
  const rows = await connection.rows(await readSql('anomalies', 'known'), { from });
  return rows.map(
    (row) =>
      ({
        ...row,
        price_ratio: row['price_ratio'] === null ? null : Number(row['price_ratio']),
      }) as unknown as AnomalyRow,
  );
}
