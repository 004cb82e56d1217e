// What others forecast of the same series: simple rules and, where Python has statsforecast, public methods.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { median } from './figures.ts';

/** The forecasts of a peer, by series. */
export type Peers = ReadonlyMap<string, readonly (readonly number[])[]>;

/** The Python to ask: a virtual environment has its own. */
const python = process.env['COSTBOOK_BENCH_PYTHON'] ?? 'python3';
const script = fileURLToPath(new URL('../../test/bench/peers.py', import.meta.url));

/** Whether public methods are asked; says what is missing if they are not. */
export async function asksPublicMethods(quick: boolean, tell: (line: string) => void): Promise<boolean> {
  const isThere = promisify(execFile)(python, ['-c', 'import statsforecast']).then(
    () => true,
    () => false,
  );
  if (!quick && (await isThere)) return true;
  tell('public methods are left out: they need a Python with statsforecast (COSTBOOK_BENCH_PYTHON)');
  return false;
}

/** The last season again; and the same moved by the median change from one of the last eight seasons to the next. */
export function simplePeers(all: readonly (readonly number[])[], season: number, horizon: number): Peers {
  const steps = Array.from({ length: horizon }, (_, step) => step);
  const again = (values: readonly number[], step: number) => values[values.length - season + (step % season)] ?? 0;
  const drifted = all.map((values) => {
    const sumOf = (back: number) =>
      values
        .slice(values.length - (back + 1) * season, values.length - back * season)
        .reduce((sum, one) => sum + one, 0);
    const daily = median(Array.from({ length: 8 }, (_, back) => (sumOf(back) - sumOf(back + 1)) / season));
    return steps.map((step) => Math.max(0, again(values, step) + daily * (Math.floor(step / season) + 1)));
  });
  return new Map([
    ['again', all.map((values) => steps.map((step) => again(values, step)))],
    ['drift', drifted],
  ]);
}

/** Those of public methods. */
export async function publicPeers(
  series: readonly (readonly number[])[],
  seasons: readonly number[],
  horizon: number,
): Promise<Peers> {
  const asked = promisify(execFile)(python, [script], { maxBuffer: 2 ** 30 });
  asked.child.stdin?.end(JSON.stringify({ series, seasons, horizon }));
  return new Map(Object.entries(JSON.parse((await asked).stdout) as Record<string, number[][]>));
}
