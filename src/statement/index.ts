export { ownersOfMonth, readStatementMonth, type StatementMonth } from './data.ts';
export { type PublishedStatement, publishStatement } from './publish.ts';
export { statementReports } from './scope.ts';
