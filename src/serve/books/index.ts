export { type Scope, scopeKey, type Viewer } from './scope.ts';
export { ViewerLeftError } from './shared-answers.ts';
export { literal, shownSql } from './shown-sql.ts';
export { BooksUnavailableError, type BooksView, openSnapshots, type Snapshots } from './snapshots.ts';
