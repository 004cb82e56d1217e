export { openMcpHttp } from './http.ts';
export type { CostsAsked, LimitedAnswer, LimitedBooks } from './limited-books.ts';
export { openLimitedMcpServer, openMcpServer } from './server.ts';
export { serveOnStdio } from './stdio.ts';
export type { BooksReader } from './tools.ts';
