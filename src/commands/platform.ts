import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf, PlatformError, UsageError } from '../base/errors.ts';
import { type AccountConfig, type Config, clientFor, loadConfig, withWorkspaceToken } from '../config/index.ts';
import { instant, type Option, text } from '../options/kinds.ts';
import type { CommandInput } from '../options/read.ts';
import { type Reading, reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import {
  type Answer,
  answerPages,
  type Call,
  type Client,
  callOnce,
  callStreamed,
  discoverAccounts,
} from '../platform/index.ts';
import {
  allOperations,
  baseUrl,
  checkParameter,
  firstDifference,
  type Operation,
  pagedListingsVersion,
  requestPath,
  withoutSecrets,
} from '../platform/interface/index.ts';
import { nearest, quoted } from '../text/choices.ts';
import { redactParts } from '../text/redactor.ts';
import { oneLine } from '../text/safe-text.ts';
import { formatInstant } from '../time/time.ts';
import type { Command, CommandContext } from './command.ts';
import { allParameters, describedOperation, flagOf, listedOperations } from './platform-operations.ts';

/** The parameters of all operations. */
const furtherOptions: Readonly<Record<string, Option<string | undefined>>> = Object.fromEntries(
  allParameters().map(({ name, rule }) => {
    const isInstant = name === 'startTime' || name === 'endTime';
    const ofParameter = isInstant ? writtenInstant : text;
    return [name, ofParameter(flagOf(name), firstPart(rule))];
  }),
);

type Asked = Reading<typeof options.platform>;
const readingMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];
const maxBodyBytes = 64 * 1024 * 1024;

export const platformCommand: Command = {
  name: 'platform',
  furtherOptions,
  summary: 'Send any request that the platform knows, and print its answer.',
  arguments: [{ name: '[operation]', summary: 'the operation; --list names all of them' }],
  examples: [
    'costbook platform --list',
    'costbook platform --describe delete-model',
    'costbook platform sandboxes --status FAILED --all',
    'costbook platform template --template-name mcp-starter',
    'costbook platform delete-model --model-name old-gateway',
  ],
  needsProject: ({ options }) => options['list'] !== true && options['describe'] === undefined,
  run,
};

/** An instant as the platform writes it. */
function writtenInstant(value: string, summary: string): Option<string | undefined> {
  const { read, ...option } = instant(value, summary);
  return {
    ...option,
    read: (texts, asked) => {
      const found = read(texts, asked);
      return found === undefined ? undefined : formatInstant(found);
    },
  };
}

/** The first part of a rule, for the help; `--describe` shows all of it. */
function firstPart(rule: string): string {
  const [part = ''] = rule.split(/[.;](?:\s|$)/);
  return part.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
}

async function run(input: CommandInput, context: CommandContext): Promise<number> {
  const asked = reading(options.platform, input, context);
  const { list, describe: described, all, yes } = asked.values;
  if (list || described !== undefined) {
    const text =
      described === undefined
        ? listedOperations(context.json, context.layout)
        : describedOperation(operationNamed(described), context.json, context.layout);
    await context.write(text);
    return 0;
  }
  const [name] = input.arguments;
  if (name === undefined) {
    throw new UsageError('no operation given: "costbook platform --list" names all of them');
  }
  const operation = operationNamed(name);
  const config = loadConfig({ dir: context.dir, env: context.env, now: context.effects.now() });
  const account = accountOf(config, asked.values);
  const parameters = reading(furtherOptions, input, context);
  const { workspace } = parameters.values;
  const values = valuesOf(operation, account, parameters, context);
  const method = methodOf(operation, asked);
  if (all && operation.paging === undefined) {
    asked.problem(`--all: ${operation.name} has no pages; remove it`);
  }
  asked.attempt(parameters.check);
  asked.check();

  const chosen = withWorkspaceToken(account, workspace);
  const client = clientFor(chosen, config, context.openHttp(config.concurrency), context, workspace);
  if (operation.parameters.some((parameter) => parameter.name === 'accountId') && values['accountId'] === undefined) {
    values['accountId'] = await onlyAccount(client, context);
  }
  const body = await bodyOf(operation, method, asked.values.file, context);
  const used = operation.method === 'ANY' ? (method ?? (body === undefined ? 'GET' : 'POST')) : operation.method;
  const call: Call = {
    operation,
    values,
    sending: { method: used, body, apiVersion: versionFor(operation, config), isOfUser: true },
  };
  if (operation.changes && !readingMethods.includes(used)) {
    confirm(call, chosen, config, yes, context);
  }
  await sendCall(client, call, config, all, context);
  return 0;
}

