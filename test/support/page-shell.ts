import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startMain } from './project.ts';

/** How a line ended, and what the reader saw of it. */
export interface Shown {
  readonly exitCode: number;
  readonly printed: string;
}

/**
 * A reader at a shell: where one is and what was exported holds for the lines that follow. A line of nothing but
 * `costbook` and its words runs in this process; bash runs every other one.
 */
export interface PageShell {
  /** Where the reader is. */
  readonly folder: string;
  enter(folder: string): void;
  /** With `columns` on a terminal as wide as that; `at` is the time, if it is not that of the other lines. */
  run(line: string, how?: { readonly columns?: number; readonly at?: string }): Promise<Shown>;
}

/** The words of a line as a shell reads them; undefined if it has more than plain and quoted words. */
function plainWords(line: string): readonly string[] | undefined {
  const words: string[] = [];
  for (const [typed] of line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)) {
    const bare = typed.replaceAll(/'[^']*'/g, '');
    if (/[$`\\]/.test(bare) || /[|&;<>()*?~{}]/.test(bare.replaceAll(/"[^"]*"/g, ''))) return undefined;
    words.push(
      typed.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
    );
  }
  return words;
}

/** Whether a command runs until it is stopped. */
function isEndless(words: readonly string[]): boolean {
  return /^(schedule|emulator|serve|mcp)$/.test(words[1] ?? '') && !words.includes('--list');
}

export function openPageShell(home: string, variables: Readonly<Record<string, string>>): PageShell {
  let folder = home;
  const env: Record<string, string> = { ...variables, HOME: home };

  async function runHere(words: readonly string[], columns: number | undefined, at: string | undefined) {
    const isStopped = isEndless(words);
    const run = startMain(words.slice(1), at === undefined ? env : { ...env, COSTBOOK_NOW: at }, {
      cwd: folder,
      // What stays up is stopped once it has said that it is there, wherever it says so.
      ...(isStopped ? { columns: columns ?? 100 } : columns === undefined ? {} : { columns }),
    });
    if (isStopped) {
      await Promise.race([run.said('\n'), run.ended]);
      run.signal('SIGTERM');
    }
    const { exitCode, stdout, stderr } = await run.ended;
    return { exitCode, printed: stdout + stderr };
  }

  async function runInBash(line: string): Promise<Shown> {
    const child = spawn('bash', ['-c', line], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (piece: string) => {
        printed += piece;
      });
    }
    const [exitCode] = await once(child, 'close');
    return { exitCode: Number(exitCode), printed };
  }

  return {
    get folder() {
      return folder;
    },
    enter(to) {
      folder = join(home, to);
    },
    async run(line, { columns, at } = {}) {
      const words = plainWords(line);
      if (words?.[0] === 'costbook') return await runHere(words, columns, at);
      if (words?.[0] === 'cd') {
        folder = resolve(folder, words[1] ?? home);
        return { exitCode: existsSync(folder) ? 0 : 1, printed: '' };
      }
      if (words?.[0] === 'export') {
        for (const [, name = '', value = ''] of words.join('\n').matchAll(/^(\w+)=(.*)$/gm)) env[name] = value;
        return { exitCode: 0, printed: '' };
      }
      return await runInBash(line);
    },
  };
}
