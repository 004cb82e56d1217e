import { join } from 'node:path';
import { type RevokedClose, type RevokedExport, revokedExports, shownAmong } from '../reports/exports/index.ts';
import { readReports } from '../reports/questions/index.ts';
import { statementReports } from '../statement/index.ts';

/** The exports of a project that show one of these revoked closes. */
export async function exportsOfRevoked(dir: string, closes: readonly RevokedClose[]): Promise<RevokedExport[]> {
  if (closes.length === 0) return [];
  const reports = [...Object.values(await statementReports()), ...(await readReports(join(dir, 'sql')))];
  return revokedExports(join(dir, 'exports'), await shownAmong(closes, reports));
}
