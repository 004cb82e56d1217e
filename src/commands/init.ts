import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { CostbookError, messageOf, UsageError } from '../base/errors.ts';
import { shipped } from '../base/places.ts';
import { parseConfig } from '../config/index.ts';
import { askPlatform, type PlatformSeen } from '../health/index.ts';
import { read, type Values } from '../options/read.ts';
import { options } from '../options/table.ts';
import { formatInstant, formatMonth } from '../time/time.ts';
import type { Ask, Command, CommandContext } from './command.ts';

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
    const written: string[] = [];
    const kept: string[] = [];
    for (const [name, text] of Object.entries(await filesOf(settings))) {
      const isSecret = name === ownTokenFile;
      if (isSecret) await mkdir(join(folder, name, '..'), { recursive: true, mode: 0o700 });
      const isNew = await writeNew(join(folder, name), text, isSecret ? 0o600 : undefined);
      (isNew ? written : kept).push(name);
    }
    await warnAboutToken(settings, folder, context);
    await answer({ folder, file, written, kept, settings }, context);
    return 0;
  },
};

type Asked = Values<typeof options.init>;

/** The settings for costbook.yaml. */
interface Settings {
  readonly url?: string;
  readonly token?: TokenSetting;
  readonly account?: string;
  readonly seen?: PlatformSeen;
}

interface TokenSetting {
  readonly key: 'token' | 'tokenFile' | 'tokenCommand';
  readonly value: string;
  /** The token itself, to be written to the file that `value` names. */
  readonly pasted?: string;
}

/** The file for a pasted token. */
const ownTokenFile = 'secrets/platform-token';

/** The settings from flags, environment and prompts, checked with the platform unless `--unchecked`. */
async function settle(asked: Asked, folder: string, context: CommandContext): Promise<Settings> {
  const { env, tell } = context;
  const ask = asked.yes ? undefined : context.ask;
  let url = asked.url ?? env['COSTBOOK_URL'];
  let token = tokenOf(asked, folder, context);
  let account = asked.account ?? env['COSTBOOK_ACCOUNT'];
  if (!url && ask === undefined) {
    if (token !== undefined || account !== undefined) {
      tell('warning: nothing was checked, because there is no --url (or COSTBOOK_URL); fill in costbook.yaml');
    }
    return { ...(token && { token }), ...(account && { account }) };
  }
  for (;;) {
    url ||= await ask?.('Platform address, such as https://api.example.com: ');
    token ??= ask && (await askToken(ask, folder, context));
    const settings: Settings = {
      url: url ?? '',
      token: token ?? { key: 'token', value: `\${COSTBOOK_TOKEN}` },
      ...(account && { account }),
    };
    try {
      if (asked.unchecked) {
        checkText(settings, folder, context, false);
        return settings;
      }
      tell(`Checking the token with ${checkText(settings, folder, context, true).url} …`);
      const seen = await check(settings, folder, context);
      if (seen.accounts.length === 1) return { ...settings, account: seen.accounts[0] ?? '', seen };
      if (ask === undefined || seen.accounts.length === 0) {
        throw new UsageError(
          seen.accounts.length === 0
            ? `the token sees no account at ${url}; name one with --account, or use another token`
            : `the token sees ${seen.accounts.length} accounts (${seen.accounts.slice(0, 5).join(', ')}); choose one with --account`,
        );
      }
      account = await ask(`The token sees several accounts (${seen.accounts.join(', ')}). Which one? `);
    } catch (error) {
      // Prompt again for a wrong answer; a wrong flag or variable must be corrected by the caller.
      const isAnswered = asked.url === undefined && !env['COSTBOOK_URL'];
      if (ask === undefined || !(error instanceof CostbookError) || context.signal.aborted || !isAnswered) throw error;
      tell(`costbook: ${messageOf(error)}`);
      [url, token, account] = [undefined, tokenOf(asked, folder, context), asked.account ?? env['COSTBOOK_ACCOUNT']];
    }
  }
}

