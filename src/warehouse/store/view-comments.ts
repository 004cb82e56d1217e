import { readSql, type SqlFile } from '../sql/sql-files.ts';
import { commentOn } from '../sql/statements.ts';
import type { Connection } from './connection.ts';

/**
 * Stores the comments of created views and of their columns. A view's comment is what its file is about. A column's is
 * behind it in the file (`column, --: meaning`), or else in the dictionary, where names are that mean the same in several
 * views (`sql/schema/meanings.sql`).
 */
export async function commentViews(connection: Connection, files: readonly SqlFile[]): Promise<void> {
  const known = await connection.rows(await readSql('schema', 'meanings'));
  const comments = files.flatMap(({ text, header }) => {
    const [, view = ''] = /^create or replace view ([\w.]+) as$/m.exec(text) ?? [];
    const columns = new Map(
      known.flatMap((row) => (row['view'] === view ? [[String(row['column']), String(row['meaning'])]] : [])),
    );
    for (const [, column = '', meaning = ''] of text.matchAll(/(\w+),? --: (.+)$/gm)) columns.set(column, meaning);
    const about = header['about']?.replace(/\.$/, '') ?? '';
    return [
      commentOn('view', view, about),
      ...[...columns].map(([column, meaning]) => commentOn('column', `${view}.${column}`, meaning)),
    ];
  });
  if (comments.length > 0) await connection.run(comments.join(''));
}
