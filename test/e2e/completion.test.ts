// Second tier: Starts shells that complete command lines.

import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { allCommands } from '../../src/commands/index.ts';
import { described } from '../../src/options/read.ts';
import { commonOptions } from '../../src/options/table.ts';
import { runCli } from '../support/project.ts';

const commands = await allCommands();

async function script(shell: string): Promise<string> {
  const { exitCode, stdout } = await runCli(['completion', shell]);
  expect(exitCode).toBe(0);
  return stdout;
}

function tool(name: string): { readonly has: boolean; readonly note: string } {
  const has = spawnSync(name, ['--version']).status === 0;
  return { has, note: has ? '' : ` (skipped: ${name} is not here)` };
}

describe('costbook completion', () => {
  const bash = tool('bash');
  test.skipIf(!bash.has)(
    `completes in bash${bash.note}`,
    async () => {
      const text = await script('bash');
      /** What bash offers for the last of these words. */
      function offered(...words: readonly string[]): string[] {
        const line = `source /dev/stdin <<'SCRIPT'\n${text}\nSCRIPT\nCOMP_WORDS=(costbook "$@"); COMP_CWORD=$#; _costbook; printf '%s\\n' "\${COMPREPLY[@]}"`;
        const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-uc', line, 'bash', ...words], {
          encoding: 'utf8',
        });
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
        return stdout.split('\n').filter((word) => word !== '');
      }
      expect(offered('')).toEqual([
        ...commands.map(({ name }) => name),
        'help',
        ...described(commonOptions).map(({ flags }) => flags.split(' ')[0]),
      ]);
      expect(offered('statu')).toEqual(['status']);
      expect(offered('ingest', '--re')).toEqual(['--refetch']);
      expect(offered('--dir', '/tmp', 'ingest', '--accept-s')).toEqual(['--accept-shrunk-listings']);
      expect(offered('ingest', '--log-format', 'j')).toEqual(['json']);
      expect(offered('ingest', '--from', '')).toEqual([]);
      expect(offered('report', '--format', 'x')).toEqual(['xlsx']);
      expect(offered('sql', '--format', 'nd')).toEqual(['ndjson']);
      expect(offered('completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
      expect(offered('help', 'reb')).toEqual(['rebuild']);
      for (const { name, options } of commands) {
        for (const { flags } of options) {
          const [flag = ''] = /--[\w-]+/.exec(flags) ?? [];
          expect(offered(name, flag), `${name} ${flag}`).toContain(flag);
        }
      }
    },
    240_000,
  );

  const checker = tool('shellcheck');
  test.skipIf(!checker.has)(`the script for bash passes shellcheck${checker.note}`, async () => {
    const { status, stdout } = spawnSync('shellcheck', ['--shell=bash', '-'], {
      input: await script('bash'),
      encoding: 'utf8',
    });
    expect(status, stdout).toBe(0);
  });

  test.each([
    ['zsh', ['zsh', '-n']],
    ['fish', ['fish', '--no-execute']],
  ] as const)('has every command and option for %s', async (shell, [program, ...args]) => {
    const text = await script(shell);
    for (const { name, options } of commands) {
      expect(text).toMatch(new RegExp(`['\\s]${name}[:\\s)]`));
      for (const { flags } of options) expect(text).toContain(/--([\w-]+)/.exec(flags)?.[1]);
    }
    // If the shell is installed, it must accept the script.
    if (tool(program).has) expect(spawnSync(program, args, { input: text }).status).toBe(0);
  });

  test('names the known shells if another one is given', async () => {
    expect(await runCli(['completion', 'tcsh'])).toMatchObject({
      exitCode: 2,
      stderr: 'costbook: found "tcsh", expected one of bash, zsh, fish\n',
    });
  });
});

describe('costbook help', () => {
  test.each(commands.map(({ name }) => name))(
    '%s shows what it is for, and examples that can be typed',
    async (name) => {
      const { exitCode, stdout } = await runCli(['help', name]);
      expect(exitCode).toBe(0);
      const command = commands.find((candidate) => candidate.name === name);
      expect(stdout).toContain(`Usage: costbook ${name}`);
      expect(command?.examples.length).toBeGreaterThan(0);
      for (const example of command?.examples ?? []) {
        expect(stdout).toContain(`  ${example}\n`);
        expect(example).toMatch(new RegExp(`\\bcostbook ${name}\\b`));
        const options = [...example.matchAll(/ (--[a-z-]+)/g)].map(([, option]) => option);
        const known = [...(command?.options ?? []), ...described(commonOptions)].map(
          ({ flags }) => /--[\w-]+/.exec(flags)?.[0],
        );
        expect(options.filter((option) => !known.includes(option) && option !== '--prefix')).toEqual([]);
      }
    },
  );
});
