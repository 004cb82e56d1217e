// `costbook schedule` on a clock that stdin turns: each line is an instant, and is answered by `idle <instant>` when
// nothing runs any more. Runs are real processes of the product, told the same clock; each is named as `run <pid>`.
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { main, usualEffects } from '../../dist/main.js';

const [dir, begun] = process.argv.slice(2);
let now = Date.parse(begun);
let tick;
let running = 0;
let changed = () => undefined;

/** The log of the scheduler says what it has started and what has ended. */
function read(line) {
  if (line === '') return;
  const { event, process: pid, message, ...fields } = JSON.parse(line);
  if (event === 'run.started') {
    running += 1;
    process.stdout.write(`run ${pid}\n`);
  } else if (event === 'run.finished' || event === 'run.failed') {
    running -= 1;
    changed();
  }
  if (fields.level === 'warn') process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
}

/** A run that ends may make room for the next one, which starts in the same turn. */
async function idle() {
  await nextTurn();
  while (running > 0) {
    await new Promise((resolve) => {
      changed = resolve;
    });
    await nextTurn();
  }
}

const ended = main(['schedule', '--dir', dir, '--now', begun, '--json', '--log-format', 'json'], {
  ...usualEffects(process.env),
  elapsed: () => now - Date.parse(begun),
  async everyMinute(action) {
    tick = action;
    return { stop: () => undefined };
  },
  stdin: Readable.from([]),
  stdout: process.stdout,
  stderr: new Writable({
    write(chunk, _, done) {
      for (const line of String(chunk).split('\n')) read(line);
      done();
    },
  }),
  env: process.env,
  folder: process.cwd(),
  setUmask: (mask) => void process.umask(mask),
  onSignal: (take) => void process.on('SIGTERM', take),
  onUnhandledRejection: (take) => void process.on('unhandledRejection', take),
  endBySignal: () => process.exit(143),
  interrupt: () => undefined,
});
void ended.then((exitCode) => process.exit(exitCode));
while (tick === undefined) await nextTurn();
await idle();
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  now = Date.parse(line);
  tick();
  await idle();
  process.stdout.write(`idle ${line}\n`);
}