/** The token's source from flags or the environment; undefined if neither names one. */
function tokenOf(
  { tokenFile: file, tokenCommand: command, tokenEnv: variable }: Asked,
  folder: string,
  context: CommandContext,
): TokenSetting | undefined {
  const { env } = context;
  const given: TokenSetting[] = [];
  if (file !== undefined) given.push({ key: 'tokenFile', value: pathFrom(context.folder, file, folder) });
  if (command !== undefined) given.push({ key: 'tokenCommand', value: literally(command) });
  if (variable !== undefined) given.push({ key: 'token', value: reference(variable) });
  if (given.length > 1) {
    throw new UsageError(
      'found several token sources, expected only one of --token-file, --token-command, --token-env',
    );
  }
  if (given[0] !== undefined) return given[0];
  if (env['COSTBOOK_TOKEN_FILE']) return { key: 'tokenFile', value: literally(env['COSTBOOK_TOKEN_FILE']) };
  if (env['COSTBOOK_TOKEN_COMMAND']) return { key: 'tokenCommand', value: literally(env['COSTBOOK_TOKEN_COMMAND']) };
  return env['COSTBOOK_TOKEN'] ? { key: 'token', value: reference('COSTBOOK_TOKEN') } : undefined;
}

async function askToken(
  ask: Ask,
  folder: string,
  { env, folder: from, tell, keepSecret }: CommandContext,
): Promise<TokenSetting> {
  for (;;) {
    const said = await ask(
      'Where is the token? A file (secrets/token), a variable ($COSTBOOK_TOKEN) or a command (!pass show platform).\n' +
        `Or paste the token: Costbook stores it in ${ownTokenFile}. Your input is not shown: `,
      { isHidden: true },
    );
    if (await isToken(said, from)) {
      keepSecret(said);
      if ((await stat(join(folder, ownTokenFile)).catch(() => undefined)) === undefined) {
        return { key: 'tokenFile', value: ownTokenFile, pasted: said };
      }
      tell(`${join(folder, ownTokenFile)} already exists: enter its name to use it, or move it away first`);
      continue;
    }
    if (said.startsWith('!') && said.length > 1) return { key: 'tokenCommand', value: literally(said.slice(1).trim()) };
    if (/^\$\w+$/.test(said) && env[said.slice(1)]) return { key: 'token', value: reference(said.slice(1)) };
    if (said.startsWith('$'))
      await ask(`${said} is not set. Set it and run init again, or press Enter to choose another source: `);
    else if (said !== '') return { key: 'tokenFile', value: pathFrom(from, said, folder) };
  }
}

/** Whether an answer is a token rather than a file name: long, without a folder, and no such file exists. */
async function isToken(said: string, from: string): Promise<boolean> {
  const looksSo = /^[\w.+=~-]{16,}$/.test(said) || (/^[\x21-\x7e]{40,}$/.test(said) && !/^[./~$!]/.test(said));
  return looksSo && (await stat(resolve(from, said)).catch(() => undefined)) === undefined;
}

function reference(variable: string): string {
  if (/^[A-Za-z_]\w*$/.test(variable)) return `\${${variable}}`;
  throw new UsageError('--token-env: expected the name of a variable such as COSTBOOK_TOKEN, not the token itself');
}

/** A path typed by a user, as costbook.yaml has it: relative if it is inside the project folder. */
function pathFrom(from: string, typed: string, folder: string): string {
  const path = resolve(from, typed);
  return literally(path.startsWith(`${folder}/`) ? relative(folder, path) : path);
}

/** A text for costbook.yaml in which nothing is taken for a variable. */
function literally(value: string): string {
  return value.replaceAll('${', () => '$${'); // as a text, $$ would be one $
}

/** Variables that override the settings that this command writes. */
const overriding = [
  'COSTBOOK_URL',
  'COSTBOOK_TOKEN',
  'COSTBOOK_TOKEN_FILE',
  'COSTBOOK_TOKEN_COMMAND',
  'COSTBOOK_ACCOUNT',
];

