// The product's scheduler on a clock that stdin turns: each line is an instant, and is answered by `idle <instant>` when
// nothing runs any more. Runs are real processes of the product, told the same clock; each is named as `run <pid>`.
import { createInterface } from 'node:readline';
import { loadJobs } from '../../dist/jobs/index.js';
import { doneThroughOf, openScheduler, startRun } from '../../dist/jobs/scheduler.js';
import { jobHistories, openBooks } from '../../dist/warehouse/index.js';

const [dir, begun] = process.argv.slice(2);
let now = Date.parse(begun);
const isoNow = () => new Date(now).toISOString();

async function histories() {
  const books = await openBooks(dir, { lockedDown: true }).catch(() => undefined);
  if (books === undefined) return new Map(); // nothing was ever published
  try {
    return await jobHistories(books.connection);
  } finally {
    books.close();
  }
}

const place = { dir, env: process.env, now, keepSecret: () => undefined, requirePing: true };
const scheduler = openScheduler({
  jobs: loadJobs(place).filter(({ isEnabled }) => isEnabled),
  doneThrough: doneThroughOf(await histories()),
  now: () => now,
  log: {
    info: () => undefined,
    warn: (_event, message, fields) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
  },
  start(job, slot) {
    const slotText = new Date(slot).toISOString();
    const args = [
      job.name,
      '--slot',
      slotText,
      '--wait',
      '10m',
      '--dir',
      dir,
      '--now',
      isoNow(),
      '--log-format',
      'json',
    ];
    const run = startRun(args, { env: process.env, isQuiet: true });
    process.stdout.write(`run ${run.pid}\n`);
    return run;
  },
});
process.on('SIGTERM', () => void scheduler.stop().then(() => process.exit(0)));
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  now = Date.parse(line);
  scheduler.tick();
  await scheduler.idle();
  process.stdout.write(`idle ${line}\n`);
}
