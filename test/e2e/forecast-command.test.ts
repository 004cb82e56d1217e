import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { syntheticSeries } from '../bench/synthetic-series.ts';
import { newProject, runCli, startMain } from '../support/project.ts';

const dayMs = 86_400_000;

/** A CSV file with the given lines below the header. */
async function csvOf(lines: readonly string[], header = 'id,timestamp,value'): Promise<string> {
  const path = join(await newProject(), 'series.csv');
  await writeFile(path, `${[header, ...lines].join('\n')}\n`);
  return path;
}

function linesOf(id: string, values: readonly (number | string)[], stepMs = dayMs): string[] {
  const first = Date.parse('2026-01-01T00:00:00Z');
  return values.map((value, index) => `${id},${new Date(first + index * stepMs).toISOString()},${value}`);
}

async function forecast(path: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = await runCli(['forecast', '--input', path, ...args]);
  return { exitCode, stdout, stderr, json: args.includes('--json') && exitCode === 0 ? JSON.parse(stdout) : undefined };
}

const week = Array.from({ length: 70 }, (_, day) => (day % 7 < 5 ? 10 : 4));

describe('costbook forecast --input', () => {
  test('prints the points and sums of each series, and how its model was chosen', async () => {
    const { values } = syntheticSeries('weekly', 77);
    const path = await csvOf([...linesOf('one', week), ...linesOf('two', values.slice(0, 300))]);
    const { exitCode, json, stderr } = await forecast(path, '--horizon', '3', '--json');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect({ ...json, series: json.series.length }).toEqual({ horizon: 3, level: 0.8, series: 2 });
    const [one, two] = json.series;
    expect(one).toMatchObject({
      id: 'one',
      step: 'day',
      from: '2026-01-01T00:00:00Z',
      through: '2026-03-12T00:00:00Z',
      steps: 70,
      gaps: 0,
      kind: 'forecast',
      seasons: [7],
    });
    expect(
      one.points.map(({ timestamp, forecast }: { timestamp: string; forecast: number }) => [timestamp, forecast]),
    ).toEqual([
      ['2026-03-12T00:00:00Z', 10],
      ['2026-03-13T00:00:00Z', 10],
      ['2026-03-14T00:00:00Z', 10],
    ]);
    expect(two.backtest).toEqual({
      folds: expect.any(Number),
      mase: expect.any(Number),
      smape: expect.any(Number),
      coverage: expect.any(Number),
      sumCoverage: expect.any(Number),
    });
    for (const { forecast, low, high } of [...two.points, ...two.cumulative]) {
      expect(low).toBeLessThan(forecast);
      expect(high).toBeGreaterThan(forecast);
    }
  });

  test('prints the steps, their sum and the chosen model as a table', async () => {
    const { exitCode, stdout } = await forecast(await csvOf(linesOf('cpu hours', week)), '--horizon', '2');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^cpu hours: 70 steps of one day, season of 7, model .*backtests/);
    expect(stdout).toMatch(/^id +timestamp +forecast +low +high$/m);
    expect(stdout).toMatch(/^cpu hours {2}2026-03-12T00:00:00Z +10\.00 +10\.00 +10\.00$/m);
    expect(stdout).toMatch(/^cpu hours {2}sum +20\.00/m);
  });

  test.each([
    ['hour', 3_600_000, 'hour', [24, 168]],
    ['week', 7 * dayMs, 'week', []],
    ['quarter of an hour', 900_000, '900s', [96]],
  ])('knows a step of one %s', async (_, stepMs, step, seasons) => {
    const values = Array.from({ length: 400 }, (_, index) => 50 + (index % 24) + (index % 5));
    const path = await csvOf(linesOf('a', values, stepMs));
    const { json } = await forecast(path, '--horizon', '2', '--json');
    expect(json.series[0]).toMatchObject({ step, seasons });
    expect(json.series[0].points[1].timestamp).toBe(
      new Date(Date.parse('2026-01-01T00:00:00Z') + 401 * stepMs).toISOString().replace('.000', ''),
    );
  });

  test.each([
    ['month', 1, 0, 1, [12]],
    ['month', 1, 0, 31, [12]],
    ['month', 1, 1, 31, [12]],
    ['quarter', 3, 0, 1, [4]],
    ['quarter', 3, 2, 31, [4]],
    ['quarter', 3, 5, 31, [4]],
    ['year', 12, 0, 1, []],
    ['year', 12, 1, 31, []],
  ])(
    'forecasts each %s (%i months from month %i on, on day %i or the last)',
    async (step, months, first, day, seasons) => {
      const dateAt = (index: number) => {
        const last = new Date(Date.UTC(2000, first + months * index + 1, 0));
        return `${last.toISOString().slice(0, 8)}${String(Math.min(day, last.getUTCDate())).padStart(2, '0')}`;
      };
      const lines = Array.from({ length: 36 }, (_, index) => `a,${dateAt(index)},${100 + (index % 4)}`);
      const { json, stderr } = await forecast(await csvOf(lines), '--horizon', '5', '--json');
      expect(stderr).toBe('');
      expect(json.series[0]).toMatchObject({ step, seasons, steps: 36, gaps: 0, through: `${dateAt(36)}T00:00:00Z` });
      expect(json.series[0].points.map(({ timestamp }: { timestamp: string }) => timestamp.slice(0, 10))).toEqual(
        [36, 37, 38, 39, 40].map(dateAt),
      );
    },
  );

  test('uses the given seasons and level', async () => {
    const values = Array.from({ length: 120 }, (_, index) => 10 + (index % 4 === 0 ? 20 : 0));
    const path = await csvOf(linesOf('a', values));
    const { json } = await forecast(path, '--horizon', '4', '--season', '4', '--level', '0.95', '--json');
    expect(json).toMatchObject({ level: 0.95, series: [{ seasons: [4] }] });
    expect(json.series[0].points.map(({ forecast }: { forecast: number }) => Math.round(forecast))).toEqual([
      30, 10, 10, 10,
    ]);
  });

  test('missing rows and empty values count as unknown, never as zero', async () => {
    const lines = linesOf('a', week).filter((_, index) => index % 10 !== 4);
    lines[30] = lines[30]?.replace(/[^,]*$/, '') ?? '';
    const { json } = await forecast(await csvOf(lines), '--horizon', '7', '--json');
    expect(json.series[0]).toMatchObject({ steps: 70, gaps: 8 });
    const sum = json.series[0].cumulative[6].forecast;
    expect(Math.abs(sum - 58)).toBeLessThan(1);
  });

  test('a series without a forecast says why, next to those with one', async () => {
    const path = await csvOf([
      ...linesOf('short', [1, 2, 3]),
      ...linesOf('single', [1]),
      ...linesOf('stopped', [...week, ...Array.from({ length: 10 }, () => 0)]),
      ...linesOf('one', week),
    ]);
    const { exitCode, json } = await forecast(path, '--horizon', '7', '--json');
    expect(exitCode).toBe(0);
    expect(json.series).toMatchObject([
      { id: 'short', kind: 'none', reason: 'too little history: 3 known steps, at least 21 needed' },
      { id: 'single', kind: 'none', reason: 'too little history: only one value', step: null },
      { id: 'stopped', kind: 'forecast', model: 'stopped', notes: ['stopped: zero since 2026-03-12T00:00:00Z'] },
      { id: 'one', kind: 'forecast' },
    ]);
    const { stdout } = await forecast(path, '--horizon', '7');
    expect(stdout).toContain('short: no forecast: too little history: 3 known steps, at least 21 needed\n');
  });

  test('ids may be any text, and their rows may alternate', async () => {
    const [quoted, formula] = [linesOf('"a ""b"", c"', week), linesOf('=1+1', week)];
    const { json } = await forecast(
      await csvOf(quoted.flatMap((line, index) => [line, formula[index] ?? ''])),
      '--horizon',
      '1',
      '--json',
    );
    expect(json.series.map(({ id }: { id: string }) => id)).toEqual(['a "b", c', '=1+1']);
    const { stdout } = await forecast(await csvOf(linesOf('"\u001b[2Jx\u0007"', week)), '--horizon', '1');
    expect(stdout).not.toContain('\u001b');
  });

  test('columns may have any order, a byte order mark and CRLF line ends', async () => {
    const lines = week.map(
      (value, day) =>
        `${value},2026-${day < 31 ? '01' : day < 59 ? '02' : '03'}-${String((day < 31 ? day : day < 59 ? day - 31 : day - 59) + 1).padStart(2, '0')} 00:00,a\r`,
    );
    const path = await csvOf(lines, '\ufeffValue,Timestamp,ID\r');
    const { json } = await forecast(path, '--horizon', '1', '--json');
    expect(json.series).toMatchObject([{ id: 'a', step: 'day', steps: 70, points: [{ forecast: 10 }] }]);
  });
});

