import { stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import { headerWords, type Settings, settle, warnAboutToken, writeProject } from '../setup/index.ts';
import { formatInstant } from '../time/time.ts';
import type { Command, CommandContext } from './command.ts';

export const initCommand: Command = {
  name: 'init',
  summary: 'Create a project folder: a commented costbook.yaml and jobs/. Checks the settings with the platform.',
  arguments: [{ name: '[dir]', summary: 'the folder to create; by default that of --dir, or the current folder' }],
  needsProject: () => false,
  examples: [
    'costbook init billing',
    'costbook init --url https://api.example.com --token-file /run/secrets/token',
    'costbook init --url https://api.example.com --token-command "pass show platform" --account acc_main --yes',
  ],
  makesFolder: true,
  async run(input, context) {
    const folder = resolve(context.dir, input.arguments[0] ?? '.');
    if ((await stat(folder).catch(() => undefined))?.isFile()) throw new UsageError(`${folder} is a file`);
    const asked = read(options.init, input, context);
    const file = join(folder, 'costbook.yaml');
    const isConfigured = (await stat(file).catch(() => undefined)) !== undefined;
    // An existing configuration is left alone; "costbook doctor" checks it.
    const settings = isConfigured ? {} : await settle(asked, folder, context);
    const { written, kept } = await writeProject(folder, settings);
    await warnAboutToken(settings, folder, context);
    await answer({ folder, file, written, kept, settings }, context);
    return 0;
  },
};

async function answer(
  begun: { folder: string; file: string; written: readonly string[]; kept: readonly string[]; settings: Settings },
  context: CommandContext,
): Promise<void> {
  const { folder, written, kept, settings } = begun;
  const { seen, account, trials } = settings;
  const where = relative(context.folder, folder);
  const dir = where === '' ? '' : ` --dir ${/^[\w./-]+$/.test(where) ? where : JSON.stringify(where)}`;
  const next = [`costbook doctor${dir}`, `costbook ingest${dir}`, `costbook status${dir}`];
  const historyStart = seen?.historyStart === undefined ? null : formatInstant(seen.historyStart);
  if (context.json) {
    const headers = trials === undefined ? {} : { headers: trials };
    const checked =
      seen === undefined ? null : { account: account ?? null, role: seen.role ?? null, historyStart, ...headers };
    await context.write(`${JSON.stringify({ folder, written, kept, checked, next })}\n`);
    return;
  }
  const lines = [
    ...(seen === undefined
      ? []
      : [
          `The token works: role ${seen.role}, account ${account}; ` +
            (historyStart === null ? 'no costs yet.' : `costs start in ${historyStart.slice(0, 7)}.`),
        ]),
    ...headerWords(trials ?? []),
    ...written.map((name) => `wrote ${join(where, name)}`),
    ...kept.map((name) => `kept  ${join(where, name)}, which already exists`),
    ...(settings.url === undefined && written.includes('costbook.yaml')
      ? [`Fill in url and token in ${join(where, 'costbook.yaml')}; Then run "costbook doctor" to check them.`]
      : []),
    'Next:',
    ...next.map((command) => `  ${command}`),
  ];
  await context.write(`${lines.join('\n')}\n`);
}