/**
 * Parses the file as it will be written, so that exactly that is checked: without the variables that override it,
 * except the one that it refers to.
 */
function checkText(settings: Settings, folder: string, { env, effects }: CommandContext, requireAccounts: boolean) {
  const others = Object.entries(env).filter(
    ([name]) => !overriding.includes(name) || settings.token?.value === `\${${name}}`,
  );
  const config = parseConfig({
    text: configText(settings),
    file: join(folder, 'costbook.yaml'),
    env: Object.fromEntries(others),
    now: effects.now(),
    requireAccounts,
  });
  return { ...config.accounts[0], config };
}

async function check(settings: Settings, folder: string, context: CommandContext): Promise<PlatformSeen> {
  const { config, url, token, id } = checkText(settings, folder, context, true);
  const typed = settings.token?.pasted;
  const pasted = typed === undefined ? undefined : ({ kind: 'value', value: typed } as const);
  if (url === undefined || token === undefined) throw new UsageError('expected both url and token');
  return askPlatform(
    { ...config, url, token: pasted ?? token, tokenSetting: settings.token?.key, account: id },
    // The token command runs in the folder in which it will run every night.
    { ...context, dir: (await stat(folder).catch(() => undefined)) === undefined ? context.dir : folder },
  );
}

/** Warns about anything that makes the next command read another token than the one written. */
async function warnAboutToken({ token }: Settings, folder: string, { env, tell }: CommandContext): Promise<void> {
  if (token === undefined) return;
  const beaten = overriding.find(
    (name) =>
      name.startsWith('COSTBOOK_TOKEN') && env[name] && token.value !== `\${${name}}` && token.value !== env[name],
  );
  if (beaten !== undefined) {
    tell(`warning: ${beaten} is set and overrides ${token.key} in costbook.yaml: unset it where Costbook runs`);
  }
  if (token.key !== 'tokenFile') return;
  const path = resolve(folder, token.value.replaceAll('$${', '${'));
  if ((await stat(path).catch(() => undefined)) === undefined) {
    tell(`warning: the token file ${path} does not exist yet. Create it, then run "costbook doctor"`);
  }
}

/** The project's files by path. */
async function filesOf(settings: Settings): Promise<Record<string, string>> {
  const [budgets, allocation] = await Promise.all(
    ['budgets.example.yaml', 'allocation.example.yaml'].map((name) => readFile(shipped(name), 'utf8')),
  );
  const { token } = settings;
  return {
    ...(token?.pasted === undefined ? {} : { [ownTokenFile]: `${token.pasted}\n` }),
    'costbook.yaml': `${schemaLine('costbook')}${configText(settings)}`,
    'jobs/budgets.yaml': `${schemaLine('budgets')}${asComment(budgets ?? '', 'jobs/budgets.yaml')}`,
    'jobs/allocation.yaml': `${schemaLine('allocation')}${asComment(allocation ?? '', 'jobs/allocation.yaml')}`,
    '.env.example': envText(settings),
    '.gitignore': ignoreText(settings),
  };
}

/** A line that points editors to the schema of this installed Costbook. */
function schemaLine(name: string): string {
  return `# yaml-language-server: $schema=${shipped(`docs/schema/${name}.schema.json`)}\n`;
}

