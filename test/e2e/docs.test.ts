// Second tier, long: Runs every command of README and of all pages, and compares what they print.

import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Block, notRun, type Page, readPages, root, shellLines } from '../support/doc-pages.ts';
import { openPageShell, type PageShell, type Shown } from '../support/page-shell.ts';
import { cli, newProject, startMain } from '../support/project.ts';
import { screenOf } from '../support/terminal.ts';

// One reader runs every command of README and docs, page by page, in one project on one invented platform.

const now = '2026-11-21T13:30:00Z';
/** The start of the books: enough history for forecasts, and quick. */
const since = '2026-06';
/** When the books are old enough for an alert about that. */
const later = '2026-11-24T13:30:00Z';
const columns = 100;

/** The first page makes the project; the ones that begin at no project follow it, the others begin in the project. */
const atHome = ['docs/getting-started.md', 'README.md'];
const pages = readPages()
  // Its examples are those of --help: test/unit/docs.test.ts holds that each names a command and options that there are.
  .filter(({ path }) => path !== 'docs/cli.md')
  .sort((a, b) => place(a) - place(b));

function place({ path }: Page): number {
  const index = atHome.indexOf(path);
  return index === -1 ? atHome.length : index;
}

/** What a reader has done, or what has happened, before a line; by the page and the beginning of the line. */
const before: readonly {
  readonly page: string;
  readonly line: string;
  readonly script: string;
  /** When the line runs, if not at the time of all others. */
  readonly at?: string;
}[] = [
  {
    page: 'docs/getting-started.md',
    line: 'costbook doctor',
    script: 'echo "sinks: { finops: { type: log }, mail: { type: log }, oncall: { type: log } }" >> costbook.yaml',
  },
  {
    page: 'docs/reports.md',
    line: 'costbook report --list',
    script: 'cp "$ROOT/jobs/demo/allocation.yaml" jobs/; costbook allocation apply',
  },
  {
    page: 'docs/currency.md',
    line: 'costbook report cost_by_workspace --month 2026-10',
    script: 'echo "currency: { code: EUR, rates: rates.csv, source: ECB reference rates }" >> costbook.yaml',
  },
  // The pages after this one are in USD.
  {
    page: 'docs/currency.md',
    line: 'costbook report cost_by_workspace --month 2026-10 --currency none',
    script: 'sed -i "/^currency:/d" costbook.yaml',
  },
  // A night stores the forecasts that the page shows.
  { page: 'docs/budgets.md', line: 'costbook budgets', script: 'costbook alert' },
  { page: 'docs/budgets.md', line: 'costbook budgets backtest research', script: 'cp jobs/budgets.yaml draft.yaml' },
  { page: 'docs/forecasts.md', line: 'costbook forecast --input', script: 'cp "$FILES"/*.csv .' },
  // Nothing was ingested for three days.
  { page: 'docs/alerts.md', line: 'costbook alerts --open', script: `COSTBOOK_NOW=${later} costbook alert`, at: later },
  {
    page: 'docs/alerts.md',
    line: 'costbook alerts preview analyst',
    script: [
      `echo "inferenceUrl: $(sed -n 's/^url: *"*\\([^" ]*\\).*/\\1/p' costbook.yaml)/_inference" >> costbook.yaml`,
      'sed -i "s/^sinks: { /&analyst: { type: agent, workspace: production, agent: support-triage }, /" costbook.yaml',
    ].join('; '),
  },
];

/** With which codes a line may end. */
function expectedCodes(line: string, announced: number): readonly number[] {
  if (announced !== 0) return [announced];
  if (line.includes('--exit-code')) return [0, 4, 6];
  return /^costbook (schedule|emulator|serve)/.test(line) ? [0, 143] : [0]; // both end in order
}

/** Pages show fixed ports; here any free one does. */
const freePorts = [
  ['costbook serve', 'costbook serve --port 0'],
  ['--port 4317', '--port 0'],
  ['--health-port 9464', '--health-port 0'],
] as const;

interface Step {
  readonly page: Page;
  readonly line: string;
  /** Line of the page. */
  readonly at: number;
  readonly codes: readonly number[];
  /** The block with what it prints. */
  readonly output: Block | undefined;
}

interface Ran extends Step, Shown {}

const ran: Ran[] = [];
/** Real addresses and secrets, by those that the pages show in their place. */
let given: readonly (readonly [string, string])[] = [];
let shell: PageShell;

