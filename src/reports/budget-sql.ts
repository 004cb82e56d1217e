import { readSqlFolder } from '../warehouse/index.ts';

/** One SQL file of `sql/budgets`. */
export async function budgetSql(name: string): Promise<string> {
  const file = (await readSqlFolder('budgets')).find((candidate) => candidate.name === name);
  if (file === undefined) throw new Error(`sql/budgets/${name}.sql is missing`);
  return file.text;
}
