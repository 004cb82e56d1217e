import {
  earliestVersion,
  groupByDimensions,
  inWorkspace,
  type Operation,
  type OperationName,
  pagedImagesVersion,
  pagedListingsVersion,
} from '../platform/interface/index.ts';
import type { Instant } from '../time/time.ts';
import {
  answerArray,
  answerByExternalId,
  answerItem,
  answerOne,
  answerPages,
  attachedTo,
  connectionsOf,
  customDomainsOf,
  executionsOf,
  imagesOf,
  listedSnapshots,
  serviceAccountsOf,
  snapshotsOfSandbox,
  tasksOf,
  usersOf,
} from './assets.ts';
import { readBody } from './bodies.ts';
import type { Account, Call } from './call.ts';
import type { Callbacks } from './callbacks.ts';
import {
  type Caller,
  callerOf,
  demandWorkspace,
  functionsScope,
  type HeaderNames,
  type Headers,
  type WorkspaceRule,
  workspaceOf,
} from './callers.ts';
import type { FaultPlan } from './fault-plan.ts';
import { answerFunction } from './functions.ts';
import {
  answerAccounts,
  answerContents,
  answerDeleteModel,
  answerIntegration,
  answerRestore,
  answerTemplate,
  answerWorkspace,
  answerWorkspaces,
} from './management.ts';
import { openMcpServers } from './mcp.ts';
import { openModels } from './models.ts';
import { answerOAuth } from './oauth.ts';
import { readParameters } from './parameters.ts';
import { bareOf, denied, Refusal } from './refusal.ts';
import { json, type Reply } from './reply.ts';
import { type Address, addressOf, inferencePrefix, routeOf, sandboxPrefix } from './routes.ts';
import type { ResourceKind } from './sample-listings.ts';
import { openSandboxHosts } from './sandbox-host.ts';
import { answerAgent, answerAsync, answerExecution, answerStart, asyncTrigger } from './workloads.ts';

/** The part of a request that the platform reads. */
export interface PlatformRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** The platform without sockets: takes a request, returns the answer, or throws a Refusal. */
export interface Platform {
  answer(request: PlatformRequest, calledExpired: boolean): Reply;
  /** Forgets what clients did. */
  reset(): void;
}

/** What a platform is made of. */
export interface PlatformParts {
  /** One or more; the first one's admin sees all of them. */
  readonly accounts: readonly Account[];
  readonly faults: FaultPlan;
  readonly now: () => Instant;
  readonly names: HeaderNames;
  readonly workspaceRule: WorkspaceRule;
  /** Where asynchronous triggers call back. */
  readonly callbackUrl: string | undefined;
  readonly callbacks: Callbacks;
}

/** 9.7 leaves open which others are valid; the emulator supports the paged one, and a preview (9.2). */
const allVersions: readonly string[] = [
  earliestVersion,
  pagedListingsVersion,
  '2026-06-02.preview',
  pagedImagesVersion,
];

/** The URLs of the other hosts, below the address under which a client reached the emulator. */
export function hostUrls(base: string): { readonly inferenceUrl: string; readonly sandboxUrl: string } {
  return {
    inferenceUrl: `${base}${inferencePrefix}`,
    sandboxUrl: `${base}${sandboxPrefix}/{sandbox}/{workspace}/{region}`,
  };
}

