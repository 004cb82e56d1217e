import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** How many starts of processes the tests may contain: each takes a second of CPU. Lower it; never raise it. */
const mostStarts = 204;

const root = fileURLToPath(new URL('..', import.meta.url));

/** What starts a process of itself. */
const starters = ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'];

interface Source {
  /** The code without its comments. */
  readonly text: string;
  /** The functions at the top level, by name, each with its own text. */
  readonly functions: ReadonlyMap<string, string>;
  /** The file, or the package, from which each name is imported. */
  readonly imports: ReadonlyMap<string, string>;
}

function sourceOf(file: string, code: string): Source {
  const text = code.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const functions = new Map<string, string>();
  for (const [body, name] of text.matchAll(/^(?:export )?(?:default )?(?:async )?function\*? ?(\w+)[\s\S]*?^\}$/gm)) {
    functions.set(String(name), body);
  }
  for (const [body, name] of text.matchAll(
    /^(?:export )?const (\w+)(?:: [^=\n]+)? = (?:async )?\((?:.*|[\s\S]*?^[})]+);$/gm,
  )) {
    functions.set(String(name), body);
  }
  const imports = new Map<string, string>();
  for (const [, names = '', from = ''] of text.matchAll(/^import \{([^}]*)\} from '([^']*)';$/gm)) {
    for (const name of names.split(',').map((each) => each.trim())) {
      imports.set(name, from.startsWith('.') ? join(dirname(file), from) : from);
    }
  }
  return { text, functions, imports };
}

/** The calls that start a process, as `file: name`, outside of functions that others call to start one. */
function writtenStarts(sources: ReadonlyMap<string, Source>): string[] {
  const wrappers = new Set<string>(); // `file name`
  function startsOf(file: string, { functions, imports }: Source, code: string): string[] {
    return [...code.matchAll(/(?<![.\w]|function\*? )(\w+)\(/g)].flatMap(([, name = '']) => {
      const from = functions.has(name) ? file : imports.get(name);
      if (from === undefined) return [];
      const starts = from === 'node:child_process' ? starters.includes(name) : wrappers.has(`${from} ${name}`);
      return starts ? [`${file}: ${name}`] : [];
    });
  }
  for (let before = -1; before < wrappers.size; ) {
    before = wrappers.size;
    for (const [file, source] of sources) {
      for (const [name, body] of source.functions) {
        if (startsOf(file, source, body).length > 0) wrappers.add(`${file} ${name}`);
      }
    }
  }
  return [...sources].flatMap(([file, source]) => {
    let outside = source.text;
    for (const [name, body] of source.functions) {
      if (wrappers.has(`${file} ${name}`)) outside = outside.replace(body, () => '');
    }
    return startsOf(file, source, outside);
  });
}

function testSources(): Map<string, Source> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.m?ts$|\.mjs$/.test(name) && !name.startsWith('bench'))
    .sort();
  return new Map(files.map((file) => [file, sourceOf(file, readFileSync(join(root, file), 'utf8'))]));
}

test('tests start few processes: only where the process is the point', () => {
  const starts = writtenStarts(testSources());
  expect(starts.length, starts.join('\n')).toBeLessThanOrEqual(mostStarts);
});

test('a start is counted where it is called, through every function that wraps it', () => {
  const files = {
    'support/a.ts': `import { spawn } from 'node:child_process';
/** spawn('in a comment') */
export function start(): void {
  spawn('x');
}
export const twice = () => {
  start();
  start();
};
`,
    'e2e/b.test.ts': `import { execFileSync } from 'node:child_process';
import { start, twice } from '../support/a.ts';
async function night() {
  await start();
}
test('one', () => {
  night();
  twice();
  /x/.exec('x');
});
test('two', () => execFileSync('x'));
`,
  };
  const sources = new Map(Object.entries(files).map(([file, code]) => [file, sourceOf(file, code)]));
  expect(writtenStarts(sources)).toEqual([
    'e2e/b.test.ts: night',
    'e2e/b.test.ts: twice',
    'e2e/b.test.ts: execFileSync',
  ]);
});
