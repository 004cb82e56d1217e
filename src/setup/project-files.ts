import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { shipped } from '../base/places.ts';
import type { PlatformSeen } from '../health/index.ts';
import { formatMonth } from '../time/time.ts';
import type { HeaderTrial, MakersHeaders } from './headers.ts';

/** The settings for costbook.yaml. */
export interface Settings {
  readonly url?: string;
  readonly token?: TokenSetting;
  readonly account?: string;
  /** The headers of a maker; none if the platform's are the usual ones. */
  readonly headers?: Partial<MakersHeaders>;
  readonly seen?: PlatformSeen;
  /** What the platform did with those headers. */
  readonly trials?: readonly HeaderTrial[];
}

export interface TokenSetting {
  readonly key: 'token' | 'tokenFile' | 'tokenCommand';
  readonly value: string;
  /** The token itself, to be written to the file that `value` names. */
  readonly pasted?: string;
}

/** The file for a pasted token. */
export const ownTokenFile = 'secrets/platform-token';

/** Writes the files of a project, but none that exists. Returns the names of both. */
export async function writeProject(
  folder: string,
  settings: Settings,
): Promise<{ readonly written: readonly string[]; readonly kept: readonly string[] }> {
  const written: string[] = [];
  const kept: string[] = [];
  for (const [name, text] of Object.entries(await filesOf(settings))) {
    const isSecret = name === ownTokenFile;
    if (isSecret) await mkdir(dirname(join(folder, name)), { recursive: true, mode: 0o700 });
    const isNew = await writeNew(join(folder, name), text, isSecret ? 0o600 : undefined);
    (isNew ? written : kept).push(name);
  }
  return { written, kept };
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

/** The text of costbook.yaml. */
export function configText({ url, token, account, headers = {}, seen }: Settings): string {
  const named = Object.entries(headers).map(([key, name]) => `${key}: ${quote(name)}\n`);
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
${named.length === 0 ? '' : `\n# The headers whose names contain the platform's maker.\n${named.join('')}`}
${since}

# Days for which the platform may still correct an hour. An hour that was younger when it was fetched is fetched again.
#settleDays: 3

# How old the complete-through instant may be. If it is older, the books are out of date, and Costbook sends an alert.
#freshness: 30h

# Where alerts are sent (costbook alert). Secrets come from the environment, see .env.example.
#sinks:
#  finops: { type: slack, url: "\${SLACK_WEBHOOK_URL}" }
#  pager: { type: webhook, url: https://hooks.example.com/in, secret: "\${PAGER_SECRET}" }
#  out: { type: log }
#alerts:
#  notify: [finops]
`;
}

/** A text for costbook.yaml in which nothing is taken for a variable. */
export function literally(value: string): string {
  return value.replaceAll('${', () => '$${'); // as a text, $$ would be one $
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