/** The platform with these accounts, by the clock that `now` reads. */
export function openPlatform(parts: PlatformParts): Platform {
  const { accounts, faults, names } = parts;
  const stories = accounts.map(({ story }) => story);
  const { answersAt, forget } = openAnswers(accounts);

  return {
    reset() {
      forget();
      for (const { world, changes } of accounts) {
        world.reset();
        changes.reset();
      }
    },
    answer(request, calledExpired) {
      const { target, headers } = request;
      const mark = target.indexOf('?');
      const path = mark < 0 ? target : target.slice(0, mark);
      const address = addressOf([headers['host']].flat()[0], path);
      const issued = answerOAuth(stories, { ...request, path }, parts.now());
      if (issued !== undefined) return issued;
      try {
        return answerAt(address, request, mark < 0 ? '' : target.slice(mark), calledExpired);
      } catch (error) {
        // Every error of an upgrade has the sandboxes' own shape (4.8).
        const isUpgrade = address.host === 'sandbox' && address.path === '/upgrade';
        throw isUpgrade && error instanceof Refusal ? bareOf(error) : error;
      }
    },
  };

  function answerAt(address: Address, request: PlatformRequest, query: string, calledExpired: boolean): Reply {
    const { method, headers, body } = request;
    const now = parts.now();
    const hostHeader = [headers['host']].flat()[0];
    const isOpen = address.host === 'inference' && address.path.includes('/functions/');
    // Without a valid token, only a public function answers; everything else is 401, also what does not exist.
    const by = { names, now };
    const caller = isOpen ? tryCaller(stories, headers, by) : callerOf(stories, headers, by);
    const versions = faults.knowsOnlyEarliestVersion ? [earliestVersion] : allVersions;
    const isVersioned = address.host === 'management' && !faults.ignoresVersion;
    const version = isVersioned ? versionOf(headers[names.version], versions) : earliestVersion;
    const trigger = address.host === 'inference' && method === 'POST' ? asyncTrigger(address.path) : undefined;
    const { name, operation, values } = trigger ?? { ...routeOf(address, method) };
    const account = accountOf(accounts, caller, values['accountId']);
    if (address.host === 'management') demandScope(caller, operation);
    if (faults.isOutOfScope(operation.name)) {
      throw new Refusal(403, 'insufficient_scope', `This token does not have the scope ${operation.name}`);
    }
    const workspace = values['workspace'];
    if (workspace !== undefined && caller !== undefined && !isOpen) demandWorkspace(caller, workspace);
    const threadId = [headers[names.thread]].flat()[0];
    const parameters = readParameters(operation, new URLSearchParams(query), version);
    const isListing = operation.parameters.includes(inWorkspace);
    const inQuery = isListing ? parameters.get('workspace') : undefined;
    const reached =
      address.host === 'management'
        ? workspaceOf(caller, inQuery, headers, { names, rule: isListing ? parts.workspaceRule : 'all' })
        : caller?.workspace;
    const call: Call = {
      account,
      caller: caller && { ...caller, workspace: reached },
      operation,
      method,
      values: { ...values, ...(threadId === undefined ? {} : { threadId }) },
      parameters,
      body: readBody(operation, headers, body),
      headers,
      version,
      now,
      calledExpired,
      faults,
      callbacks: parts.callbacks,
      surroundings: {
        ...hostUrls(`http://${hostHeader ?? 'localhost'}`),
        callbackUrl: parts.callbackUrl,
        restoredAt: (resource) => account.world.restoredAt(resource),
        usedAt: (resource) => account.world.usedAt(resource),
        since: account.story.since,
        attachedTo: (volume) => attachedTo(account, volume, now),
        emptiesTexts: ({ workspace, kind, name: own }) => faults.emptiesTexts(`${workspace}/${kind}/${own}`),
      },
    };
    return name === 'async' ? answerAsync(call) : answersAt(address)[name](call);
  }
}

/** What answers each operation at an address, and how to forget what clients did. */
function openAnswers(accounts: readonly Account[]): {
  answersAt(address: Address): Record<OperationName, (call: Call) => Reply>;
  forget(): void;
} {
  const servers = openMcpServers();
  const models = openModels();
  const sandboxes = openSandboxHosts(servers);

  function answersAt(address: Address): Record<OperationName, (call: Call) => Reply> {
    const onSandbox = (call: Call) => {
      if (address.sandbox === undefined) throw new TypeError('only a sandbox has this operation');
      return sandboxes.answer(call, address.sandbox);
    };
    return {
      metrics: (call) => call.account.metrics(call),
      groupByEnum: () => json({ values: groupByDimensions }),
      resourceTypesEnum: (call) => call.account.resourceTypes(call),
      accounts: (call) => answerAccounts(accounts, call),
      workspaces: answerWorkspaces,
      workspace: answerWorkspace,
      sandboxes: answerListing('sandbox'),
      agents: answerListing('agent'),
      functions: answerListing('function'),
      jobs: answerListing('job'),
      models: answerListing('model'),
      policies: answerListing('policy'),
      ...assetAnswers,
      integration: answerIntegration,
      restoreSandbox: answerRestore,
      template: answerTemplate,
      templateContents: answerContents,
      deleteModel: answerDeleteModel,
      queryAgent: answerAgent,
      queryModel: (call) => models.answer(call, false),
      chatCompletions: (call) => models.answer(call, true),
      functionMcp: (call) => answerFunction(servers, call),
      startExecution: answerStart,
      executeJob: answerExecution,
      sandboxMcp: onSandbox,
      sandboxApi: onSandbox,
      sandboxTree: onSandbox,
      upgradeSandboxApi: onSandbox,
    };
  }

  return {
    answersAt,
    forget() {
      servers.reset();
      models.reset();
      sandboxes.reset();
    },
  };
}

