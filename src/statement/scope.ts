import { type Report, reportOf } from '../reports/questions/index.ts';
import { readSqlFolder } from '../warehouse/sql/index.ts';

/** Whose costs a statement is about: those of everybody, or those of one owner. */
export interface StatementScope {
  readonly owner: string | undefined;
  /** The dimension of owners, such as `team`. */
  readonly dimension: string;
}

/**
 * The queries of a whole statement and of an owner's, as reports. Manifests name them with their figures, so `verify`
 * runs them again.
 */
export async function statementReports(): Promise<{ readonly whole: Report; readonly ofOwner: Report }> {
  const reports = (await readSqlFolder('statement')).map(reportOf);
  const [whole, ofOwner] = ['statement', 'owner_statement'].map((name) => reports.find((found) => found.name === name));
  if (whole === undefined || ofOwner === undefined) throw new Error('the SQL of statements is missing');
  return { whole, ofOwner };
}
