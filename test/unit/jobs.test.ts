// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is what the file itself may say
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandLineOf, type Job } from '../../src/jobs/definition.ts';
import { jobNames, loadJob, loadJobs } from '../../src/jobs/load.ts';
import { parseJob, readJob } from '../../src/jobs/parse.ts';
import { slotsBetween } from '../../src/jobs/slots.ts';
import { parseTimetable } from '../../src/jobs/timetable.ts';
import { zoneOf } from '../../src/time/time.ts';
import { newProject } from '../support/project.ts';

const now = Date.UTC(2026, 10, 21);
const kept: string[] = [];
const place = {
  env: { HOOK: 'https://hc.example.com/ping/5f2b9c77aa01' },
  now,
  keepSecret: (text: string) => void kept.push(text),
  requirePing: true,
};

function parse(text: string, requirePing = true): Job {
  return parseJob({ ...place, requirePing, text, file: 'jobs/mine.yaml', isBuiltIn: false });
}

/** The problems, one a line, without the file's name. */
function problems(text: string): string {
  try {
    parse(text);
  } catch (error) {
    return error instanceof Error ? error.message.replaceAll('jobs/mine.yaml:', '') : '';
  }
  return 'none';
}

describe('a job', () => {
  test('is read with every key', () => {
    const job = parse(`schedule: "*/15 8-18 * * MON-FRI"
timeZone: Europe/Berlin
timeout: 50m
catchUp: skip
enabled: false
ping: { start: "\${HOOK}/start", fail: "\${HOOK}/fail" }
steps:
  - ingest: { from: -1d, refetch: true }
  - check
  - close: { month: last }
  - report: { name: focus, month: last-complete, format: [csv, parquet], focusVersion: "1.4", param: { workspace: north, n: 007 } }
  - summarize: { period: monthly, sink: [finops, mail] }
  - alert
`);
    expect({ ...job, timetable: undefined, zone: job.zone.name }).toEqual({
      name: 'mine',
      file: 'jobs/mine.yaml',
      isBuiltIn: false,
      schedule: '*/15 8-18 * * MON-FRI',
      timetable: undefined,
      zone: 'Europe/Berlin',
      timeoutMs: 3_000_000,
      timeoutLine: 3,
      catchUp: 'skip',
      isEnabled: false,
      ping: {
        start: 'https://hc.example.com/ping/5f2b9c77aa01/start',
        success: undefined,
        fail: 'https://hc.example.com/ping/5f2b9c77aa01/fail',
        allowPrivateNetwork: false,
      },
      steps: expect.anything(),
    });
    expect(job.steps.map(commandLineOf)).toEqual([
      'ingest --from -1d --refetch',
      'check',
      'close last',
      'report focus --month last-complete --param workspace=north --param n=007 --format csv,parquet --focus-version 1.4',
      'summarize --period monthly --sink finops,mail',
      'alert',
    ]);
    expect(kept).toContain('https://hc.example.com/ping/5f2b9c77aa01/fail');
  });

  test('needs only a schedule and steps', () => {
    expect(parse('schedule: "15 2 * * *"\nsteps: [ingest, alert]\n')).toMatchObject({
      timeoutMs: undefined,
      catchUp: 'once',
      isEnabled: true,
      ping: undefined,
      zone: { name: 'UTC' },
    });
  });

  test('with mistakes is refused with all of them, each with its place', () => {
    expect(
      problems(`shedule: "15 2 * * *"
timezone: Europe/Berlin
timeout: 5 minutes
catchUp: twice
enabled: yes
fail: x
steps:
  - ingset
  - ingest: { form: -1d, acceptReducedAccess: true, from: yesterday }
  - report
  - report: { month: 2026-10, format: [csv, xls], parquetDecimals: rough }
  - check: { list: true }
  - close: { month: next }
  - { alert, summarize }
  - 5
  - summarize: { period: daily, from: -1d }
ping: { begin: "\${HOOK}" }
`),
    ).toMatchInlineSnapshot(`
      "1:1: unknown key "shedule"; did you mean schedule? rename or remove it
      2:1: unknown key "timezone"; did you mean timeZone? rename or remove it
      3:10: timeout: found "5 minutes", expected a duration such as 90s, 50m or 6h
      4:10: catchUp: found "twice", expected once or skip
      5:10: enabled: found "yes", expected true or false
      6:1: unknown key "fail"; it belongs to ping; move it there
      8:5: steps: found "ingset", expected one of ingest, check, close, report, statement, summarize, subscriptions or alert, or a step with options such as report: { name: focus }; did you mean ingest?
      9:15: unknown key "form"; did you mean from? rename or remove it
      9:26: unknown key "acceptReducedAccess"; expected one of from, to or refetch
      9:59: from: found "yesterday", expected a date: 2026-10-01, 2026-10, 2026-10-01T00:00:00Z or -7d (all UTC)
      10:5: steps: found report without name, expected report: { name: … }
      11:13: report: found no name, expected one in each report step; add it
      11:45: format: found "xls", expected csv, parquet, arrow, json or xlsx; did you mean xlsx?
      11:68: parquetDecimals: found "rough", expected exact or double
      12:14: unknown key "list"; expected one of changed
      13:21: month: found "next", expected last, or a month such as 2026-09
      14:7: unknown key "alert"; it belongs to a line of its own: - alert; move it there
      14:14: summarize: found nothing, expected options such as { period: … }, or only the name: - summarize
      15:5: steps: found a number, expected a text; put it in quotes
      16:26: period: found "daily", expected weekly or monthly
      16:33: unknown key "from"; it belongs to the step ingest; move it there
      17:7: ping: found no address, expected addresses such as fail: "\${PING_URL}/fail"; write one or remove it
      17:9: unknown key "begin"; expected one of start, success, fail or allowPrivateNetwork"
    `);
  });

  test.each([
    ['', /found no schedule, .*\n.*found no steps/],
    ['[]', /found a list, expected keys/],
    ['schedule: "15 2 * * *"\nsteps: []', /found an empty list/],
    ['schedule: "15 2 * * *"\nsteps: *all', /an anchor that is not defined above/],
    ['schedule: "15 2 * * *"\n__proto__: { steps: [check] }\nsteps: [check]', /unknown key "__proto__"/],
    ['schedule: "15 2 * * *"\nsteps: [{ __proto__: { name: x } }]', /unknown key "__proto__"/],
    ['schedule: "15 2 * * *"\nsteps: [constructor]', /found "constructor", expected one of/],
    ['schedule: "15 2 * * *"\nsteps: [check]\nsteps: [alert]', /found a second time, first on line 2/],
    ['schedule: 15\nsteps: [check]', /schedule: found a number, expected a text; put it in quotes/],
    [`schedule: "15 2 * * *"\nsteps: [check]\n# ${'x'.repeat(10 * 1024 * 1024)}`, /expected at most 1 MiB/],
    [`a: &a [x]\nb: &b [*a, *a]\nschedule: "15 2 * * *"\nsteps: *b`, /found an alias of a list/],
    ['schedule: "15 2 * * *"\nsteps: [check]\nping: { fail: "${NOT_SET}/x" }', /\$\{NOT_SET\}, which is not set/],
    [
      'schedule: "15 2 * * *"\nsteps: [check]\nping: { fail: "http://hc.example.com/secret-path" }',
      /found http, which is not encrypted/,
    ],
    ['schedule: "15 2 * * *"\nsteps: [check]\nping: {}', /found no address/],
    ['schedule: "15 2 * * *"\nsteps: [check]\ntimeZone: Europe/Berln', /did you mean Europe\/Berlin/],
  ])('is refused for %.60s', (text, words) => {
    expect(problems(text)).toMatch(words);
  });

  test('with an invalid address does not show it', () => {
    const told = problems(
      'schedule: "15 2 * * *"\nsteps: [check]\nping: { fail: "ftp://hc.example.com/MARKED-5f2b9c" }',
    );
    expect(told).toContain('found no http or https address');
    expect(told).not.toContain('MARKED');
  });

  test('needs no variable of its address if the address is not used', () => {
    expect(parse('schedule: "15 2 * * *"\nsteps: [check]\nping: { fail: "${NOT_SET}" }', false).ping?.fail).toBe(
      undefined,
    );
  });
});

