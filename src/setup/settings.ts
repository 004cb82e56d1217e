import { stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { CostbookError, messageOf, PlatformError, UsageError } from '../base/errors.ts';
import { parseConfig } from '../config/index.ts';
import { type AccountSeen, askPlatform, type HealthContext, type PlatformSeen } from '../health/index.ts';
import type { Values } from '../options/read.ts';
import type { options } from '../options/table.ts';
import { AccountsRefusedError } from '../platform/index.ts';
import { type HeaderTrial, headersOfMaker, type MakersHeaders, tryHeaders } from './headers.ts';
import { configText, literally, ownTokenFile, type Settings, type TokenSetting } from './project-files.ts';

/** Prompts a person for a line. Input that may be a secret is not echoed. */
export type Ask = (question: string, how?: { readonly isHidden: boolean }) => Promise<string>;

/** What setting up a project needs. */
export interface SetupContext extends HealthContext {
  /** The folder that relative paths on the command line start from, absolute. */
  readonly folder: string;
  /** Prompts a person and returns the line, trimmed; undefined without a terminal. */
  readonly ask: Ask | undefined;
}

type Asked = Values<typeof options.init>;

/** The settings from flags, environment and prompts, checked with the platform unless `--unchecked`. */
export async function settle(asked: Asked, folder: string, context: SetupContext): Promise<Settings> {
  const { env, tell } = context;
  const ask = asked.yes ? undefined : context.ask;
  let url = asked.url ?? env['COSTBOOK_URL'];
  let token = tokenOf(asked, folder, context);
  let account = asked.account ?? env['COSTBOOK_ACCOUNT'];
  let headers: Settings['headers'] = asked.headerPrefix === undefined ? undefined : headersOfMaker(asked.headerPrefix);
  if (!url && ask === undefined) {
    if (token !== undefined || account !== undefined) {
      tell('warning: nothing was checked, because there is no --url (or COSTBOOK_URL); fill in costbook.yaml');
    }
    return { ...(token && { token }), ...(account && { account }), ...(headers && { headers }) };
  }
  for (;;) {
    url ||= await ask?.('Platform address, such as https://api.example.com: ');
    token ??= ask && (await askToken(ask, folder, context));
    try {
      headers ??= ask && (await askHeaders(ask, context));
      const settings: Settings = {
        url: url ?? '',
        token: token ?? { key: 'token', value: `\${COSTBOOK_TOKEN}` },
        ...(account && { account }),
        ...(headers && { headers }),
      };
      if (asked.unchecked) {
        checkText(settings, folder, context, false);
        return settings;
      }
      tell(`Checking the token with ${checkText(settings, folder, context, true).url} …`);
      const checked = await checkHeaders(settings, folder, context);
      const { seen } = checked;
      if (seen.accounts.length === 1) return { ...settings, ...checked, account: seen.accounts[0] ?? '' };
      if (ask === undefined || seen.accounts.length === 0) {
        throw new UsageError(
          seen.accounts.length === 0
            ? `the token sees no account at ${url}; name one with --account, or use another token`
            : `the token sees ${seen.accounts.length} accounts (${seen.accounts.slice(0, 5).join(', ')}); choose one with --account`,
        );
      }
      account = await ask(`The token sees several accounts (${seen.accounts.join(', ')}). Which one? `);
    } catch (error) {
      if (error instanceof AccountsRefusedError && ask !== undefined && account === undefined) {
        tell(`costbook: ${messageOf(error)}`);
        account = (await ask('The ID of the account: ')) || undefined;
        if (account !== undefined) continue;
      }
      // Prompt again for a wrong answer; a wrong flag or variable must be corrected by the caller.
      const isAnswered = asked.url === undefined && !env['COSTBOOK_URL'];
      if (ask === undefined || !(error instanceof CostbookError) || context.signal.aborted || !isAnswered) throw error;
      tell(`costbook: ${messageOf(error)}`);
      [url, token, account] = [undefined, tokenOf(asked, folder, context), asked.account ?? env['COSTBOOK_ACCOUNT']];
      if (asked.headerPrefix === undefined) headers = undefined;
    }
  }
}

/** The token's source from flags or the environment; undefined if neither names one. */
function tokenOf(
  { tokenFile: file, tokenCommand: command, tokenEnv: variable }: Asked,
  folder: string,
  context: SetupContext,
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
  { env, folder: from, tell, keepSecret }: SetupContext,
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
function checkText(settings: Settings, folder: string, { env, effects }: SetupContext, requireAccounts: boolean) {
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

/** The names of a maker's headers, from a person; none if they are as documented, or set by variables. */
async function askHeaders(ask: Ask, { env }: SetupContext): Promise<Partial<MakersHeaders>> {
  if (Object.keys(env).some((name) => /^COSTBOOK_(AUTHORIZATION|VERSION|WORKSPACE|THREAD)_HEADER$/.test(name)))
    return {};
  const said = await ask(
    "The maker's name in the platform's headers, such as Acme in X-Acme-Workspace, or Enter for none: ",
  );
  return said === '' ? {} : headersOfMaker(said);
}

/** Checks the settings, with a maker's headers if they have them; a platform may take the token in the usual one only. */
async function checkHeaders(
  settings: Settings,
  folder: string,
  context: SetupContext,
): Promise<Pick<Settings, 'headers' | 'trials'> & { readonly seen: PlatformSeen }> {
  const { authorizationHeader, versionHeader, workspaceHeader, threadHeader } = settings.headers ?? {};
  if (!authorizationHeader || !versionHeader || !workspaceHeader || !threadHeader) {
    return { seen: await check(settings, folder, context) };
  }
  const names = { authorizationHeader, versionHeader, workspaceHeader, threadHeader };
  let trials: readonly HeaderTrial[] = [];
  const inspect = async (about: AccountSeen) => {
    trials = await tryHeaders(about, names, context);
  };
  try {
    const seen = await check(settings, folder, context, inspect);
    return { seen, headers: names, trials };
  } catch (error) {
    if (!(error instanceof PlatformError) || error.status !== 401) throw error;
    const { authorizationHeader: refused, ...headers } = names;
    const seen = await check({ ...settings, headers }, folder, context, inspect);
    const inUsual: HeaderTrial = { header: refused, outcome: 'refused' };
    return { seen, headers, trials: trials.map((one) => (one.header === refused ? inUsual : one)) };
  }
}

async function check(
  settings: Settings,
  folder: string,
  context: SetupContext,
  inspect?: (seen: AccountSeen) => Promise<void>,
): Promise<PlatformSeen> {
  const { config, url, token, id } = checkText(settings, folder, context, true);
  const typed = settings.token?.pasted;
  const pasted = typed === undefined ? undefined : ({ kind: 'value', value: typed } as const);
  if (url === undefined || token === undefined) throw new UsageError('expected both url and token');
  return askPlatform(
    { ...config, url, token: pasted ?? token, tokenSetting: settings.token?.key, account: id },
    // The token command runs in the folder in which it will run every night.
    { ...context, dir: (await stat(folder).catch(() => undefined)) === undefined ? context.dir : folder },
    inspect === undefined ? {} : { inspect },
  );
}

/** Warns about anything that makes the next command read another token than the one written. */
export async function warnAboutToken({ token }: Settings, folder: string, { env, tell }: SetupContext): Promise<void> {
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