function operationNamed(name: string): Operation {
  const found = allOperations.find((operation) => operation.name === name);
  if (found !== undefined) return found;
  const guess = nearest(
    name,
    allOperations.map((operation) => operation.name),
  );
  throw new UsageError(
    `there is no operation ${quoted(name)}${guess === undefined ? '' : ` (did you mean "${guess}"?)`}: "costbook platform --list" names all of them`,
  );
}

/** The configured account that `--account` names, or the only one. */
function accountOf({ accounts }: Config, { account: named }: Asked['values']): AccountConfig {
  const ids = accounts.map(({ id }) => id ?? 'the only account');
  const found = named === undefined ? accounts[0] : accounts.find(({ id }) => id === named || accounts.length === 1);
  if (found === undefined || (named === undefined && accounts.length > 1)) {
    throw new UsageError(`--account: expected one of ${ids.join(', ')}`);
  }
  return named === undefined ? found : { ...found, id: named };
}

/** The values of the operation's parameters, as text. Reports what is missing, wrong, or of no use. */
function valuesOf(
  operation: Operation,
  account: AccountConfig,
  { values: given, isGiven, problem }: Reading<typeof furtherOptions>,
  context: CommandContext,
): Record<string, string> {
  const values: Record<string, string> = {};
  for (const parameter of operation.parameters) {
    const { name } = parameter;
    const flag = `--${flagOf(name)}`;
    const value = name === 'accountId' ? account.id : given[name];
    if (value === undefined) {
      // The platform is asked for an account that is not configured. A date with a mistake is already reported.
      if (parameter.required && name !== 'accountId' && !isGiven[name]) problem(`${flag}: ${operation.name} needs it`);
      continue;
    }
    const { fault, unknown = [] } = checkParameter(parameter, value);
    if (fault !== undefined) problem(`${flag}: ${fault}`);
    if (unknown.length > 0) {
      context.tell(
        `costbook: warning: ${flag}: the interface does not list ${unknown.map(quoted).join(', ')}; the platform decides`,
      );
    }
    values[name] = value;
  }
  for (const { name } of allParameters()) {
    if (!isGiven[name] || operation.parameters.some((parameter) => parameter.name === name)) continue;
    // Any request may be about a workspace: it chooses the token, and the header that names it.
    if (name !== 'workspace') problem(`--${flagOf(name)}: ${operation.name} has no such parameter; remove it`);
  }
  return values;
}

function methodOf({ method, name }: Operation, { values: { method: given }, problem }: Asked): string | undefined {
  if (given !== undefined && method !== 'ANY') {
    problem(`--method: ${name} is always ${method}; remove it`);
  }
  return method === 'ANY' ? given : undefined;
}

async function onlyAccount(client: Client, { signal }: CommandContext): Promise<string> {
  const ids = await discoverAccounts(client, signal);
  const [id] = ids;
  if (id !== undefined && ids.length === 1) return id;
  throw new UsageError(
    ids.length === 0
      ? 'the token has access to no account: set COSTBOOK_ACCOUNT'
      : `the token has access to ${ids.length} accounts: choose one with --account: ${ids.slice(0, 20).join(', ')}`,
  );
}

/** The body from `--file` or stdin, checked against the documented shape. */
async function bodyOf(
  { body, name }: Operation,
  method: string | undefined,
  file: string | undefined,
  context: CommandContext,
): Promise<string | undefined> {
  if (body === undefined) {
    if (file !== undefined) throw new UsageError(`--file: ${name} has no body; remove it`);
    return undefined;
  }
  if (file === undefined && (!body.required || context.ask !== undefined)) {
    if (!body.required) return undefined;
    throw new UsageError(`${name} needs a body, ${body.rule}: pass it with --file, or on stdin`);
  }
  if (method === 'GET' || method === 'HEAD') throw new UsageError(`--file: ${method} has no body; remove one of them`);
  const text =
    file === undefined || file === '-'
      ? await context.readInput(maxBodyBytes)
      : await readBody(resolve(context.folder, file));
  const from = file === undefined || file === '-' ? 'stdin' : file;
  if (Buffer.byteLength(text) > maxBodyBytes) throw new UsageError(`${from}: the body is longer than 64 MiB`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // What the parser says quotes the text, which may contain secrets.
    const why = text.trim() === '' ? 'found nothing' : 'found no JSON';
    throw new UsageError(`${from}: ${why}, expected ${body.rule}`);
  }
  const checked = body.type.safeParse(value);
  if (!checked.success) {
    throw new UsageError(`${from}: ${firstDifference(checked.error, 'the body')}; expected ${body.rule}`);
  }
  return text;
}