/** An example with every line commented out. */
function asComment(example: string, name: string): string {
  // The example's own schema line is relative to another folder.
  const [title = '', ...lines] = example
    .replace(/^# yaml-language-server:.*\n/, '')
    .trimEnd()
    .split('\n');
  const head = title.replace(
    /\. Copy this file to .*$/,
    `. Nothing in ${name} is active yet: remove\n# the # from the lines that you need. Lines that start with ## are explanations.`,
  );
  const quiet = [head, ...lines].map((line) =>
    line.startsWith('#') ? line.replaceAll(/^#/gm, '##') : line && `#${line}`,
  );
  return `${quiet.join('\n')}\n`;
}

function configText({ url, token, account, seen }: Settings): string {
  const since =
    seen?.historyStart === undefined
      ? '# The first month to load. By default the first month with any cost.\n#since: 2026-01'
      : `# The first month to load. By default the first month with any cost, which is ${formatMonth(seen.historyStart)}.\n#since: ${formatMonth(seen.historyStart)}`;
  return `# Costbook's configuration. Every key is optional. An environment variable overrides its key: COSTBOOK_URL overrides url.
# \${NAME} in a text stands for that environment variable. A misspelled key is an error.
# costbook.example.yaml, which comes with Costbook, explains every key.

# The platform's address.
${url ? `url: ${quote(url)}` : '#url: https://api.example.com'}

# The bearer token: one of token (a variable), tokenFile and tokenCommand. Do not write the token itself into this file.
${token ? `${token.key}: ${quote(token.value)}` : `#token: "\${COSTBOOK_TOKEN}"\n#tokenFile: secrets/platform-token\n#tokenCommand: pass show platform`}

# The billing account. Without it, Costbook uses the account that the token has access to.
${account ? `account: ${quote(literally(account))}` : '#account: acc_main'}

${since}

# Days for which the platform may still correct an hour. An hour that was younger when it was fetched is fetched again.
#settleDays: 3

# How old the complete-through instant may be. If it is older, the books are out of date, and Costbook sends an alert.
#freshness: 26h

# Where alerts are sent (costbook alert). Secrets come from the environment, see .env.example.
#sinks:
#  finops: { type: slack, url: "\${SLACK_WEBHOOK_URL}" }
#  pager: { type: webhook, url: https://hooks.example.com/in, secret: "\${PAGER_SECRET}" }
#  out: { type: log }
#alerts:
#  notify: [finops]
`;
}

/** JSON strings are valid YAML. */
function quote(value: string): string {
  return JSON.stringify(value);
}

function envText({ token }: Settings): string {
  const variable = /^\$\{(\w+)\}$/.exec(token?.key === 'token' ? token.value : '')?.[1];
  return `# Environment variables of Costbook: copy this file to .env, fill it in, and keep it secret.
# To load it: in a shell "set -a; . ./.env; set +a", in systemd EnvironmentFile=, in a container --env-file.
${variable === undefined ? `#COSTBOOK_TOKEN=` : `${variable}=`}
#SLACK_WEBHOOK_URL=
# The key that signs webhook messages; create one with: echo "whsec_$(openssl rand -base64 32)"
#PAGER_SECRET=whsec_
`;
}

function ignoreText({ token }: Settings): string {
  const isInside = token?.key === 'tokenFile' && !/^(\/|\.\.)/.test(token.value);
  return `# The books, exports and secrets.
data/
exports/
.env
${isInside ? `${token.value}\n` : ''}`;
}

/** Writes a file unless it exists; returns false if it does. */
async function writeNew(path: string, content: string, mode?: number): Promise<boolean> {
  await mkdir(join(path, '..'), { recursive: true });
  try {
    await writeFile(path, content, { flag: 'wx', ...(mode !== undefined && { mode }) });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function answer(
  begun: { folder: string; file: string; written: string[]; kept: string[]; settings: Settings },
  context: CommandContext,
): Promise<void> {
  const { folder, written, kept, settings } = begun;
  const { seen, account } = settings;
  const where = relative(context.folder, folder);
  const dir = where === '' ? '' : ` --dir ${/^[\w./-]+$/.test(where) ? where : quote(where)}`;
  const next = [`costbook doctor${dir}`, `costbook ingest${dir}`, `costbook status${dir}`];
  const historyStart = seen?.historyStart === undefined ? null : formatInstant(seen.historyStart);
  if (context.json) {
    const checked = seen === undefined ? null : { account: account ?? null, role: seen.role ?? null, historyStart };
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