describe('every mistake in a file is reported with its line, and nothing is forecast', () => {
  test('rows that cannot be read', async () => {
    const path = await csvOf([
      'a,2026-01-01,1',
      'a,2026-01-03,x',
      'a,2026-01-02,3',
      'a,2026-01-02,4',
      ',2026-01-05,3',
      'a,2026-02-30,3',
      'a,2026-01-07',
      'a,2026-01-08,1e999',
      'a,2026-01-01,1',
      '"a,b",yesterday,NaN',
    ]);
    const { exitCode, stdout, stderr } = await forecast(path, '--horizon', '3', '--json');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr.trim().split('\n')).toEqual(
      [
        '3: value: found "x", expected a number, or nothing if it is unknown',
        '5: 2026-01-02T00:00:00Z of "a" is there twice, first on line 4',
        '6: found no id, expected the name of the series',
        '7: timestamp: found "2026-02-30", expected 2026-10-01 or 2026-10-01T00:00:00Z',
        '8: found 2 fields, expected 3: id,timestamp,value',
        '9: value: found "1e999", expected a number, or nothing if it is unknown',
        '10: 2026-01-01T00:00:00Z of "a" is there twice, first on line 2',
        '11: timestamp: found "yesterday", expected 2026-10-01 or 2026-10-01T00:00:00Z',
        '11: value: found "NaN", expected a number, or nothing if it is unknown',
      ].map((words) => `costbook: ${path}:${words}`),
    );
  });

  test('values that may have a point between thousands, unless another value shows what points mean', async () => {
    const doubtful = linesOf(
      'one',
      Array.from({ length: 40 }, (_, day) => `${1 + (day % 5)}.250`),
    );
    const refused = await forecast(await csvOf(doubtful), '--horizon', '3');
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(
      /series\.csv:2: value: found "1\.250", which some read as 1250 and some as 1\.25; write/,
    );
    const plain = await forecast(await csvOf([...doubtful, ...linesOf('two', ['0.125', '1.5'])]), '--horizon', '3');
    expect(plain.exitCode, plain.stderr).toBe(0);
  });

  test('irregular steps, and rows out of order', async () => {
    const irregular = await csvOf([
      'a,2026-01-01,1',
      'a,2026-01-02,1',
      'a,2026-01-03,1',
      'a,2026-01-03T05:00,1',
      'a,2026-01-05,1',
    ]);
    expect((await forecast(irregular, '--horizon', '3')).stderr).toBe(
      `costbook: ${irregular}:5: 2026-01-03T05:00:00Z of "a" is between two steps of one day from 2026-01-01T00:00:00Z on\n`,
    );
    const unsorted = await csvOf(['a,2026-01-05,1', 'a,2026-01-02,1']);
    expect((await forecast(unsorted, '--horizon', '3')).stderr).toBe(
      `costbook: ${unsorted}:3: 2026-01-02T00:00:00Z of "a" is earlier than 2026-01-05T00:00:00Z above it (line 2), expected ascending timestamps\n`,
    );
    const typo = await csvOf([...linesOf('a', [1, 2, 3]), 'a,2925-01-01,4']);
    expect((await forecast(typo, '--horizon', '3')).stderr).toContain(`${typo}:5: "a" has 4 values in 328`);
  });

  test('the first of many mistakes, and the number of the others', async () => {
    const path = await csvOf(Array.from({ length: 500 }, (_, index) => `a,never ${index},1`));
    const { exitCode, stderr } = await forecast(path, '--horizon', '3');
    expect(exitCode).toBe(2);
    expect(stderr.trim().split('\n')).toHaveLength(21);
    expect(stderr).toContain('and 480 more mistakes');
  });

  test.each([
    ['no content', '', 'found an empty file, expected the header id,timestamp,value'],
    ['only a header', 'id,timestamp,value\n', 'found no row after the header'],
    [
      'other columns',
      'name,date,cost\na,2026-01-01,1\n',
      ':1: found the columns name, date, cost, expected id, timestamp, value',
    ],
    ['an open quote', 'id,timestamp,value\n"a,2026-01-01,1\n', 'Quote Not Closed'],
    ['no text', `\u0000\u0001\u0002${'\u0000'.repeat(100)}`, ':1: found the columns'],
    ['one endless line', `id,timestamp,value\n${'x'.repeat(100_000)}\n`, 'expected CSV (RFC 4180)'],
  ])('a file of %s', async (_, text, words) => {
    const path = join(await newProject(), 'series.csv');
    await writeFile(path, text);
    const { exitCode, stdout, stderr } = await forecast(path, '--horizon', '3');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(words);
    expect(stderr).toContain(path);
  });

  test('a missing file, and a folder', async () => {
    expect((await forecast('/does/not/exist.csv', '--horizon', '3')).stderr).toContain(
      'found no such file, expected a CSV file',
    );
    expect((await forecast('/tmp', '--horizon', '3')).stderr).toContain('found a folder, expected a CSV file');
  });
});