/** Whether the requested version has pages of an operation. */
function hasPages({ version, operation }: Call): boolean {
  return version >= (operation.pagedSince ?? pagedListingsVersion);
}

/** What is in the public description only. */
const assetAnswers = {
  sandbox: answerOne('sandbox', 'sandboxName'),
  sandboxByExternalId: answerByExternalId('sandbox'),
  agent: answerOne('agent', 'agentName'),
  function: answerOne('function', 'functionName'),
  job: answerOne('job', 'jobId'),
  model: answerOne('model', 'modelName'),
  policy: answerOne('policy', 'policyName'),
  volumeByExternalId: answerByExternalId('volume'),
  volumes: answerListing('volume'),
  volume: answerOne('volume', 'volumeName'),
  images: answerPages(imagesOf, hasPages),
  image: answerItem(
    imagesOf,
    ({ metadata }, { values }) =>
      metadata.name === values['imageName'] && metadata.resourceType === values['resourceType'],
  ),
  customDomains: answerArray(customDomainsOf),
  customDomain: answerOne('customdomain', 'domainName'),
  connections: answerArray(connectionsOf),
  connection: answerItem(connectionsOf, ({ metadata }, { values }) => metadata.name === values['connectionName']),
  snapshots: answerPages(listedSnapshots, hasPages),
  snapshot: answerItem(listedSnapshots, ({ id, name }, { values }) =>
    [id, name].includes(values['snapshotName'] ?? ''),
  ),
  sandboxSnapshots: answerArray(snapshotsOfSandbox),
  executions: answerPages(executionsOf, hasPages),
  execution: answerItem(executionsOf, ({ metadata }, { values }) => metadata.id === values['executionId']),
  tasks: answerPages(tasksOf, hasPages),
  users: answerArray(usersOf),
  serviceAccounts: answerArray(serviceAccountsOf),
} as const;

/** The account of a request: that of the token, or the one in the path. */
function accountOf(accounts: readonly Account[], caller: Caller | undefined, accountId: string | undefined): Account {
  const own = accounts.find(({ story }) => story === caller?.story) ?? accounts[0];
  if (own === undefined) throw new TypeError('a platform has an account');
  if (accountId === undefined || accountId === own.story.account.id) return own;
  const other = accounts.find(({ story }) => story.account.id === accountId);
  // 403 rather than 404: only its owner may learn whether an account exists.
  if (other === undefined || own !== accounts[0] || caller?.isAdmin !== true) {
    throw denied(`This token has no access to account ${accountId}`);
  }
  return other;
}

/** The caller, or undefined for somebody without a valid token. */
function tryCaller(...asked: Parameters<typeof callerOf>): Caller | undefined {
  try {
    return callerOf(...asked);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

function answerListing(kind: ResourceKind): (call: Call) => Reply {
  return ({ account, caller, faults, parameters, version, now, calledExpired, surroundings }) => {
    if (faults.forbidsListing(kind)) throw denied('Insufficient permissions');
    const isPaged = version >= pagedListingsVersion;
    const workspace = caller?.workspace;
    return json(account.shelves.answer(kind, parameters, { workspace, isPaged, now, calledExpired, surroundings }));
  };
}

/** The scope of a token that has one only (5.4) allows one operation. */
function demandScope(caller: Caller | undefined, { name }: Operation): void {
  if (caller?.scope === undefined || (caller.scope === functionsScope && name === 'functions')) return;
  throw new Refusal(403, 'insufficient_scope', `This token has the scope ${caller.scope} only`);
}

function versionOf(header: string | string[] | undefined, versions: readonly string[]): string {
  const version = [header].flat()[0] ?? earliestVersion;
  if (versions.includes(version)) return version;
  throw new Refusal(
    400,
    'invalid_api_version',
    `Unknown API version "${version}"; valid versions are ${versions.join(', ')}`,
  );
}
