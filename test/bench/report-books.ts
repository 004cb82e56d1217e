// A process that makes books of many rows: `node report-books.js <project folder> <weeks> <series>`. They are made by
// SQL, as if so many weeks had been loaded, a load a week, series by series; beside them one flat table of the same rows.
import { join } from 'node:path';
import { compiled } from './compiled.ts';

const [dir = '', weeks = '2', series = '100'] = process.argv.slice(2);
const {
  'warehouse/store/database': { openDatabase },
  'warehouse/store/migrate': { migrate },
  'warehouse/integrity/seal': { sealFile },
} = await compiled('warehouse/store/database', 'warehouse/store/migrate', 'warehouse/integrity/seal');

const database = await openDatabase(join(dir, 'data', 'costbook.duckdb'), { readOnly: false });
const connection = await database.connect();
await migrate(connection);
await connection.run(
  `
  insert into ledger.series
  with numbered as (
    select number, case number % 5 when 0 then 'agent' when 1 then 'job' when 2 then 'mcp_server' else 'sandbox' end as type
    from range(${Number(series)}) as numbers(number)
  )
  select
    md5_number_lower('series ' || number),
    'acc_bench',
    'workspace-' || (number // 100) % 20,
    type,
    'resource-name-' || (number // 2),
    type || '-0000-' || (number // 2),
    case number % 2 when 0 then type || '_compute_runtime_gbs' else type || '_image_storage_gbs' end
  from numbered;
  insert into ledger.hourly_costs
  select
    series_id,
    timestamp '2026-06-01' + to_hours(cast(week * 168 + hour as integer)),
    cast((hash(series_id, week, hour) % 1000000) / 1e7 + 0.0001 as decimal(18, 12)),
    cast((hash(hour, series_id, week) % 100000) / 100.0 as decimal(18, 6)),
    week + 1
  from range(${Number(weeks)}) as weeks(week), ledger.series, range(168) as hours(hour)
  order by week, series_id, hour;
  insert into ledger.accounts values (
    'acc_bench', null, timestamp '2026-06-01', 3, 2, 'admin', 9, 3, timestamp '2026-06-01', null, null
  );
  insert into ledger.covered values (
    'acc_bench', timestamp '2026-06-01', timestamp '2026-06-01' + to_days(${7 * Number(weeks)}), timestamp '2027-01-01',
    'admin', 1, 1, null
  );
  create table flat as select * from costs`,
);
await connection.checkpoint();
const [row] = await connection.rows('select count(*) as rows from flat');
process.stdout.write(`${row?.['rows']}\n`);
database.close();
await sealFile(
  join(dir, 'data', 'costbook.duckdb'),
  { loadNumber: 0, lastEvent: 0, rowCount: 0, cost: '0', journal: { before: 1, sha256: '' } },
  new Date(),
);
