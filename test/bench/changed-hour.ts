// Books in which one hour of one series has changed, as an ingest finds it.
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { compiled } from './compiled.ts';
import { cli, dayMs, instant, newFolder, run } from './processes.ts';

interface CostRow {
  readonly account: string;
  readonly workspace: string | null;
  readonly resource_type: string;
  readonly resource_name: string | null;
  readonly resource_uuid: string | null;
  readonly billing_dimension: string;
  readonly bucket_start: string;
  readonly cost: string;
  readonly usage: string;
}

const dayBeforeLast = `select * from costs
where bucket_start >= (select date_trunc('day', max(bucket_start)) - interval 2 days from costs)
  and bucket_start < (select date_trunc('day', max(bucket_start)) - interval 1 day from costs)`;

/** A copy of a project's folder after an ingest that found a cent more in one hour of one series. */
export async function withChangedHour(project: string, env: Readonly<Record<string, string>>): Promise<string> {
  const dir = join(await newFolder(), 'changed');
  await cp(project, dir, { recursive: true });
  const own = { ...env, COSTBOOK_DIR: dir };
  const { rows } = JSON.parse((await run([cli, 'sql', '--json', dayBeforeLast], own)).stdout) as { rows: CostRow[] };
  const dearest = rows.reduce((one, other) => (Number(other.cost) > Number(one.cost) ? other : one));
  const facts = rows.map((row) => ({
    ...{ account: row.account, workspace: row.workspace, type: row.resource_type, name: row.resource_name },
    ...{ uuid: row.resource_uuid, dimension: row.billing_dimension, hour: row.bucket_start.slice(0, 13) },
    ...{ cost: Number((Number(row.cost) + (row === dearest ? 0.01 : 0)).toFixed(9)), usage: Number(row.usage) },
  }));
  const { startScriptedPlatform } = (await compiled('../test/support/scripted-platform'))[
    '../test/support/scripted-platform'
  ];
  const platform = await startScriptedPlatform(facts);
  platform.accounts = [...new Set(facts.map(({ account }) => account))];
  const from = Date.parse(`${dearest.bucket_start.slice(0, 10)}T00:00:00Z`);
  await run([cli, 'ingest', '--from', instant(from), '--to', instant(from + dayMs), '--refetch'], {
    ...own,
    ...{ COSTBOOK_URL: platform.url, COSTBOOK_TOKEN: platform.tokens.admin },
    COSTBOOK_ACCOUNT: platform.accounts.join(','),
  });
  await platform.close();
  return dir;
}
