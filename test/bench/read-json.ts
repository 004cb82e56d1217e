// A process in which DuckDB's read_json reads stored pages into one table of a file: `node read-json.js <file> <list>`.
// The list is a JSON array of page files.
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const [file = '', list = ''] = process.argv.slice(2);
const pages: string[] = JSON.parse(readFileSync(list, 'utf8'));
const instance = await DuckDBInstance.create(file);
const connection = await instance.connect();
const point = 'struct("timestamp" timestamp, cost double, "usage" double)';
const dimensions = ['workspace', 'resourceType', 'resourceName', 'resourceUuid', 'billingDimension'];
const entry = `struct(${dimensions.map((name) => `"${name}" varchar`).join(', ')}, timeseries ${point}[])`;
await connection.run(`
  create table points as
  select ${dimensions.map((name) => `entry."${name}"`).join(', ')}, unnest(entry.timeseries, recursive := true)
  from (
    select unnest(data) as entry
    from read_json([${pages.map((page) => `'${page.replaceAll("'", "''")}'`).join(', ')}],
      format = 'unstructured', maximum_object_size = 67108864, columns = {data: '${entry}[]'})
  )`);
const reader = await connection.runAndReadAll('select count(*)::integer from points');
process.stdout.write(`${reader.value(0, 0)}\n`);
connection.closeSync();
instance.closeSync();
