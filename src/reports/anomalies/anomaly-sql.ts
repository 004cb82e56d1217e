import { readSqlFolder } from '../../warehouse/index.ts';

/** One SQL file of `sql/anomalies`. */
export async function anomalySql(name: string): Promise<string> {
  const file = (await readSqlFolder('anomalies')).find((candidate) => candidate.name === name);
  if (file === undefined) throw new Error(`sql/anomalies/${name}.sql is missing`);
  return file.text;
}
