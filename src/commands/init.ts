import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseConfig } from '../config/index.ts';
import { CostbookError, messageOf, UsageError } from '../errors.ts';
import { formatInstant, formatMonth } from '../time.ts';
import { askPlatform, type PlatformSeen } from './ask-platform.ts';
import type { Ask, Command, CommandContext, CommandInput } from './command.ts';

/** The commented examples that come with Costbook: beside `src` in a checkout, beside `dist` in a package. */
const examples = fileURLToPath(new URL('../..', import.meta.url));

export const initCommand: Command = {
  name: 'init',
  summary: 'Begin a project: a commented costbook.yaml, jobs/ and what belongs beside them, checked with the platform.',
  arguments: [{ name: '[dir]', summary: 'the folder to write into; by default the project folder' }],
  options: [
    { flags: '--url <url>', summary: "the platform's address (by default COSTBOOK_URL, or a question)" },
    { flags: '--token-file <path>', summary: 'the file with the token' },
    { flags: '--token-command <line>', summary: 'the command that prints the token' },
    { flags: '--token-env <name>', summary: 'the environment variable with the token (default COSTBOOK_TOKEN)' },
    { flags: '--account <id>', summary: 'the account; by default the one that the token sees' },
    { flags: '--yes', summary: 'ask nothing, also at a terminal' },
    { flags: '--unchecked', summary: 'do not ask the platform whether it knows token and account' },
  ],
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
    const file = join(folder, 'costbook.yaml');
    const isConfigured = (await stat(file).catch(() => undefined)) !== undefined;
    // A configuration that is there is not looked at: it is somebody's, and "costbook doctor" checks it.
    const settings = isConfigured ? {} : await settle(input, folder, context);
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

/** What goes into costbook.yaml. */
interface Settings {
  readonly url?: string;
  readonly token?: TokenSetting;
  readonly account?: string;
  readonly seen?: PlatformSeen;
}

interface TokenSetting {
  readonly key: 'token' | 'tokenFile' | 'tokenCommand';
  readonly value: string;
  /** The token itself, which goes into the file that `value` names. */
  readonly pasted?: string;
}

/** Where a token that somebody pastes is kept. */
const ownTokenFile = 'secrets/platform-token';

/** The settings from flags, environment and answers, checked with the platform unless told otherwise. */
async function settle(input: CommandInput, folder: string, context: CommandContext): Promise<Settings> {
  const { env, tell } = context;
  const ask = input.options['yes'] === true ? undefined : context.ask;
  const isUnchecked = input.options['unchecked'] === true;
  let url = text(input, 'url') ?? env['COSTBOOK_URL'];
  let token = tokenOf(input, folder, env);
  let account = text(input, 'account') ?? env['COSTBOOK_ACCOUNT'];
  if (!url && ask === undefined) {
    if (token !== undefined || account !== undefined) {
      tell('warning: without --url (or COSTBOOK_URL) nothing can be checked; fill in costbook.yaml');
    }
    return { ...(token && { token }), ...(account && { account }) };
  }
  for (;;) {
    url ||= await ask?.("The platform's address, such as https://api.example.com: ");
    token ??= ask && (await askToken(ask, folder, context));
    const settings: Settings = {
      url: url ?? '',
      token: token ?? { key: 'token', value: `\${COSTBOOK_TOKEN}` },
      ...(account && { account }),
    };
    try {
      if (isUnchecked) {
        checkText(settings, folder, context, false);
        return settings;
      }
      tell(`Asking ${checkText(settings, folder, context, true).url} …`);
      const seen = await check(settings, folder, context);
      if (seen.accounts.length === 1) return { ...settings, account: seen.accounts[0] ?? '', seen };
      if (ask === undefined || seen.accounts.length === 0) {
        throw new UsageError(
          seen.accounts.length === 0
            ? `the token sees no account at ${url}; name one with --account, or take another token`
            : `the token sees ${seen.accounts.length} accounts (${seen.accounts.slice(0, 5).join(', ')}); choose one with --account`,
        );
      }
      account = await ask(`The token sees several accounts (${seen.accounts.join(', ')}). Which one? `);
    } catch (error) {
      // At a terminal there is another chance; what a flag or variable says can only be changed there.
      const isAnswered = text(input, 'url') === undefined && !env['COSTBOOK_URL'];
      if (ask === undefined || !(error instanceof CostbookError) || context.signal.aborted || !isAnswered) throw error;
      tell(`costbook: ${messageOf(error)}`);
      [url, token, account] = [
        undefined,
        tokenOf(input, folder, env),
        text(input, 'account') ?? env['COSTBOOK_ACCOUNT'],
      ];
    }
  }
}

/** The token's source by flags, or by the environment; undefined where neither names one. */
function tokenOf(input: CommandInput, folder: string, env: CommandContext['env']): TokenSetting | undefined {
  const given: TokenSetting[] = [];
  const [file, command, variable] = [text(input, 'tokenFile'), text(input, 'tokenCommand'), text(input, 'tokenEnv')];
  if (file !== undefined) given.push({ key: 'tokenFile', value: pathFrom(folder, file) });
  if (command !== undefined) given.push({ key: 'tokenCommand', value: literally(command) });
  if (variable !== undefined) given.push({ key: 'token', value: reference(variable) });
  if (given.length > 1) {
    throw new UsageError(
      'found several sources of the token, expected one of --token-file, --token-command, --token-env',
    );
  }
  if (given[0] !== undefined) return given[0];
  if (env['COSTBOOK_TOKEN_FILE']) return { key: 'tokenFile', value: literally(env['COSTBOOK_TOKEN_FILE']) };
  if (env['COSTBOOK_TOKEN_COMMAND']) return { key: 'tokenCommand', value: literally(env['COSTBOOK_TOKEN_COMMAND']) };
  return env['COSTBOOK_TOKEN'] ? { key: 'token', value: reference('COSTBOOK_TOKEN') } : undefined;
}

async function askToken(ask: Ask, folder: string, { env, tell, keepSecret }: CommandContext): Promise<TokenSetting> {
  for (;;) {
    const said = await ask(
      'Where is the token? A file (secrets/token), a variable ($COSTBOOK_TOKEN) or a command (!pass show platform).\n' +
        `Or paste the token: it goes into ${ownTokenFile}. What you type is not shown: `,
      { isHidden: true },
    );
    if (await isToken(said)) {
      keepSecret(said);
      if ((await stat(join(folder, ownTokenFile)).catch(() => undefined)) === undefined) {
        return { key: 'tokenFile', value: ownTokenFile, pasted: said };
      }
      tell(`${join(folder, ownTokenFile)} is there already: name it as the file, or move it away first`);
      continue;
    }
    if (said.startsWith('!') && said.length > 1) return { key: 'tokenCommand', value: literally(said.slice(1).trim()) };
    if (/^\$\w+$/.test(said) && env[said.slice(1)]) return { key: 'token', value: reference(said.slice(1)) };
    if (said.startsWith('$'))
      await ask(`${said} is not set; set it and begin again, or press Enter for another source: `);
    else if (said !== '') return { key: 'tokenFile', value: pathFrom(folder, said) };
  }
}

/** Whether an answer is a token and not the name of a file: long, without a folder, and no such file is there. */
async function isToken(said: string): Promise<boolean> {
  const looksSo = /^[\w.+=~-]{16,}$/.test(said) || (/^[\x21-\x7e]{40,}$/.test(said) && !/^[./~$!]/.test(said));
  return looksSo && (await stat(said).catch(() => undefined)) === undefined;
}

function reference(variable: string): string {
  if (/^[A-Za-z_]\w*$/.test(variable)) return `\${${variable}}`;
  throw new UsageError(
    '--token-env: found no name of a variable, expected one such as COSTBOOK_TOKEN: not the token itself',
  );
}

/** A path that somebody typed here, as the file in a folder has it: relative where it lies in that folder. */
function pathFrom(folder: string, typed: string): string {
  const path = resolve(typed);
  return literally(path.startsWith(`${folder}/`) ? relative(folder, path) : path);
}

/** A text of costbook.yaml in which nothing stands for a variable. */
function literally(value: string): string {
  return value.replaceAll('${', '$${');
}

function text(input: CommandInput, name: string): string | undefined {
  const value = input.options[name];
  return typeof value === 'string' ? value : undefined;
}

/** Variables that override what this command writes. */
const overriding = [
  'COSTBOOK_URL',
  'COSTBOOK_TOKEN',
  'COSTBOOK_TOKEN_FILE',
  'COSTBOOK_TOKEN_COMMAND',
  'COSTBOOK_ACCOUNT',
];

/**
 * Reads the file as it will be written, so that what is checked is what is written: without the variables that override
 * it, but for the one that it refers to.
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
  if (url === undefined || token === undefined) throw new UsageError('found no url or no token, expected both');
  return askPlatform(
    { ...config, url, token: pasted ?? token, tokenSetting: settings.token?.key, account: id },
    // A command for the token runs where it will run every night.
    { ...context, dir: (await stat(folder).catch(() => undefined)) === undefined ? context.dir : folder },
  );
}

/** Says what makes the next command read another token than the one that was written. */
async function warnAboutToken({ token }: Settings, folder: string, { env, tell }: CommandContext): Promise<void> {
  if (token === undefined) return;
  const beaten = overriding.find(
    (name) =>
      name.startsWith('COSTBOOK_TOKEN') && env[name] && token.value !== `\${${name}}` && token.value !== env[name],
  );
  if (beaten !== undefined) {
    tell(`warning: ${beaten} is set here and overrides ${token.key} of costbook.yaml: unset it where Costbook runs`);
  }
  if (token.key !== 'tokenFile') return;
  const path = resolve(folder, token.value.replaceAll('$${', '${'));
  if ((await stat(path).catch(() => undefined)) === undefined) {
    tell(`warning: there is no token file ${path} yet: "costbook doctor" says whether Costbook can read it`);
  }
}

/** Every file by its path in the project folder. */
async function filesOf(settings: Settings): Promise<Record<string, string>> {
  const [budgets, allocation] = await Promise.all(
    ['budgets.example.yaml', 'allocation.example.yaml'].map((name) => readFile(join(examples, name), 'utf8')),
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

/** What editors complete and check a file with: the schema that comes with this Costbook, where it is installed. */
function schemaLine(name: string): string {
  return `# yaml-language-server: $schema=${join(examples, 'docs', 'schema', `${name}.schema.json`)}\n`;
}

/** An example in which nothing holds until its comment signs are taken away. */
function asComment(example: string, name: string): string {
  // Its own schema line is relative to where the example is.
  const [title = '', ...lines] = example
    .replace(/^# yaml-language-server:.*\n/, '')
    .trimEnd()
    .split('\n');
  const head = title.replace(
    /: copy this to .*$/,
    `. Nothing in ${name} holds yet: take\n# the # away from the lines that you need; those that begin with ## are words.`,
  );
  const quiet = [head, ...lines].map((line) =>
    line.startsWith('#') ? line.replaceAll(/^#/gm, '##') : line && `#${line}`,
  );
  return `${quiet.join('\n')}\n`;
}

function configText({ url, token, account, seen }: Settings): string {
  const since =
    seen?.historyStart === undefined
      ? '# The first month to keep. Without it: the first one with any cost.\n#since: 2026-01'
      : `# The first month to keep. Without it: the first one with any cost, which is ${formatMonth(seen.historyStart)}.\n#since: ${formatMonth(seen.historyStart)}`;
  return `# Costbook's configuration. Every key may be left out; an environment variable beats its key: COSTBOOK_URL beats url.
# \${NAME} in a text stands for that environment variable. A misspelt key is an error, not a default.
# costbook.example.yaml, which comes with Costbook, explains every key there is.

# Where the platform answers.
${url ? `url: ${quote(url)}` : '#url: https://api.example.com'}

# The bearer token, from one of token (a variable), tokenFile and tokenCommand. Keep the token itself out of this file.
${token ? `${token.key}: ${quote(token.value)}` : `#token: "\${COSTBOOK_TOKEN}"\n#tokenFile: secrets/platform-token\n#tokenCommand: pass show platform`}

# Who pays. Without it the platform is asked which account the token sees.
${account ? `account: ${quote(account)}` : '#account: acc_main'}

${since}

# Days for which the platform may still correct an hour: what was read younger than that is read again.
#settleDays: 3

# How old the books may be before they are called too old, here and in an alert.
#freshness: 26h

# Where alerts are told (costbook alert). Secrets come from the environment, see .env.example.
#sinks:
#  finops: { type: slack, url: "\${SLACK_WEBHOOK_URL}" }
#  pager: { type: webhook, url: https://hooks.example.com/in, secret: "\${PAGER_SECRET}" }
#  out: { type: log }
#alerts:
#  notify: [finops]
`;
}

/** JSON text is YAML text. */
function quote(value: string): string {
  return JSON.stringify(value);
}

function envText({ token }: Settings): string {
  const variable = /^\$\{(\w+)\}$/.exec(token?.key === 'token' ? token.value : '')?.[1];
  return `# What Costbook reads from the environment: copy this to .env, fill it in, and keep it to yourself.
# A shell takes it with "set -a; . ./.env; set +a", systemd with EnvironmentFile=, a container with --env-file.
${variable === undefined ? `#COSTBOOK_TOKEN=` : `${variable}=`}
#SLACK_WEBHOOK_URL=
# The key of a webhook's signature; make one with: echo "whsec_$(openssl rand -base64 32)"
#PAGER_SECRET=whsec_
`;
}

function ignoreText({ token }: Settings): string {
  const isInside = token?.key === 'tokenFile' && !/^(\/|\.\.)/.test(token.value);
  return `# The books, what is exported from them, and secrets.
data/
exports/
.env
${isInside ? `${token.value}\n` : ''}`;
}

/** Writes a file where there is none; false where there is one, which is left alone. */
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
  const where = relative('.', folder);
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
          `The platform knows the token, as ${seen.role} of account ${account}; ` +
            (historyStart === null ? 'it has no cost yet.' : `its costs begin in ${historyStart.slice(0, 7)}.`),
        ]),
    ...written.map((name) => `wrote ${join(where, name)}`),
    ...kept.map((name) => `kept  ${join(where, name)}, which was there already`),
    ...(settings.url === undefined && written.includes('costbook.yaml')
      ? [`Fill in url and token in ${join(where, 'costbook.yaml')}; "costbook doctor" says whether they are right.`]
      : []),
    'Next:',
    ...next.map((command) => `  ${command}`),
  ];
  await context.write(`${lines.join('\n')}\n`);
}
