// A process that times reports and their aggregates by hand on one connection: `node report-times.js <project folder>
// <list> <repeats> [flat file] [from] [to]`. The list is a JSON array of {report, given, byHand}; answers are written as Parquet by both.
// With a flat file, its table `flat` is made of the hours between two dates if it is missing, and read by hand.
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compiled } from './compiled.ts';

interface Asked {
  readonly report: string;
  readonly writes?: string;
  readonly given: Readonly<Record<string, string>>;
  readonly byHand: string;
}

const [dir = '', list = '', repeats = '3', flat, from = '', to = ''] = process.argv.slice(2);
const asked: readonly Asked[] = JSON.parse(readFileSync(list, 'utf8'));
const {
  'warehouse/integrity/index': { openBooks },
  'reports/questions/index': questions,
  'reports/formats/index': formats,
} = await compiled('warehouse/integrity/index', 'reports/questions/index', 'reports/formats/index');
const reports = { ...questions, ...formats };
const { writeAnswer } = formats;

const { connection, close } = await openBooks(dir, { lockedDown: false });
if (flat !== undefined) {
  const isThere = existsSync(flat);
  await connection.run(`attach '${flat}' as hand${isThere ? ' (read_only)' : ''}`);
  if (!isThere) {
    await connection.run(
      `create table hand.main.flat as select * from costs
        where bucket_start >= cast($from as timestamp) and bucket_start < cast($to as timestamp) order by all`,
      { from, to },
    );
  }
}
const known = await reports.readReports(join(dir, 'sql'));
const state = await reports.completenessOf(connection);
const folder = await mkdtemp(join(dir, 'times-'));
const facts = reports.factsOf(state);
let file = 0;

/** What one answer took. */
interface Took {
  readonly seconds: number;
  /** On all threads. */
  readonly cpuSeconds: number;
}

async function timed(work: (path: string) => Promise<unknown>): Promise<Took> {
  file += 1;
  const path = join(folder, `${file}.parquet`);
  const [begun, used] = [performance.now(), process.cpuUsage()];
  await work(path);
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(used);
  await rm(path);
  return { seconds, cpuSeconds: (user + system) / 1e6 };
}

const answers = [];
for (const { report: name, writes, given, byHand } of asked) {
  const report = known.find((candidate) => candidate.name === name);
  if (report === undefined) throw new Error(`there is no report ${name}`);
  const texts = Object.entries(given).map(([parameter, text]) => ({ name: parameter, text, what: parameter }));
  const attempt = { now: Date.UTC(2026, 10, 1), dir, problem: (words: string) => process.stderr.write(`${words}\n`) };
  const values = reports.settleParameters(await reports.readParameters(report, texts, attempt), state);
  const question = { connection, query: reports.orderedQuery(report), parameters: reports.sqlParameters(values) };
  const options = { format: 'parquet', raw: false, parquetDecimals: 'exact', facts } as const;
  const hand = flat === undefined ? byHand : byHand.replaceAll('from flat', 'from hand.main.flat');
  const ours: Took[] = [];
  const theirs: Took[] = [];
  for (let repeat = 0; repeat < Number(repeats); repeat += 1) {
    theirs.push(
      await timed((path) => connection.run(`copy (${hand}) to '${path}' (format parquet, compression zstd)`)),
    );
    ours.push(await timed((path) => writeAnswer(question, { ...options, path })));
  }
  answers.push({ report: name, ...(writes !== undefined && { writes }), ours, theirs });
}
close();
await rm(folder, { recursive: true });
process.stdout.write(JSON.stringify(answers));
