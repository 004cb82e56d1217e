import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { withChangedHour } from '../changed-hour.ts';
import { type Bench, type Figure, median } from '../figures.ts';
import { cli, cpuOfEnded, newFolder, run, type Talk } from '../processes.ts';

/** The time of the demo, and of the commands on its books. */
const now = '2026-11-21T13:30:00Z';

/** An agent's first question after a start. */
const agentAsks = [
  {
    ...{ id: 1, method: 'initialize' },
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/call', params: { name: 'status', arguments: {} } },
]
  .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  .join('');

/** The commands that are measured, and the most that each may take, as a ratio to the bare process. */
const commands: readonly {
  readonly args: readonly string[];
  readonly target?: number;
  readonly talk?: Talk;
}[] = [
  { args: ['--version'], target: 0.5 },
  { args: ['--help'], target: 0.5 },
  { args: ['completion', 'bash'], target: 0.5 },
  { args: ['status'], target: 1.6 },
  { args: ['sql', 'select 1'], target: 1.8 },
  { args: ['report', 'cost_by_workspace', '--month', '2026-10'], target: 2.5 },
  { args: ['budgets'], target: 3 },
  { args: ['forecast'], target: 3 },
  { args: ['alert'], target: 8 },
  { args: ['mcp'], talk: { input: agentAsks, onLine: async (line) => line.includes('"id":2') } },
  {
    args: ['serve', '--port', '0', '--json'],
    talk: {
      async onLine(line) {
        const { url } = JSON.parse(line) as { url: string };
        const page = await fetch(url);
        if (!page.ok || !(await page.text()).includes('</html>')) throw new Error(`${url} answered ${page.status}`);
        return true;
      },
    },
  },
];

/** What is measured on a copy of the books after one changed hour: it must cost what changed, not the history. */
const afterChange = { name: 'alert after one changed hour', target: 10 };

/** A process that opens the published snapshot with the same DuckDB package, and answers. */
function bareProgram(snapshot: string): string {
  const duckdb = fileURLToPath(import.meta.resolve('@duckdb/node-api'));
  return `import duckdb from ${JSON.stringify(pathToFileURL(duckdb).href)};
const instance = await duckdb.DuckDBInstance.create(${JSON.stringify(snapshot)}, { access_mode: 'READ_ONLY' });
const connection = await instance.connect();
console.log((await connection.runAndReadAll('select 1')).getRowsJson());
connection.closeSync();
instance.closeSync();
`;
}

/** CPU of commands on the demo's books, against a bare process: what a person waits for on every start. */
export const startBench: Bench = {
  name: 'start',
  about: 'CPU of short commands on the books of the demo, against a bare process that asks DuckDB for 1',
  isLong: true,
  async run({ quick, books, tell }) {
    const parent = await newFolder();
    const dir = books ?? join(parent, 'costbook-demo');
    if (books === undefined) {
      tell('making the books of the demo');
      await run([cli, 'demo', '--dir', parent, '--now', now]);
    }
    const bare = join(parent, 'bare.mjs');
    await writeFile(bare, bareProgram(join(dir, 'data', 'costbook.duckdb')));
    const clock = books === undefined ? { COSTBOOK_NOW: now } : {};
    const env = { COSTBOOK_URL: 'http://127.0.0.1:1', COSTBOOK_TOKEN: 'bench', COSTBOOK_DIR: dir, ...clock };
    await cpuOfEnded([cli, 'alert'], env); // what changed is told once, before it is measured
    tell('changing one hour');
    const changed = await withChangedHour(dir, env);
    async function alertAfterChange(): Promise<number> {
      const copy = join(await newFolder(), 'changed');
      await cp(changed, copy, { recursive: true });
      return cpuOfEnded([cli, 'alert'], { ...env, COSTBOOK_DIR: copy });
    }
    const repeats = quick ? 1 : 9;
    const all = [{ args: [bare] }, ...commands.map(({ args, talk }) => ({ args: [cli, ...args], talk }))];
    const times = all.map((): number[] => []);
    const timesAfterChange: number[] = [];
    // Side by side: what else the machine does meets all of them.
    for (let round = 0; round < repeats; round += 1) {
      for (const [index, one] of all.entries()) {
        times[index]?.push(await cpuOfEnded(one.args, env, 'talk' in one ? one.talk : undefined));
      }
      timesAfterChange.push(await alertAfterChange());
    }
    const [base = Number.NaN, ...others] = times.map(median);
    tell(`the bare process: ${base.toFixed(2)} s`);
    function figureOf(name: string, seconds: number, target: number | undefined): Figure {
      tell(`${name}: ${seconds.toFixed(2)} s`);
      const measured = `${name}, against a bare process`;
      const goal = target === undefined ? {} : { target };
      return { bench: 'start', measured, value: seconds / base, unit: 'x', ...goal };
    }
    return [
      ...commands.map(({ args, target }, index) => figureOf(args.join(' '), others[index] ?? Number.NaN, target)),
      figureOf(afterChange.name, median(timesAfterChange), afterChange.target),
    ];
  },
};
