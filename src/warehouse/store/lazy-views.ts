import type { SqlFile } from '../sql/sql-files.ts';
import type { Connection, LazyViews } from './connection.ts';
import { readFirst } from './migrate.ts';
import { commentViews } from './view-comments.ts';

/**
 * The public views of a past, each made with the first statement that names it, and with it what it reads: DuckDB binds a
 * view when it is created, and all of them take longer than most answers. `maker` is a connection for this alone.
 */
export function lazyViews(files: readonly SqlFile[], maker: Connection): LazyViews {
  const made = new Set<SqlFile>();
  let last: Promise<unknown> = Promise.resolve();
  async function makeNamed(words: ReadonlySet<string> | undefined): Promise<number> {
    const named = files.flatMap(({ name }) => (words === undefined || words.has(name) ? name : []));
    const missing = readFirst(files, named).filter((file) => !made.has(file));
    if (missing.length > 0) {
      await maker.transaction(async () => {
        for (const { text } of missing) await maker.run(text);
        await commentViews(maker, missing);
      });
    }
    for (const file of missing) made.add(file);
    return made.size;
  }
  return {
    make(sql) {
      const words = sql === undefined ? undefined : new Set(sql.toLowerCase().match(/\w+/g));
      // One after another: two transactions that create the same view exclude each other.
      const result = last.then(() => makeNamed(words));
      last = result.catch(() => undefined);
      return result;
    },
  };
}