describe('a schedule', () => {
  test.each([
    ['15 2 * * *', [[15], [2]]],
    [
      '*/20 1,3-5 * * *',
      [
        [0, 20, 40],
        [1, 3, 4, 5],
      ],
    ],
    [
      '50/5 0-20/10 * * *',
      [
        [50, 55],
        [0, 10, 20],
      ],
    ],
  ])('%s', (text, [minutes, hours]) => {
    expect(parseTimetable(text)).toMatchObject({ minutes, hours });
  });

  test('accepts names of months and weekdays, and two numbers for Sunday', () => {
    expect(parseTimetable('0 0 * jan,Jul-SEP 5-7')).toMatchObject({ months: [1, 7, 8, 9], weekdays: [0, 5, 6] });
  });

  test.each([
    ['15 2 * *', 'found 4 fields, expected five'],
    ['0 15 2 * * *', 'found 6 fields (seconds are not supported), expected five'],
    ['@daily', 'expected five fields such as "15 2 * * *"'],
    ['60 2 * * *', 'found "60" as the minute, expected *, a number from 0 to 59'],
    ['15 2-1 * * *', 'found "2-1" as the hour'],
    ['*/0 2 * * *', 'found "*/0" as the minute'],
    ['15 2 * * MOON', 'did you mean MON?'],
    ['15 2 1 * MON', 'found both a day of the month ("1") and a weekday ("MON")'],
    ['15 2 30 2 *', 'found a day ("30") that does not exist in its months ("2")'],
    ['-1 2 * * *', 'found "-1" as the minute'],
    ['1--2 2 * * *', 'found "1--2" as the minute'],
    [', 2 * * *', 'found "," as the minute'],
  ])('%s is refused', (text, words) => {
    expect(() => parseTimetable(text)).toThrow(words);
  });

  test('at a skipped local time is due right after the gap, and at a repeated one the first time', () => {
    const zone = zoneOf('America/New_York');
    const slots = (text: string, from: string, through: string) =>
      [...slotsBetween(parseTimetable(text), zone, Date.parse(from), Date.parse(through))].map((slot) =>
        new Date(slot).toISOString(),
      );
    expect(slots('30 2 * * *', '2026-03-07T12:00Z', '2026-03-09T12:00Z')).toEqual([
      '2026-03-08T07:00:00.000Z',
      '2026-03-09T06:30:00.000Z',
    ]);
    expect(slots('30 1 * * *', '2026-10-31T12:00Z', '2026-11-02T12:00Z')).toEqual([
      '2026-11-01T05:30:00.000Z',
      '2026-11-02T06:30:00.000Z',
    ]);
    // Every hour is every hour.
    expect(slots('30 * * * *', '2026-11-01T05:00Z', '2026-11-01T08:00Z')).toEqual([
      '2026-11-01T05:30:00.000Z',
      '2026-11-01T06:30:00.000Z',
      '2026-11-01T07:30:00.000Z',
    ]);
  });
});

