import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { allCommands } from '../../src/commands/index.ts';
import { cli, newProject, startCli } from '../support/project.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const commands = await allCommands();
const now = '2026-11-21T13:30:00Z';
/** When the books are old enough for an alert about that. */
const later = '2026-11-24T13:30:00Z';

interface Block {
  readonly kind: string;
  readonly text: string;
  /** Where its first line stands. */
  readonly line: number;
}

/** What stands between fences. Only `sh` is run: `console` is what this test cannot do, such as installing. */
const blocks: readonly Block[] = [...readme.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(
  ({ 1: kind = '', 2: text = '', index }) => ({ kind, text, line: readme.slice(0, index).split('\n').length + 1 }),
);

/** The block whose first line names a file that a reader is to write. */
function fileNamed(name: string): string {
  const block = blocks.find(({ kind, text }) => kind === 'yaml' && text.startsWith(`# ${name}\n`));
  if (block === undefined) throw new Error(`README shows no ${name}`);
  return block.text;
}

/** What a reader has done, or what has happened, before a line; by the beginning of the line. */
const before: Readonly<Record<string, string>> = {
  'costbook doctor':
    'printf "sinks: { finops: { type: log }, mail: { type: log }, oncall: { type: log } }\\n" >> costbook.yaml',
  'costbook allocation test': 'cp "$FILES/allocation.yaml" jobs/',
  'costbook budgets ': 'cp "$FILES/budgets.yaml" jobs/; cp "$FILES/budgets.yaml" draft.yaml',
  'costbook forecast --input series.csv': 'cp "$FILES/series.csv" "$FILES/hours.csv" .',
  // Nothing was ingested for three days.
  'costbook alerts ack': `export COSTBOOK_NOW=${later}; costbook alert`,
};

/** With which codes a line may end; 0 where nothing else is said. */
function expectedCodes(line: string): readonly number[] {
  if (line.includes('--exit-code')) return [0, 4, 6];
  if (line.startsWith('costbook schedule') && !line.includes('--list')) return [143]; // until it is stopped
  return [0];
}

interface Ran {
  readonly line: string;
  readonly at: number;
  readonly exitCode: number;
  readonly said: string;
}

let ran: readonly Ran[] = [];
beforeAll(async () => {
  const home = await newProject();
  const files = join(home, 'files');
  await mkdir(files);
  await cp(join(root, 'jobs', 'demo', 'allocation.yaml'), join(files, 'allocation.yaml'));
  await writeFile(join(files, 'budgets.yaml'), fileNamed('jobs/budgets.yaml'));
  const hours = Array.from({ length: 24 * 30 }, (_, hour) => {
    const at = new Date(Date.UTC(2026, 8, 1, hour)).toISOString().replace('.000', '');
    return `one,${at},${10 + (hour % 24)}`;
  });
  await writeFile(join(files, 'hours.csv'), `id,timestamp,value\n${hours.join('\n')}\n`);
  const days = hours.filter((_, hour) => hour % 24 === 0);
  await writeFile(join(files, 'series.csv'), `id,timestamp,value\n${days.join('\n')}\n`);
  const bin = join(home, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'costbook'), `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`);
  await chmod(join(bin, 'costbook'), 0o755);

  const emulator = startCli(['emulator', '--now', now]);
  const [said] = (await once(createInterface({ input: emulator.process.stdout as NodeJS.ReadableStream }), 'line')) as [
    string,
  ];
  const { url, account, tokens } = JSON.parse(said) as { url: string; account: string; tokens: { admin: string } };
  const given = [
    ['https://api.example.com', url],
    ['your-api-key', tokens.admin],
    ['acc_main', account],
  ] as const;

  const steps: { line: string; at: number }[] = [];
  const script: string[] = ['set -u', 'export FILES CODES'];
  for (const { kind, text, line } of blocks) {
    if (kind !== 'sh') continue;
    for (const [index, raw] of text.split('\n').entries()) {
      const typed = raw.replace(/ +# .*$/, '').trim();
      if (typed === '') continue;
      const first = Object.keys(before).find((start) => typed.startsWith(start.trim()));
      const isFirst = first !== undefined && !steps.some((step) => step.line.startsWith(first.trim()));
      if (isFirst) script.push(`{ ${before[first]}; } > "$CODES/before-${steps.length}" 2>&1`);
      let line0 = typed;
      for (const [shown, real] of given) line0 = line0.replaceAll(shown, real);
      const limited = expectedCodes(typed).includes(143) ? `timeout --preserve-status --signal=TERM 4 ${line0}` : line0;
      // In this shell: what a line exports, and where it goes, holds for those after it.
      script.push(`{ ${limited}; } > "$CODES/said-${steps.length}" 2>&1; echo "$?" > "$CODES/code-${steps.length}"`);
      steps.push({ line: typed, at: line + index });
    }
  }
  const codes = join(home, 'codes');
  await mkdir(codes);
  const shell = spawn('bash', ['-c', script.join('\n')], {
    cwd: home,
    stdio: 'inherit',
    env: {
      PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      HOME: home,
      TZ: 'UTC',
      COSTBOOK_NOW: now,
      FILES: files,
      CODES: codes,
    },
  });
  await once(shell, 'close');
  emulator.process.kill('SIGTERM');
  ran = await Promise.all(
    steps.map(
      async ({ line, at }, index): Promise<Ran> => ({
        line,
        at,
        exitCode: Number((await readFile(join(codes, `code-${index}`), 'utf8')).trim()),
        said: await readFile(join(codes, `said-${index}`), 'utf8'),
      }),
    ),
  );
}, 900_000);

describe('README', () => {
  test('every line that can be typed does what it should, in the order in which it is read', () => {
    const failed = ran.filter(({ line, exitCode }) => !expectedCodes(line).includes(exitCode));
    expect(failed).toEqual([]);
    expect(ran.length).toBeGreaterThan(35);
  });

  test('what is not run is of another kind, and no command of ours stands in it', () => {
    expect([...new Set(blocks.map(({ kind }) => kind))].sort()).toEqual(['', 'console', 'sh', 'sql', 'yaml']);
    for (const { kind, text } of blocks) {
      // In a crontab, and where the program is not installed yet.
      if (kind === 'console') expect(text).not.toMatch(/^costbook /m);
    }
  });

  test('shows no command or option that there is not, also within a sentence', () => {
    const prose = readme.replaceAll(/^```[\s\S]*?^```$/gm, '');
    const shown = [...prose.matchAll(/`costbook ([a-z]+)([^`]*)`/g)];
    expect(shown.length).toBeGreaterThan(20);
    for (const [text, name = '', rest = ''] of shown) {
      if (name === 'help') continue;
      const command = commands.find((candidate) => candidate.name === name);
      expect(command?.name, text).toBe(name);
      const known = (command?.options ?? []).map(({ flags }) => /--[\w-]+/.exec(flags)?.[0]);
      const asked = [...rest.matchAll(/ (--[a-z-]+)/g)].map(([, option]) => option);
      const common = ['--dir', '--now', '--json', '--log-format'];
      expect(
        asked.filter((option) => option !== undefined && !known.includes(option) && !common.includes(option)),
        text,
      ).toEqual([]);
    }
  });

  test('links to files that are there', () => {
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)]+)\)/g)].map(([, link = '']) => link);
    for (const link of links) expect(() => readFileSync(join(root, link)), link).not.toThrow();
  });
});