async function readBody(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--file: ${messageOf(error)}`, { cause: error });
  }
}

/** Listings are queried in the version that has pages, filters and search. */
function versionFor({ paging }: Operation, { apiVersion }: Config): string {
  return paging === 'items' && apiVersion < pagedListingsVersion ? pagedListingsVersion : apiVersion;
}

/** Says what a call will do. Throws UsageError unless the person has confirmed it: nothing is sent. */
function confirm(
  { operation, values, sending }: Call,
  account: AccountConfig,
  config: Config,
  isConfirmed: boolean,
  context: CommandContext,
): void {
  const effect = (operation.effect ?? 'may change something').replace(/\{(\w+)\}/g, (_, name: string) =>
    oneLine(values[name] ?? '', 200),
  );
  const endpoint = { url: account.url, inferenceUrl: config.inferenceUrl, sandboxUrl: config.sandboxUrl };
  const target = `${sending?.method} ${baseUrl(operation, endpoint, values)}${requestPath(operation, values)}`;
  if (!isConfirmed) {
    throw new UsageError(`this ${effect}. Nothing was sent (${target}). To do it, add --yes`);
  }
  context.tell(`costbook: ${target}: this ${effect}`);
}

async function sendCall(
  client: Client,
  call: Call,
  config: Config,
  followsPages: boolean,
  context: CommandContext,
): Promise<void> {
  const { operation } = call;
  if (operation.answer === 'any' && operation.host !== 'management') {
    const decoder = new TextDecoder();
    const redacted = redactParts(context.redact);
    let isInLine = false;
    async function writePart(text: string): Promise<void> {
      if (text !== '') isInLine = !text.endsWith('\n');
      await context.write(text);
    }
    try {
      await callStreamed(
        client,
        call,
        (chunk) => writePart(redacted(decoder.decode(chunk, { stream: true }))),
        context.signal,
      );
    } finally {
      await writePart(redacted(decoder.decode()) + redacted(undefined));
    }
    if (isInLine && context.isTerminal) await context.write('\n');
    return;
  }
  try {
    if (followsPages) await writeItems(client, call, context);
    else await writeAnswer(call, await callOnce(client, call, context.signal), context);
  } catch (error) {
    const isVersion = error instanceof PlatformError && error.code === 'invalid_api_version';
    if (!isVersion || call.sending?.apiVersion === config.apiVersion) throw error;
    context.tell(
      `costbook: warning: the platform does not support version ${call.sending?.apiVersion} for ${operation.name}; using ${config.apiVersion}, in which filters may not apply`,
    );
    await sendCall(
      client,
      { ...call, sending: { ...call.sending, apiVersion: config.apiVersion } },
      config,
      followsPages,
      context,
    );
  }
}

async function writeAnswer({ operation }: Call, { value, deviation }: Answer, context: CommandContext): Promise<void> {
  if (value === undefined) return;
  warn(operation, deviation, context);
  const clean = withoutSecrets(value);
  const text = typeof clean === 'string' ? clean : JSON.stringify(clean, null, context.json ? 0 : 2);
  await context.write(`${context.redact(text)}\n`);
  const { meta } = value as { meta?: { hasMore?: unknown } };
  if (meta?.hasMore === true)
    context.tell('costbook: there are more pages: add --all, or pass meta.nextCursor as --cursor');
}

/** Items as they come: one per line, or one JSON list. */
async function writeItems(client: Client, call: Call, context: CommandContext): Promise<void> {
  let written = 0;
  if (context.json) await context.write('[');
  for await (const { items, deviation } of answerPages(client, call, context.signal)) {
    warn(call.operation, deviation, context);
    for (const item of items) {
      const text = context.redact(JSON.stringify(withoutSecrets(item)));
      await context.write(context.json ? `${written === 0 ? '' : ',\n'}${text}` : `${text}\n`);
      written += 1;
    }
  }
  if (context.json) await context.write(']\n');
}

function warn({ name }: Operation, deviation: string | undefined, { tell }: CommandContext): void {
  if (deviation === undefined) return;
  tell(`costbook: warning: the answer of ${name} has another shape than documented: ${oneLine(deviation, 200)}`);
}