test('every mistake of the command line is reported at once', async () => {
  const path = await csvOf(linesOf('a', week));
  const { exitCode, stderr } = await forecast(path, '--level', '80', '--season', '1,x');
  expect(exitCode).toBe(2);
  for (const words of [
    '--horizon is missing: expected the number',
    '--level: found "80", expected a number between 0 and 1',
    '--season: found "1", expected a whole number from 2',
    '--season: found "x", expected',
  ]) {
    expect(stderr).toContain(words);
  }
  expect((await forecast(path, '--horizon', '99999')).stderr).toContain('--horizon: found "99999", expected a');
  expect((await forecast(path, '--horizon', '3', '--as-of', '2026-01-01')).stderr).toContain(
    '--as-of can only be used for forecasts from the books; leave out --input',
  );
  const ofBooks = await runCli(['forecast', '--horizon', '3', '--level', '0.9']);
  expect(ofBooks.exitCode).toBe(2);
  expect(ofBooks.stderr).toContain('--horizon, --level can only be used for forecasts from a file; add --input');
});

test('is ended by a signal between two series', async () => {
  const { values } = syntheticSeries('noisy', 5);
  const path = await csvOf(Array.from({ length: 200 }, (_, index) => linesOf(`s${index}`, values)).flat());
  const started = startMain(['forecast', '--input', path, '--horizon', '31', '--json']);
  await started.firstLine;
  started.signal('SIGTERM');
  expect((await started.ended).exitCode).toBe(143);
});