beforeAll(async () => {
  const home = await newProject();
  const [files, bin] = [join(home, 'files'), join(home, 'bin')];
  for (const folder of [files, bin]) await mkdir(folder);
  await writeSeries(files);
  // For lines that are more than plain words, which bash runs.
  await writeFile(join(bin, 'costbook'), `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`);
  await chmod(join(bin, 'costbook'), 0o755);

  const emulator = startMain(['emulator', '--now', now]);
  const { url, account, tokens } = JSON.parse(await emulator.firstLine) as {
    url: string;
    account: string;
    tokens: { admin: string };
  };
  given = [
    ['https://api.example.com', url],
    ['your-api-key', tokens.admin],
    ['acc_main', account],
  ];
  shell = openPageShell(home, {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    TERM: 'xterm',
    COSTBOOK_NOW: now,
    COSTBOOK_SINCE: since,
    PING_URL: 'https://ping.example.com/nightly',
    ROOT: root,
    FILES: files,
  });
  for (const page of pages) {
    shell.enter(atHome.includes(page.path) ? '' : 'books');
    for (const [index, block] of page.blocks.entries()) {
      if (block.kind === 'sh') await runBlock(page, block, page.blocks[index + 1], home);
      else if (block.file !== undefined && block.file !== 'costbook.yaml') {
        await mkdir(join(shell.folder, dirname(block.file)), { recursive: true });
        await writeFile(join(shell.folder, block.file), block.text);
      } else if (block.kind === 'sql' && page.path !== 'docs/cookbook.md') {
        const file = join(files, `${page.path.replaceAll('/', '-')}-${index}`);
        await writeFile(file, block.text);
        const line = `costbook sql -f "${file}"`;
        const step = { page, line, at: block.line, codes: [0], output: undefined };
        ran.push({ ...step, ...(await shell.run(line)) });
      }
    }
  }
  emulator.signal('SIGTERM');
  await emulator.ended;
}, 2_400_000);

async function runBlock(page: Page, block: Block, next: Block | undefined, home: string): Promise<void> {
  const lines = shellLines(block);
  for (const { typed, index, exit } of lines) {
    if (notRun.some(({ line }) => line.test(typed))) continue;
    let time: string | undefined;
    for (const { page: where, line, script, at } of before) {
      const isFirst = !ran.some((step) => step.page === page && step.line.startsWith(line));
      if (where !== page.path || !typed.startsWith(line) || !isFirst) continue;
      await shell.run(`{ ${script}; }`);
      time = at ?? time;
    }
    const output = next?.kind === 'text' && index === lines.at(-1)?.index ? next : undefined;
    const real = [...given, ...freePorts].reduce((text, [shown, is]) => text.replaceAll(shown, is), typed);
    const { exitCode, printed } = await shell.run(real, {
      ...(output === undefined ? {} : { columns }),
      ...(time === undefined ? {} : { at: time }),
    });
    // In a table, cells after a name keep their column.
    const asShown = given.reduce(
      (text, [shown, is]) => text.replaceAll(`${is}  `, `${shown.padEnd(is.length)}  `).replaceAll(is, shown),
      printed,
    );
    ran.push({
      ...{ page, line: typed, at: block.line + 1 + index, codes: expectedCodes(typed, exit), output },
      ...{ exitCode, printed: asShown.replaceAll(home, '/srv') },
    });
  }
}

/** Series to forecast: hours of a month, and the first one of each day. */
async function writeSeries(folder: string): Promise<void> {
  const hours = Array.from({ length: 24 * 30 }, (_, hour) => {
    const at = new Date(Date.UTC(2026, 8, 1, hour)).toISOString().replace('.000', '');
    return `one,${at},${10 + (hour % 24)}`;
  });
  const days = hours.filter((_, hour) => hour % 24 === 0);
  await writeFile(join(folder, 'hours.csv'), `id,timestamp,value\n${hours.join('\n')}\n`);
  await writeFile(join(folder, 'series.csv'), `id,timestamp,value\n${days.join('\n')}\n`);
}

/** What a terminal shows, without colours, abridged as the page has it: so many lines before and after its `…`. */
function shownAs(printed: string, block: Block): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a terminal is sent
  const plain = screenOf(printed).replaceAll(/\x1b\[[\d;]*m/g, '');
  // Milliseconds distinguish several runs at one instant.
  const lines = plain
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd().replaceAll(/(:\d\d)\.\d{3}Z/g, '$1Z'));
  const wanted = block.text.trimEnd().split('\n');
  const cut = wanted.indexOf('…');
  if (cut === -1 || lines.length < wanted.length) return `${lines.join('\n')}\n`;
  const tail = wanted.length - cut - 1;
  return `${[...lines.slice(0, cut), '…', ...(tail === 0 ? [] : lines.slice(-tail))].join('\n')}\n`;
}

describe('README and the pages of docs', () => {
  test('every shell line ends with its exit code, in the order of the pages', () => {
    const failed = ran
      .filter(({ exitCode, codes }) => !codes.includes(exitCode))
      .map(
        ({ page, at, line, exitCode, printed }) => `${page.path}:${at}: ${line} ended with ${exitCode}:\n${printed}`,
      );
    expect(failed).toEqual([]);
    expect(ran.length).toBeGreaterThan(100);
  });

  test('show what each line prints; `npm run docs` writes it', async () => {
    const update = process.env['UPDATE_README'] !== undefined;
    const stale: string[] = [];
    for (const page of pages) {
      let { text } = page;
      // From the end, so that places before stay where they are.
      for (const { output, printed, at } of ran.filter((step) => step.page === page && step.output).reverse()) {
        if (output === undefined) continue;
        const shown = shownAs(printed, output);
        if (shown !== output.text) stale.push(`${page.path}:${at}:\n${shown}`);
        text = text.slice(0, output.at) + shown + text.slice(output.at + output.text.length);
      }
      if (update && text !== page.text) await writeFile(join(root, page.path), text);
    }
    if (!update) expect(stale).toEqual([]);
  });
});
