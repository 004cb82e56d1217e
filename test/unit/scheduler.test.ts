import { expect, test } from 'vitest';
import type { Job } from '../../src/jobs/definition.ts';
import { parseJob } from '../../src/jobs/parse.ts';
import { doneThroughOf, openScheduler, type Scheduler } from '../../src/jobs/scheduler.ts';

interface Begun {
  readonly job: string;
  readonly slot: string;
  end(exitCode: number): Promise<void>;
  readonly kills: string[];
}

/** A scheduler on a clock that the test turns, whose runs end when the test says so. */
function scheduled(
  begin: string,
  files: Readonly<Record<string, string>>,
  done: Readonly<Record<string, string>> = {},
): { turn(to: string): void; begun: Begun[]; scheduler: Scheduler; said: string[] } {
  let now = Date.parse(begin);
  const begun: Begun[] = [];
  const said: string[] = [];
  const jobs = Object.entries(files).map(
    ([name, text]): Job =>
      parseJob({
        text,
        file: `${name}.yaml`,
        isBuiltIn: false,
        env: {},
        now,
        keepSecret: () => undefined,
        requirePing: true,
      }),
  );
  const scheduler = openScheduler({
    jobs,
    doneThrough: new Map(Object.entries(done).map(([name, at]) => [name, Date.parse(at)])),
    now: () => now,
    log: { info: () => undefined, warn: (_event, message) => void said.push(message) },
    stopLimitMs: 50,
    start(job, slot) {
      let resolve: (exitCode: number) => void = () => undefined;
      const ended = new Promise<number>((over) => {
        resolve = over;
      });
      const run: Begun = {
        job: job.name,
        slot: new Date(slot).toISOString().slice(0, 16),
        kills: [],
        async end(exitCode) {
          resolve(exitCode);
          await new Promise((later) => setImmediate(later));
        },
      };
      begun.push(run);
      return {
        pid: 1,
        ended,
        kill(signal) {
          run.kills.push(signal);
          if (signal === 'SIGKILL') resolve(137);
        },
      };
    },
  });
  return {
    begun,
    said,
    scheduler,
    turn(to) {
      now = Date.parse(to);
      scheduler.tick();
    },
  };
}

const nightly = { nightly: 'schedule: "15 2 * * *"\nsteps: [ingest]' };

test('a run starts once, at its slot', async () => {
  const { begun, turn } = scheduled('2026-10-01T00:00Z', nightly);
  for (const time of ['00:01', '02:14', '02:15', '02:16', '12:00']) turn(`2026-10-01T${time}Z`);
  await begun[0]?.end(0);
  turn('2026-10-01T12:01Z');
  turn('2026-10-02T02:15Z');
  expect(begun.map(({ slot }) => slot)).toEqual(['2026-10-01T02:15', '2026-10-02T02:15']);
});

test('a job that never ran starts at its next slot', () => {
  const { begun, turn } = scheduled('2026-10-01T09:00Z', nightly);
  turn('2026-10-01T09:00Z');
  expect(begun).toEqual([]);
});

test('missed slots are caught up by one run, for the newest slot', () => {
  const { begun, turn } = scheduled('2026-10-05T09:00Z', nightly, { nightly: '2026-10-01T02:15Z' });
  turn('2026-10-05T09:00Z');
  expect(begun.map(({ slot }) => slot)).toEqual(['2026-10-05T02:15']);
});

test('catchUp: skip leaves missed slots to the next one, also after the machine slept', async () => {
  const skipping = { nightly: `${nightly.nightly}\ncatchUp: skip` };
  const { begun, turn, said } = scheduled('2026-10-05T09:00Z', skipping, { nightly: '2026-10-01T02:15Z' });
  turn('2026-10-05T09:00Z');
  turn('2026-10-06T08:00Z');
  expect(begun).toEqual([]);
  expect(said).toEqual(Array(2).fill('A scheduled run was missed; the next one covers it'));
  turn('2026-10-07T02:16Z');
  expect(begun).toHaveLength(1);
});

test('two runs never overlap: a waiting job starts after the other, for its newest slot', async () => {
  const { begun, turn, scheduler } = scheduled('2026-10-01T00:00Z', {
    ...nightly,
    hourly: 'schedule: "0 * * * *"\nsteps: [ingest]',
  });
  turn('2026-10-01T01:00Z');
  turn('2026-10-01T02:00Z');
  turn('2026-10-01T02:15Z');
  turn('2026-10-01T03:00Z');
  expect(begun.map(({ job, slot }) => `${job} ${slot}`)).toEqual(['hourly 2026-10-01T01:00']);
  expect(scheduler.states().map(({ job, isRunning }) => [job, isRunning])).toEqual([
    ['nightly', false],
    ['hourly', true],
  ]);
  await begun[0]?.end(3);
  expect(begun.slice(1).map(({ job, slot }) => `${job} ${slot}`)).toEqual(['nightly 2026-10-01T02:15']);
  await begun[1]?.end(0);
  expect(begun.slice(2).map(({ job, slot }) => `${job} ${slot}`)).toEqual(['hourly 2026-10-01T03:00']);
  expect(scheduler.states().map(({ last }) => last?.exitCode)).toEqual([0, 3]);
  await begun[2]?.end(0);
  await scheduler.idle();
});

test('a clock that is set back runs nothing twice', async () => {
  const { begun, turn } = scheduled('2026-10-01T00:00Z', nightly);
  turn('2026-10-01T02:15Z');
  await begun[0]?.end(0);
  turn('2026-10-01T01:00Z');
  turn('2026-10-01T02:15Z');
  expect(begun).toHaveLength(1);
});

test('a clock that was a month fast does not prevent later runs', async () => {
  const { begun, turn } = scheduled('2026-10-01T00:00Z', nightly, { nightly: '2026-11-01T02:15Z' });
  turn('2026-10-01T00:01Z');
  turn('2026-10-01T02:15Z');
  expect(begun.map(({ slot }) => slot)).toEqual(['2026-10-01T02:15']);
});

test('stopping starts no run, interrupts the current one, and kills it if it does not end', async () => {
  const { begun, turn, scheduler } = scheduled('2026-10-01T00:00Z', {
    ...nightly,
    other: 'schedule: "15 2 * * *"\nsteps: [check]',
  });
  turn('2026-10-01T02:15Z');
  await scheduler.stop();
  turn('2026-10-02T02:15Z');
  expect(begun.map(({ kills }) => kills)).toEqual([['SIGTERM', 'SIGKILL']]);
});

test('a job continues where the books say', () => {
  const at = Date.parse('2026-10-01T02:15Z');
  const histories = new Map([
    ['done', { doneThrough: at, interrupted: [] }],
    ['killed', { doneThrough: undefined, interrupted: [at] }],
    ['nothing', { doneThrough: undefined, interrupted: [] }],
  ]);
  expect([...doneThroughOf(histories)]).toEqual([
    ['done', at],
    ['killed', at - 1],
  ]);
});
