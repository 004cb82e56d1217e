import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Bench, type Figure, median } from '../figures.ts';
import { cli, cpuOfEnded, newFolder, run } from '../processes.ts';

/** The commands that are measured, and the most that each may take, as a ratio to the bare process. */
const commands: readonly { readonly args: readonly string[]; readonly target?: number }[] = [
  { args: ['--version'], target: 0.5 },
  { args: ['--help'], target: 0.5 },
  { args: ['completion', 'bash'], target: 0.5 },
  { args: ['status'], target: 1.6 },
  { args: ['sql', 'select 1'], target: 1.8 },
  { args: ['report', 'cost_by_workspace', '--month', '2026-10'], target: 2.5 },
  { args: ['budgets'], target: 3 },
  { args: ['forecast'], target: 3 },
  { args: ['alert'], target: 8 },
];

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
    const dir = books ?? join(parent, 'demo');
    if (books === undefined) {
      tell('making the books of the demo');
      await run([cli, 'demo', dir]);
    }
    const bare = join(parent, 'bare.mjs');
    await writeFile(bare, bareProgram(join(dir, 'data', 'costbook.duckdb')));
    const env = { COSTBOOK_URL: 'http://127.0.0.1:1', COSTBOOK_TOKEN: 'bench', COSTBOOK_DIR: dir };
    await cpuOfEnded([cli, 'alert'], env); // what changed is told once, before it is measured
    const repeats = quick ? 1 : 9;
    const all = [{ args: [bare], program: [] as string[] }, ...commands.map(({ args }) => ({ args, program: [cli] }))];
    const times = all.map((): number[] => []);
    // Side by side: what else the machine does meets all of them.
    for (let round = 0; round < repeats; round += 1) {
      for (const [index, { args, program }] of all.entries()) {
        times[index]?.push(await cpuOfEnded([...program, ...args], env));
      }
    }
    const [base = Number.NaN, ...others] = times.map(median);
    tell(`the bare process: ${base.toFixed(2)} s`);
    return commands.map(({ args, target }, index): Figure => {
      const seconds = others[index] ?? Number.NaN;
      tell(`${args.join(' ')}: ${seconds.toFixed(2)} s`);
      const measured = `${args.join(' ')}, against a bare process`;
      return {
        bench: 'start',
        measured,
        value: seconds / base,
        unit: 'x',
        ...(target === undefined ? {} : { target }),
      };
    });
  },
};
