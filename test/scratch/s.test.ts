import { writeFileSync } from 'node:fs';
import { test } from 'vitest';
import { openBooks } from '../../src/warehouse/index.ts';
import { openDatabase } from '../../src/warehouse/connection.ts';
import { readReports, orderedQuery, focusColumns } from '../../src/reports/index.ts';
import { readModel, runModel, failures, columnsOfModel } from '../support/focus-model.ts';
const truthful = 'USAGE_MEASUREMENT_SUPPORTED,SUB_ACCOUNT_SUPPORTED,BILLING_BASED_ON_PROVISIONED_RESOURCES_SUPPORTED,RESOURCE_TYPE_ASSIGNMENT_SUPPORTED,REGION_SUPPORTED,TAGGING_SUPPORTED,UNIT_PRICING_SUPPORTED'.split(',');
test('x', async () => {
  const report = (await readReports('/nowhere')).find((r) => r.name === 'focus')!;
  const books = await openBooks('/tmp/focusE/costbook-demo', { lockedDown: false });
  for (const v of ['1.4', '1.2'] as const) for (const dep of [false, true]) {
    const cols = focusColumns(v, { withDeprecated: dep });
    const t = Date.now();
    await books.connection.run(`copy (${orderedQuery(report, cols)}) to '/tmp/focusE/f-${v}-${dep}.parquet' (format parquet, compression zstd)`, { month: '2026-10-01', provider: 'Cloud Workload Platform', account_name: null });
    await books.connection.run(`copy (${orderedQuery(report, cols)}) to '/tmp/focusE/f-${v}-${dep}.csv'`, { month: '2026-10-01', provider: 'Cloud Workload Platform', account_name: null });
    console.log(v, dep, cols.length, Date.now() - t);
  }
  const db = await openDatabase('/tmp/focusE/scratch.duckdb', { readOnly: false });
  const c = await db.connect();
  for (const v of ['1.4', '1.2'] as const) for (const dep of [false, true]) for (const ext of ['parquet', 'csv']) {
    await c.run(`create or replace temp table t as from '/tmp/focusE/f-${v}-${dep}.${ext}'`);
    const m = readModel(v);
    if (ext==='parquet'&&!dep) console.log(v, m.rules.size, JSON.stringify(columnsOfModel(m).filter(x=>!focusColumns(v,{withDeprecated:false}).includes(x))), JSON.stringify(focusColumns(v,{withDeprecated:false}).filter(x=>!columnsOfModel(m).includes(x))));
    for (const [n, claims] of [['default', []], ['truthful', truthful], ['all', m.criteria]] as const) {
      const t = Date.now();
      const o = await runModel(c, 't', m, claims);
      const cnt: Record<string, number> = {};
      if (ext==='parquet') writeFileSync(`/tmp/focusE/mine-${v}-${n}-${dep}.json`, JSON.stringify(Object.fromEntries(o)));
      for (const [, x] of o) { const k = x.outcome === 'skip' ? 'skip ' + x.why : x.outcome; cnt[k] = (cnt[k] ?? 0) + 1; if (x.outcome==='skip') cnt['skip']=(cnt['skip']??0)+1; }
      console.log(v, dep, ext, n, JSON.stringify(cnt), failures(m, o).join(' '), Date.now() - t, 'ms');
    }
  }
});
