// Second tier: Packs and installs the package.

import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, readFileSync, realpathSync } from 'node:fs';
import { cp, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getuid } from 'node:process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { readPage } from '../support/doc-pages.ts';
import { installed, type Packed, pack, run } from '../support/packed.ts';
import { newProject } from '../support/project.ts';

/** Another Node to try the package on, such as that of the next major version. */
const otherNode = process.env['COSTBOOK_TEST_NODE'];
/** Whether the registry may be asked: then npm itself installs what the package depends on. */
const mayInstall = process.env['COSTBOOK_TEST_INSTALL'] === '1';
/** A user who owns nothing here. */
const nobody = 65_534;
const isRoot = getuid?.() === 0;

let packed: Packed;
let program = '';
beforeAll(async () => {
  packed = await pack();
  program = await installed(packed);
});

describe('the tarball', () => {
  test('contains the program, its SQL and the docs, and nothing else', () => {
    const rules = [
      /^dist\/(cli|main|child|decode-worker|emulator-worker|forecast-worker|platform|emulator|chunk-[\w-]+)\.js(\.map)?$/,
      /^dist\/(?!.*\.test\.)[\w/-]+\.d\.ts$/,
      /^dist\/((build|commands)\.json|echarts\.common\.min\.js|Arimo_(400Regular|700Bold)\.ttf|THIRD_PARTY_LICENSES)$/,
      /^sql\/\w+\/\w+\.sql$/,
      /^web\/(costbook\.(css|js)|sql\.js|icon\.svg)$/,
      /^jobs\/demo\/\w+\.yaml$/,
      /^jobs\/\w+\.yaml$/,
      /^docs\/[\w./@-]+\.(md|json|yaml|yml|service|timer|svg|png|txt)$/,
      /^docs\/deploy\/(Dockerfile(\.dockerignore)?|crontab)$/,
      /^(allocation|budgets|costbook)\.example\.yaml$/,
      /^(README\.md|CHANGELOG\.md|LICENSE|package\.json)$/,
    ];
    const others = packed.files.map(({ path }) => path).filter((path) => !rules.some((rule) => rule.test(path)));
    expect(others).toEqual([]);
  });

  test('contains every file that its programs load, and nothing of an earlier build', () => {
    const programs = [
      'cli',
      'child',
      'decode-worker',
      'emulator-worker',
      'forecast-worker',
      'platform',
      'emulator',
      'main',
    ];
    const loaded = new Set<string>();
    const left = programs.map((name) => `${name}.js`);
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (loaded.has(next)) continue;
      loaded.add(next);
      const text = readFileSync(join(dist(), next), 'utf8');
      left.push(...[...text.matchAll(/["'`]\.\/([\w-]+\.js)["'`]/g)].map(([, name = '']) => name));
    }
    const built = packed.files.map(({ path }) => path).filter((path) => /^dist\/[^/]*\.js$/.test(path));
    const read = 'echarts.common.min.js'; // by browsers
    expect(built.sort()).toEqual([...loaded, read].map((name) => `dist/${name}`).sort());
  });

  test('has the licence of every package that is part of it', () => {
    const maps = packed.files.map(({ path }) => path).filter((path) => path.endsWith('.js.map'));
    const sources = maps.flatMap(
      (path) => JSON.parse(readFileSync(join(dist(), '..', path), 'utf8')).sources as string[],
    );
    const names = sources.flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1] ?? []);
    const bundled = [...new Set([...names, 'echarts', 'zrender', '@expo-google-fonts/arimo'])];
    expect(bundled.length).toBeGreaterThan(20);
    const text = readFileSync(join(dist(), 'THIRD_PARTY_LICENSES'), 'utf8');
    const sections = [...text.matchAll(/^={80}\n(\S+) \S+ \(.*\)\n={80}\n\n((?:(?!={80}$).*\n?)+)/gm)];
    const withText = sections.filter(([, , licence = '']) => /copyright|permission/i.test(licence));
    expect(withText.map(([, name]) => name)).toEqual(sections.map(([, name]) => name));
    expect(bundled.filter((name) => !sections.some(([, listed]) => listed === name))).toEqual([]);
  });

  test('is small, and its program is executable', () => {
    const bytes = packed.files.reduce((sum, { size }) => sum + size, 0);
    expect(bytes).toBeLessThan(20_000_000);
    expect(readFileSync(program, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });
});

test('its libraries have types, and a program of another project uses them as the docs show', async () => {
  const project = await newProject();
  await symlink(dirname(dirname(dirname(realpathSync(program)))), join(project, 'node_modules'));
  const [shown] = readPage('docs/platform.md').blocks.filter(({ kind }) => kind === 'ts');
  await writeFile(join(project, 'package.json'), '{ "type": "module" }');
  await writeFile(join(project, 'shown.ts'), `declare function readToken(): Promise<string>;\n${shown?.text}`);
  await writeFile(
    join(project, 'use.ts'),
    `import { startEmulator } from 'costbook/emulator';
import { openPlatform } from 'costbook/platform';
const emulator = await startEmulator({ now: () => Date.UTC(2026, 9, 21) });
const platform = openPlatform({ url: emulator.url, token: emulator.tokens.admin });
const names: string[] = [];
for await (const agent of platform.items('agents', { limit: 5 })) names.push(agent.metadata.name);
const { values } = await platform.call('groupByEnum', { accountId: emulator.account });
// @ts-expect-error: a number is no name
const refused = await platform.call('template', { templateName: 1 }).catch((error: Error) => error.name);
console.log(JSON.stringify({ names: names.length, values: values.length, refused }));
await platform.close();
await emulator.close();
`,
  );
  const types = ['--types', 'node', '--typeRoots', join(root(), 'node_modules', '@types')];
  const options = ['--module', 'nodenext', '--target', 'es2023', '--strict', ...types];
  run(join(root(), 'node_modules', '.bin', 'tsc'), ['--noEmit', ...options, 'shown.ts'], project);
  run(join(root(), 'node_modules', '.bin', 'tsc'), [...options, 'use.ts'], project);
  const { names, values, refused } = JSON.parse(run(process.execPath, ['use.js'], project).stdout);
  expect(names).toBeGreaterThan(5);
  expect(values).toBe(5);
  expect(refused).toBe('PlatformError');
});

/** The programs as they are installed. */
function dist(): string {
  return dirname(realpathSync(program));
}

function root(): string {
  return fileURLToPath(new URL('../..', import.meta.url));
}

/** A folder that belongs to nobody. */
async function homeOfNobody(): Promise<string> {
  const home = await newProject();
  chmodSync(home, 0o755);
  if (isRoot) chownSync(home, nobody, nobody);
  return home;
}

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the installed program as somebody who may only read it, in a folder of their own. */
function costbook(args: readonly string[], cwd: string, node = process.execPath, at = program): Ran {
  return spawnSync(node, [at, ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH: dirname(node), HOME: '/nonexistent' },
    ...(isRoot ? { uid: nobody, gid: nobody } : {}),
  });
}

/** What a new user does. */
async function tryAll(node?: string, at?: string): Promise<void> {
  const home = await homeOfNobody();
  const { version } = JSON.parse(readFileSync(join(root(), 'package.json'), 'utf8')) as { version: string };
  expect(costbook(['--version'], home, node, at)).toEqual(
    expect.objectContaining({ status: 0, stdout: `${version}\n` }),
  );
  const demo = costbook(['demo'], home, node, at);
  expect(demo.status, demo.stderr).toBe(0);
  expect(demo.stdout).toContain('all match');
  const asked = costbook(
    ['sql', '--dir', 'costbook-demo', '--json', 'select count(*) > 0 as any from costs'],
    home,
    node,
    at,
  );
  expect(asked.status, asked.stderr).toBe(0);
  const night = costbook(['run', 'nightly', '--only', 'check,alert', '--dir', 'costbook-demo'], home, node, at);
  expect(night.status, night.stderr).toBe(0);
  const begun = costbook(['init', 'books'], home, node, at);
  expect(begun.status, begun.stderr).toBe(0);
  expect(begun.stdout).toContain('wrote books/jobs/budgets.yaml');
}

test.skipIf(!isRoot)(
  `the package runs for a user who may not write where it is installed${isRoot ? '' : ' (skipped: only root can be another user)'}`,
  async () => {
    const home = await homeOfNobody();
    const written = spawnSync('touch', [join(dirname(program), 'x')], { uid: nobody, gid: nobody, cwd: home });
    expect(written.status).not.toBe(0);
    await tryAll();
  },
);

test.skipIf(otherNode === undefined)(
  `the package runs on another Node${otherNode === undefined ? ' (skipped: COSTBOOK_TEST_NODE names none)' : ''}`,
  () => tryAll(otherNode),
);

test.skipIf(!mayInstall)(
  `npm installs it globally and in a project${mayInstall ? '' : ' (skipped: needs the registry; COSTBOOK_TEST_INSTALL=1)'}`,
  async () => {
    const prefix = await newProject();
    run('npm', ['install', '--global', '--prefix', prefix, packed.tarball], prefix);
    run('chmod', ['-R', 'a+rX,go-w', prefix], prefix);
    chmodSync(prefix, 0o755);
    await tryAll(undefined, join(prefix, 'bin', 'costbook'));
    const project = await newProject();
    chmodSync(project, 0o755);
    await cp(packed.tarball, join(project, 'costbook.tgz'));
    run('npm', ['init', '--yes'], project);
    run('npm', ['install', './costbook.tgz'], project);
    await rm(join(project, 'costbook.tgz'));
    const ran = spawnSync('npx', ['costbook', '--version'], { cwd: project, encoding: 'utf8' });
    expect(ran.status, ran.stderr).toBe(0);
  },
);
