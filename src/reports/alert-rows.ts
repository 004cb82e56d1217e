import { type Connection, readSqlFolder, type SqlParameters, type SqlRow } from '../warehouse/index.ts';

/** The rows of one file of `sql/alerts`. */
export async function alertRows(connection: Connection, name: string, parameters?: SqlParameters): Promise<SqlRow[]> {
  const file = (await readSqlFolder('alerts')).find((candidate) => candidate.name === name);
  if (file === undefined) throw new Error(`sql/alerts/${name}.sql is missing`);
  return connection.rows(file.text, parameters);
}
