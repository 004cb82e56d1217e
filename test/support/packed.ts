import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newProject } from './project.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The tarball that `npm pack` makes of this checkout. */
export interface Packed {
  readonly tarball: string;
  readonly files: readonly { readonly path: string; readonly size: number; readonly mode: number }[];
}

/** Packs a copy of this checkout that was never built. */
export async function pack(): Promise<Packed> {
  const copy = await newProject();
  const { stdout } = run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], root);
  for (const path of stdout.split('\0').filter((name) => name !== '' && !name.startsWith('test/'))) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    await cp(join(root, path), join(copy, path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error; // listed, and just removed
    });
  }
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  // What an earlier build left is not to be packed.
  await mkdir(join(copy, 'dist'));
  await cp(join(root, 'package.json'), join(copy, 'dist', 'left-over.js'));
  const { stdout: said } = run('npm', ['pack', '--json', '--silent'], copy);
  const [packed] = JSON.parse(said.slice(said.indexOf('['))) as [{ filename: string; files: Packed['files'] }];
  return { tarball: join(copy, packed.filename), files: packed.files };
}

/**
 * A folder as `npm install` makes it of the tarball: the package and exactly the packages that it depends on, without
 * asking a registry. Everybody may read it and only its owner may write it. Returns the path of the program.
 */
export async function installed({ tarball }: Packed): Promise<string> {
  const prefix = await newProject();
  chmodSync(prefix, 0o755);
  const modules = join(prefix, 'node_modules');
  const folder = join(modules, 'costbook');
  await mkdir(folder, { recursive: true });
  run('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'], prefix);
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    if (path === '' || dev === true) continue;
    await mkdir(dirname(join(prefix, path)), { recursive: true });
    // What is for another kind of machine is not there.
    spawnSync('cp', ['-R', '--reflink=auto', join(root, path), join(prefix, path)]);
  }
  await mkdir(join(modules, '.bin'));
  await symlink('../costbook/dist/cli.js', join(modules, '.bin', 'costbook'));
  run('chmod', ['-R', 'a+rX,go-w', prefix], prefix);
  return join(modules, '.bin', 'costbook');
}

export function run(command: string, args: readonly string[], cwd: string): SpawnSyncReturns<string> {
  const ended = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (ended.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${ended.error ?? ended.stderr}`);
  return ended;
}
