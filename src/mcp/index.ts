export { openMcpHttp } from './http.ts';
export type { LimitedBooks } from './limited-tools.ts';
export { openLimitedMcpServer, openMcpServer } from './server.ts';
export { serveOnStdio } from './stdio.ts';
export type { BooksReader, RowsAnswer } from './tools.ts';
