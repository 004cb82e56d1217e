import * as modules from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Environment } from './program-effects.ts';

/**
 * The folder in which Node keeps our code compiled, from one start to the next: `costbook` in the user's cache folder.
 * Undefined if COSTBOOK_COMPILE_CACHE is 0.
 */
export function compileCacheFolder(env: Environment, home: string): string | undefined {
  if (env['COSTBOOK_COMPILE_CACHE'] === '0') return undefined;
  const given = env['XDG_CACHE_HOME'] ?? '';
  const caches = isAbsolute(given) ? given : isAbsolute(home) ? join(home, '.cache') : undefined;
  return caches === undefined ? undefined : join(caches, 'costbook', 'compiled');
}

/**
 * From here on, Node reads and writes compiled code there, if it can (Node 22 and newer). Nothing depends on it, so it
 * never fails. Children do without: they get no environment, and must not write.
 */
export function keepCompiled(env: Environment): void {
  const { enableCompileCache } = modules as { enableCompileCache?: (folder: string) => unknown };
  if (enableCompileCache === undefined) return;
  try {
    const folder = compileCacheFolder(env, homedir());
    if (folder !== undefined) enableCompileCache(folder);
  } catch {
    // Without a home folder, code is compiled at each start.
  }
}