describe('jobs', () => {
  test('that come with Costbook are valid', async () => {
    const jobs = loadJobs({ ...place, dir: await newProject() });
    expect(
      jobs.map(({ name, schedule, isEnabled, isBuiltIn, steps }) => [
        name,
        schedule,
        isEnabled,
        isBuiltIn,
        steps.map(commandLineOf),
      ]),
    ).toEqual([
      ['hourly_watch', '40 * * * *', false, true, ['ingest --from -1d', 'alert']],
      [
        'month_close',
        '30 5 4 * *',
        true,
        true,
        [
          'ingest',
          'check',
          'close last',
          'report focus --month last-complete',
          'report invoice_lines --month last-complete',
          'report reconciliation_summary --month last-complete',
          'statement --month last-complete',
          'subscriptions',
          'alert',
        ],
      ],
      ['nightly', '15 2 * * *', true, true, ['ingest', 'check --changed', 'subscriptions', 'alert']],
    ]);
  });

  test('of a project override built-in ones by name; budgets and allocation are not jobs', async () => {
    const dir = await newProject();
    await mkdir(join(dir, 'jobs'));
    await writeFile(join(dir, 'jobs', 'nightly.yaml'), 'schedule: "0 4 * * *"\nsteps: [ingest]\n');
    await writeFile(join(dir, 'jobs', 'weekly.yaml'), 'schedule: "0 6 * * MON"\nsteps: [summarize]\n');
    await writeFile(join(dir, 'jobs', 'budgets.yaml'), 'budgets: 5\n');
    await writeFile(join(dir, 'jobs', 'allocation.yaml'), 'rules: 5\n');
    expect(jobNames(dir)).toEqual(['hourly_watch', 'month_close', 'nightly', 'weekly']);
    expect(loadJob('nightly', { ...place, dir })).toMatchObject({ schedule: '0 4 * * *', isBuiltIn: false });
    expect(() => loadJob('budgets', { ...place, dir })).toThrow('jobs/budgets.yaml is not a job');
    expect(() => loadJob('wekly', { ...place, dir })).toThrow('there is no job "wekly" (did you mean weekly?)');
    expect(() => loadJob('../costbook', { ...place, dir })).toThrow('there is no job');
    await writeFile(join(dir, 'jobs', 'other.yml'), 'schedule: "0 4 * * *"\nsteps: [ingest]\n');
    expect(() => loadJobs({ ...place, dir })).toThrow('other.yml: found this file, expected the ending .yaml');
  });

  test.each([
    ['other.yml', 'expected the ending .yaml'],
    ['other.YAML', 'expected the ending .yaml'],
    ['Budgets.yaml', 'expected the name budgets.yaml'],
  ])('a stray file %s is reported next to the mistakes of the requested job', async (name, words) => {
    const dir = await newProject();
    await mkdir(join(dir, 'jobs'));
    await writeFile(join(dir, 'jobs', 'nightly.yaml'), 'schedule: "0 4 * * *"\nsteps: [ingset]\n');
    await writeFile(join(dir, 'jobs', name), 'schedule: "0 4 * * *"\nsteps: [ingest]\n');
    expect(() => loadJob('nightly', { ...place, dir })).toThrow(`${name}: found this file, ${words}`);
    expect(() => loadJob('nightly', { ...place, dir })).toThrow('nightly.yaml:2:9');
  });

  test('with mistakes are all reported together', async () => {
    const dir = await newProject();
    await mkdir(join(dir, 'jobs'));
    await writeFile(join(dir, 'jobs', 'one.yaml'), 'steps: [ingest]\n');
    await writeFile(join(dir, 'jobs', 'two.yaml'), 'schedule: "0 4 * * *"\n');
    expect(() => loadJobs({ ...place, dir })).toThrow(/one\.yaml.*found no schedule.*\n.*two\.yaml.*found no steps/);
  });
});

