import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** How many starts of Costbook, or of Node with code of ours, the tests may contain. Lower it; never raise it. */
const mostStarts = 80;

const root = fileURLToPath(new URL('..', import.meta.url));

/** A call that starts a program, with what it starts: `cp` and other tools of the machine are not counted. */
const direct =
  /(?<![.\w])(?:spawn|spawnSync|execFile|execFileSync|fork)\([^;]{0,200}?\b(?:process\.execPath|cli|harness)\b/g;
const exported = /^export (?:async )?function (\w+)[\s\S]*?^\}$/gm;

type Texts = ReadonlyMap<string, string>;

/** The functions of test/support that start a process, through others too. */
function startersIn(support: Texts): Set<string> {
  const starters = new Set<string>();
  const bodies = [...support.values()].flatMap((text) => [...text.matchAll(exported)]);
  for (let before = -1; before < starters.size; ) {
    before = starters.size;
    for (const [body, name = ''] of bodies) {
      if (body.search(direct) >= 0 || callsOf(starters, body).length > 0) starters.add(name);
    }
  }
  return starters;
}

function callsOf(names: ReadonlySet<string>, text: string): string[] {
  return [...text.matchAll(/(?<![.\w]|function )(\w+)\(/g)].flatMap(([, name = '']) => (names.has(name) ? name : []));
}

/** Each written start, as `file: function`. */
function writtenStarts(texts: Texts): string[] {
  const isSupport = ([file]: [string, string]) => file.startsWith('support/');
  const starters = startersIn(new Map([...texts].filter(isSupport)));
  return [...texts]
    .filter((each) => !isSupport(each))
    .flatMap(([file, text]) => {
      const started = [...callsOf(starters, text), ...(text.match(direct) ?? []).map(() => 'child_process')];
      return started.map((name) => `${file}: ${name}`);
    });
}

test('tests start few processes: only where the process is the point', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.m?ts$|\.mjs$/.test(name) && !name.startsWith('bench') && !name.endsWith('process-starts.test.ts'),
  );
  const texts = files.map((file): [string, string] => [
    file,
    readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''),
  ]);
  const starts = writtenStarts(new Map(texts));
  expect(starts.length, starts.sort().join('\n')).toBeLessThanOrEqual(mostStarts);
  expect(starts.length, 'few are left: lower the limit').toBeGreaterThan(mostStarts - 20);
});

test('a start is counted where it is written, through every function of the support that wraps it', () => {
  const texts = {
    'support/a.ts': `export function start() {\n  spawn(process.execPath, ['x']);\n}\nexport async function both() {\n  await start();\n}\n`,
    'e2e/b.test.ts': `test('one', () => {\n  start();\n  both();\n  spawnSync('cp', ['a', 'b']);\n  execFileSync(process.execPath, ['y']);\n  /x/.exec('x');\n});\n`,
  };
  expect(writtenStarts(new Map(Object.entries(texts)))).toEqual([
    'e2e/b.test.ts: start',
    'e2e/b.test.ts: both',
    'e2e/b.test.ts: child_process',
  ]);
});
