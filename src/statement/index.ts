export { ownersOfMonth, readStatementMonth } from './data.ts';
export { publishStatement, statementFormats } from './publish.ts';
export { statementReports } from './scope.ts';