test('a file with mistakes still gives its valid steps, each with its line', () => {
  const reading = readJob({
    ...place,
    text: 'schedul: "15 2 * * *"\nsteps:\n  - ingset\n  - report: { name: nosuch }\n  - report: { nmae: focus }\n',
    file: 'jobs/mine.yaml',
    isBuiltIn: false,
  });
  expect(reading.job).toBe(undefined);
  expect(reading.problems).toHaveLength(3);
  expect(reading.problems[0]).toMatchObject({ file: 'jobs/mine.yaml', line: 1 });
  const step = { name: 'report', options: { name: 'nosuch' } };
  expect(reading.steps).toEqual([{ ...step, where: 'jobs/mine.yaml:4:5', line: 4 }]);
});

test('a report step accepts the time limit and folders of its command', () => {
  const steps = '[{ report: { name: unit_economics, allowFiles: [/srv/a, /srv/b], timeout: 10m } }]';
  expect(parse(`schedule: "15 2 * * *"\nsteps: ${steps}\n`).steps.map(commandLineOf)).toEqual([
    'report unit_economics --allow-files /srv/a --allow-files /srv/b --timeout 10m',
  ]);
  expect(problems(`schedule: "15 2 * * *"\nsteps: [{ report: { name: focus, timeout: soon } }]\n`)).toContain(
    'timeout: found "soon", expected a duration',
  );
});
