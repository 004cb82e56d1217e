import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MachineError, UsageError } from '../../src/base/errors.ts';
import { allCommands } from '../../src/commands/index.ts';
import { blamingReport, checkReport, orderedQuery, readReports } from '../../src/reports/questions/catalogue.ts';
import { readChecks } from '../../src/warehouse/ledger/checks.ts';
import { givenBooks } from '../support/given-books.ts';
import { newProject } from '../support/project.ts';

test('an error blames a report for its SQL, but not for missing resources or a bug', async () => {
  const [report] = await readReports(join(await newProject(), 'sql'));
  if (report === undefined) throw new Error('there is no report');
  const { connection, close } = await givenBooks({});
  try {
    const mistaken = blamingReport(report, () => connection.rows('select nosuch from costs'));
    await expect(mistaken).rejects.toBeInstanceOf(UsageError);
    await connection.run(`set memory_limit = '60MB'; set max_temp_directory_size = '10MB'; set threads = 1`);
    const tooMuch = blamingReport(report, () =>
      connection.rows('select md5(i::varchar) as h from range(10000000) t(i) order by h'),
    );
    await expect(tooMuch).rejects.toBeInstanceOf(MachineError);
    const bug = new TypeError('x is not a function');
    await expect(blamingReport(report, () => Promise.reject(bug))).rejects.toBe(bug);
  } finally {
    close();
  }
});

test('rows with the same grain have a fixed order', async () => {
  const [report] = await readReports(join(await newProject(), 'sql'));
  if (report === undefined) throw new Error('there is no report');
  const { connection, close } = await givenBooks({});
  try {
    const orders: unknown[] = [];
    for (const direction of ['asc', 'desc']) {
      const text = `select 1 as a, i as b, [i] as c, null as d from range(20000) as t(i) order by i ${direction}`;
      const grained = { ...report, grain: ['a'], file: { ...report.file, text } };
      orders.push(await connection.rows(`select md5(string_agg(b, ',')) as h from (${orderedQuery(grained)})`));
    }
    expect(orders[0]).toEqual(orders[1]);
  } finally {
    close();
  }
});

test('a report has the name of a command only if both show the same rows', async () => {
  const reports = (await readReports(join(await newProject(), 'sql'))).map(({ name }) => name);
  const commands: readonly string[] = (await allCommands()).map(({ name }) => name);
  expect(reports.filter((name) => commands.includes(name))).toEqual(['anomalies']);
});

test('screen settings in a header only name columns of the report', async () => {
  const dir = await newProject();
  await mkdir(join(dir, 'sql', 'reports'), { recursive: true });
  await writeFile(
    join(dir, 'sql', 'reports', 'mine.sql'),
    '--! about: Mine?\n--! grain: day\n--! top: csot\n--! important: dya\n--! sparkline: cost over month\nselect 1 as day, 2 as cost\n',
  );
  const mine = (await readReports(join(dir, 'sql'))).find(({ name }) => name === 'mine');
  if (mine === undefined) throw new Error('there is no report');
  const { connection, close } = await givenBooks({});
  try {
    const refused = await checkReport(connection, mine, {}).catch((error: Error) => error.message.split('\n'));
    expect(refused).toEqual([
      expect.stringContaining('mine.sql:3:1: "--! top:" names "csot" (did you mean "cost"?)'),
      expect.stringContaining('mine.sql:4:1: "--! important:" names "dya"'),
      expect.stringContaining('mine.sql:5:1: "--! sparkline:" names "month"'),
    ]);
  } finally {
    close();
  }
});

test('a report or a check has a name that leads nowhere else', async () => {
  const dir = await newProject();
  const wrong = ['..', '.', '...', 'Mine', 'my-report', '1st', 'a b', 'a.b', 'ä', 'x=1', '_x', ''];
  const right = ['mine', 'cost_by_team_2'];
  for (const folder of ['reports', 'checks']) {
    await mkdir(join(dir, 'sql', folder), { recursive: true });
    for (const name of [...wrong, ...right]) {
      const text = '--! about: Mine?\n--! grain: a\n--! severity: warn\nselect 1 as a\n';
      await writeFile(join(dir, 'sql', folder, `${name}.sql`), text);
    }
  }
  for (const files of [await readReports(join(dir, 'sql')), await readChecks(join(dir, 'sql'))]) {
    const own = files.filter(({ file }) => file.path.startsWith(dir));
    const refused = own.filter(({ problem }) => problem !== undefined);
    expect(own).toHaveLength(wrong.length + right.length);
    expect(own.filter(({ problem }) => problem === undefined).map(({ name }) => name)).toEqual(right.toSorted());
    for (const { problem } of refused) expect(problem).toContain('expected lowercase letters, digits and _');
  }
});
