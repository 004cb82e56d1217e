import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import {
  answerLimits,
  deploymentStatuses,
  groupByDimensions,
  listingLimits,
  listingSorts,
  metricsLimits,
  pagedImagesVersion,
  pagedListingsVersion,
  resolutions,
} from './limits.ts';
import type { Parameter } from './parameters.ts';
import {
  agentResource,
  connection,
  customDomain,
  deletedModel,
  execution,
  functionResource,
  imageResource,
  integrationProvider,
  jobResource,
  modelResource,
  policyResource,
  sandboxResource,
  serviceAccount,
  snapshot,
  task,
  template,
  user,
  volumeLite,
  volumeResource,
  workspaceResource,
} from './resource-shapes.ts';
import { accountsResponse, enumResponse, listingOfItems, metricsResponse } from './responses.ts';

// Without it, zod says only that something is invalid.
z.config(en());

/** A body that a request carries: JSON of this shape. */
export interface RequestBody {
  readonly required: boolean;
  readonly type: z.ZodMiniType;
  readonly rule: string;
}

/** One operation of the platform's interface, shared by client, command, emulator, docs and tests. */
export interface Operation {
  /** As in messages and on the command line. */
  readonly name: string;
  /** ANY: the document allows every method; a call chooses one. */
  readonly method: 'GET' | 'POST' | 'DELETE' | 'ANY';
  /** Which base URL the path is below. */
  readonly host: 'management' | 'inference' | 'sandbox';
  /** Path template with `{parameters}`, below the base URL. */
  readonly path: string;
  readonly summary: string;
  /** What a token must be allowed to do, for messages about one that is not: `read the metrics of this account`. */
  readonly may: string;
  /** Section of the interface document. */
  readonly section: string;
  readonly parameters: readonly Parameter[];
  readonly body?: RequestBody;
  /** Headers that the document asks for with this operation. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly response: z.ZodMiniType;
  /** `any`: the document does not show the answer, so it may be JSON, text or a stream of events. */
  readonly answer: 'json' | 'any';
  /** `items`: a list that is paged from `since` on; `metrics`: pages of groups. */
  readonly paging?: 'items' | 'metrics';
  /** The API version from which on it has pages. */
  readonly pagedSince?: string;
  /** The longest allowed body of an answer, unpacked; a streamed answer has no limit. */
  readonly maxBodyMib: number;
  /** Whether it may change something. Such a request is never sent twice, unless the platform certainly did nothing. */
  readonly changes: boolean;
  /** Whether it can be sent again after an answer that did not arrive. */
  readonly isRepeatable: boolean;
  /** What it does to what, with `{parameters}`, for the person who confirms it. */
  readonly effect?: string;
  readonly errors: readonly { readonly status: number | undefined; readonly when: string }[];
}

const string = { kind: 'string' } as const;
const instant = { kind: 'instant' } as const;

/** What reading operations have in common. */
const reading = { answer: 'json', changes: false, isRepeatable: true } as const;
const management = { host: 'management' } as const;

function inPath<const Name extends string>(name: Name, rule: string) {
  return { name, in: 'path', required: true, type: string, rule } as const satisfies Parameter;
}

const accountId = inPath('accountId', 'The account that owns the workspaces.');
const startTime = {
  name: 'startTime',
  in: 'query',
  required: true,
  type: instant,
  rule: 'Start of the window, inclusive. RFC 3339 UTC.',
} as const satisfies Parameter;
const endTime = {
  name: 'endTime',
  in: 'query',
  required: true,
  type: instant,
  rule: 'End of the window, exclusive. RFC 3339 UTC.',
} as const satisfies Parameter;

function filter<const Name extends string>(name: Name, rule: string) {
  return { name, in: 'query', required: false, type: string, rule } as const satisfies Parameter;
}

const authErrors = [
  { status: 401, when: 'invalid or missing credentials' },
  { status: 403, when: 'insufficient permissions' },
  { status: 500, when: 'internal error' },
] as const;

/** Errors with the error body whose status the document does not show. */
const otherErrors = [...authErrors, { status: undefined, when: 'an error whose status is not shown' }] as const;

/** How a request says which workspace it is about; a header of a maker's name does the same. */
export const inWorkspace = filter(
  'workspace',
  'The workspace, for a token that reaches several. What an answer contains without it is not shown.',
);

const listingParameters = [
  inWorkspace,
  filter(
    'cursor',
    'From meta.nextCursor; opaque, bound to workspace and filters, valid for 24 hours. Omitted on the first page.',
  ),
  {
    name: 'limit',
    in: 'query',
    required: false,
    type: { kind: 'integer', min: 1, max: listingLimits.maxPageSize, default: listingLimits.defaultPageSize },
    rule: 'Items on a page; larger values clamp.',
  },
  {
    name: 'sort',
    in: 'query',
    required: false,
    type: { kind: 'choice', choices: listingSorts },
    rule: `The order. Default createdAt:desc. Bound into the cursor. Honoured only from version ${pagedListingsVersion}.`,
  },
  {
    name: 'q',
    in: 'query',
    required: false,
    type: { kind: 'text', maxLength: listingLimits.maxSearchLength },
    rule: `Substring of metadata.name, metadata.displayName, label keys and values; trimmed, lowercased, under 2 characters unfiltered. Bound into the cursor. Honoured only from version ${pagedListingsVersion}.`,
  },
  {
    name: 'anchor',
    in: 'query',
    required: false,
    type: { kind: 'choice', choices: ['end'] },
    rule: 'end returns the tail page directly; for sorts by createdAt.',
  },
  {
    name: 'externalId',
    in: 'query',
    required: false,
    type: { kind: 'text', maxLength: listingLimits.maxExternalIdLength, pattern: /^[a-zA-Z0-9-]*$/ },
    rule: 'Only resources with this metadata.externalId.',
  },
] as const satisfies readonly Parameter[];

const statusParameter = {
  name: 'status',
  in: 'query',
  required: false,
  type: { kind: 'set', choices: deploymentStatuses },
  rule: `Comma-separated statuses. Every status is the same as none. Bound into the cursor. Filters from version ${pagedListingsVersion} on, sandboxes on every version; always validated.`,
} as const satisfies Parameter;

const showTerminatedParameter = {
  name: 'showTerminated',
  in: 'query',
  required: false,
  type: { kind: 'boolean' },
  rule: 'true also lists terminated sandboxes. Default false; status takes precedence.',
} as const satisfies Parameter;

/**
 * One of the six listing endpoints (4.1). Only the functions' errors are documented; the others are assumed to be the
 * same.
 */
function listingOf<const Name extends string, Item extends z.ZodMiniType, const Own extends readonly Parameter[]>(
  name: Name,
  items: string,
  item: Item,
  ...own: Own
) {
  return {
    ...{ ...reading, ...management, name, method: 'GET', path: `/v0/${name}`, paging: 'items' },
    summary: `The ${items} of a workspace: {data, meta} from version ${pagedListingsVersion}, a bare array before.`,
    may: `read the ${items} of its workspaces`,
    section: '4.1',
    pagedSince: pagedListingsVersion,
    parameters: [...listingParameters, ...own],
    response: listingOfItems(item),
    maxBodyMib: answerLimits.listingBodyMib,
    errors: [
      { status: 400, when: 'invalid parameter, unknown status, refused cursor, unknown API version' },
      ...authErrors,
    ],
  } as const satisfies Operation;
}

const publicDescription = 'public description';

/** A listing that is a bare array in every version. */
function arrayOf<const Name extends string, Item extends z.ZodMiniType>(
  name: Name,
  path: string,
  items: string,
  item: Item,
) {
  return {
    ...{ ...reading, ...management, name, method: 'GET', path },
    summary: `The ${items} of a workspace, as an array in every version.`,
    may: `read the ${items} of its workspaces`,
    section: publicDescription,
    parameters: [inWorkspace],
    response: z.array(item),
    maxBodyMib: answerLimits.listingBodyMib,
    errors: authErrors,
  } as const satisfies Operation;
}

/** One item of a listing, by what its path says. */
function oneOf<const Name extends string, Item extends z.ZodMiniType>(
  name: Name,
  path: string,
  what: string,
  item: Item,
) {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => inPath(parameter, `Of the ${what}.`));
  return {
    ...{ ...reading, ...management, name, method: 'GET', path },
    summary: `A single ${what}.`,
    may: `read this ${what}`,
    section: publicDescription,
    parameters: [inWorkspace, ...named],
    response: item,
    maxBodyMib: answerLimits.otherBodyMib,
    errors: [...authErrors, { status: 404, when: `no such ${what}` }],
  } as const satisfies Operation;
}

/** Pages below a path, with the parameters of listings. */
function pagesOf<const Name extends string, Item extends z.ZodMiniType>(
  name: Name,
  path: string,
  items: string,
  item: Item,
) {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => inPath(parameter, `Of the ${items}.`));
  const { path: _, ...listing } = listingOf(name, items, item);
  return {
    ...listing,
    path,
    section: publicDescription,
    parameters: [...named, ...listing.parameters.filter((parameter) => parameter.name !== 'externalId')],
  } as const satisfies Operation;
}

const executionPages = pagesOf(
  ...(['executions', '/v0/jobs/{jobId}/executions', 'executions of a job', execution] as const),
);

/** What changes something: the platform's answer is its shape, but the request is sent once. */
const changing = { answer: 'json', changes: true, isRepeatable: false } as const;

/** What changes nothing on the platform, but costs again when it is sent again. */
const asking = { changes: false, isRepeatable: false } as const;

const unknownAnswer = { answer: 'any', response: z.unknown(), maxBodyMib: answerLimits.otherBodyMib } as const;

const workspace = inPath('workspace', 'The workspace of the resource.');

/** The parts of a sandbox's own host name. */
const sandboxHost = [
  { name: 'sandbox', in: 'host', required: true, type: string, rule: 'The name of the sandbox.' },
  { name: 'workspace', in: 'host', required: true, type: string, rule: 'The workspace of the sandbox.' },
  { name: 'region', in: 'host', required: true, type: string, rule: 'The region of the sandbox.' },
] as const satisfies readonly Parameter[];

/** What the streamable HTTP transport of MCP has in headers. */
const mcpHeaders = [
  {
    name: 'sessionId',
    in: 'header',
    required: false,
    type: string,
    rule: 'The session that the server gave with its first answer (Mcp-Session-Id).',
  },
  {
    name: 'protocolVersion',
    in: 'header',
    required: false,
    type: string,
    rule: 'The version of MCP that both agreed on (MCP-Protocol-Version).',
  },
] as const satisfies readonly Parameter[];

const mcpMessage = {
  body: { required: false, type: z.unknown(), rule: 'A JSON-RPC message, or several.' },
  headers: { accept: 'application/json, text/event-stream' },
  ...unknownAnswer,
} as const;

const executionTasks = {
  body: {
    required: true,
    type: z.looseObject({ tasks: z.array(z.looseObject({})) }),
    rule: '{tasks: [object]}',
  },
} as const;

const readsMetrics = 'read the metrics of this account';

/** Every operation of the interface document, once. */
export const operations = {
  metrics: {
    ...{ ...reading, ...management, name: 'metrics', method: 'GET' },
    path: '/v0/accounts/{accountId}/metrics',
    summary: 'Cost and usage of an account over a window.',
    may: readsMetrics,
    section: '4.6',
    paging: 'metrics',
    parameters: [
      accountId,
      startTime,
      endTime,
      {
        name: 'resolution',
        in: 'query',
        required: false,
        type: { kind: 'choice', choices: resolutions },
        rule: 'Bucket size. Picked by the length of the window when omitted.',
      },
      {
        name: 'groupBy',
        in: 'query',
        required: false,
        type: { kind: 'choices', choices: groupByDimensions, max: metricsLimits.maxGroupByDimensions },
        rule: 'Up to three dimensions, comma-separated; groups are their cross-product. workspace only for account admins.',
      },
      filter('workspace', 'Restricts to one workspace name. Account admins only.'),
      filter('resourceType', 'Raw resource type.'),
      filter('resourceName', 'Resource name.'),
      filter('resourceUuid', 'Resource UUID or instance id; best effort.'),
      filter('billingDimension', 'Billing dimension.'),
      {
        name: 'limit',
        in: 'query',
        required: false,
        type: {
          kind: 'integer',
          min: 1,
          max: metricsLimits.maxPageSize,
          default: metricsLimits.defaultPageSize,
        },
        rule: 'Page size for grouped results; larger values are silently clamped.',
      },
      filter('cursor', 'From meta.nextCursor; opaque, bound to the query, valid for 24 hours.'),
    ],
    response: metricsResponse,
    maxBodyMib: answerLimits.metricsBodyMib,
    errors: [
      {
        status: 400,
        when: 'missing or invalid parameter, more than 3 groupBy dimensions, an invalid or duplicate dimension name, a resolution beyond its window cap, unsupported feature, unknown API version',
      },
      ...authErrors,
    ],
  },
  groupByEnum: {
    ...{ ...reading, ...management, name: 'group-by-enum', method: 'GET' },
    path: '/v0/accounts/{accountId}/metrics/enums/group-by',
    summary: 'The five groupBy values.',
    may: readsMetrics,
    section: '4.6',
    parameters: [accountId],
    response: enumResponse,
    maxBodyMib: answerLimits.otherBodyMib,
    errors: authErrors,
  },
  resourceTypesEnum: {
    ...{ ...reading, ...management, name: 'resource-types-enum', method: 'GET' },
    path: '/v0/accounts/{accountId}/metrics/enums/resource-types',
    summary: 'The distinct resource types observed in the window.',
    may: readsMetrics,
    section: '4.6',
    parameters: [accountId, startTime, endTime],
    response: enumResponse,
    maxBodyMib: answerLimits.otherBodyMib,
    errors: [{ status: 400, when: 'startTime or endTime missing or invalid' }, ...authErrors],
  },
  accounts: {
    ...{ ...reading, ...management, name: 'accounts', method: 'GET' },
    path: '/v0/accounts',
    summary: 'The accounts that the token can see; the shape of the answer is not shown.',
    may: readsMetrics,
    section: '4.6',
    parameters: [],
    response: accountsResponse,
    maxBodyMib: answerLimits.otherBodyMib,
    errors: authErrors,
  },
  workspaces: {
    ...{ ...reading, ...management, name: 'workspaces', method: 'GET', path: '/v0/workspaces' },
    summary: 'The workspaces that the token reaches, as an array in every version.',
    may: 'list its workspaces',
    section: 'public description',
    parameters: [],
    response: z.array(workspaceResource),
    maxBodyMib: answerLimits.listingBodyMib,
    errors: authErrors,
  },
  workspace: {
    ...{ ...reading, ...management, name: 'workspace', method: 'GET', path: '/v0/workspaces/{workspaceName}' },
    summary: 'A workspace, and how many resources it has.',
    may: 'read its workspaces',
    section: 'public description',
    parameters: [
      inPath('workspaceName', 'The workspace.'),
      {
        name: 'countResources',
        in: 'query',
        required: false,
        type: { kind: 'boolean' },
        rule: 'true adds resourceCounts, by kind; it costs the platform a query for each. Default false.',
      },
    ],
    response: workspaceResource,
    maxBodyMib: answerLimits.otherBodyMib,
    errors: [...authErrors, { status: 404, when: 'no such workspace' }],
  },
  sandboxes: listingOf('sandboxes', 'sandboxes', sandboxResource, statusParameter, showTerminatedParameter),
  agents: listingOf('agents', 'agents', agentResource, statusParameter),
  functions: listingOf('functions', 'functions (MCP servers)', functionResource, statusParameter),
  jobs: listingOf('jobs', 'batch jobs', jobResource, statusParameter),
  models: listingOf('models', 'model endpoints', modelResource, statusParameter),
  policies: listingOf('policies', 'policies', policyResource),
  sandbox: oneOf('sandbox', '/v0/sandboxes/{sandboxName}', 'sandbox', sandboxResource),
  sandboxByExternalId: oneOf(
    ...(['sandbox-by-external-id', '/v0/sandboxes/by-external-id/{externalId}', 'sandbox', sandboxResource] as const),
  ),
  agent: oneOf('agent', '/v0/agents/{agentName}', 'agent', agentResource),
  function: oneOf('function', '/v0/functions/{functionName}', 'function', functionResource),
  job: oneOf('job', '/v0/jobs/{jobId}', 'job', jobResource),
  model: oneOf('model', '/v0/models/{modelName}', 'model', modelResource),
  policy: oneOf('policy', '/v0/policies/{policyName}', 'policy', policyResource),
  volumes: { ...listingOf('volumes', 'volumes', volumeLite, statusParameter), section: publicDescription },
  volume: oneOf('volume', '/v0/volumes/{volumeName}', 'volume', volumeResource),
  volumeByExternalId: oneOf(
    ...(['volume-by-external-id', '/v0/volumes/by-external-id/{externalId}', 'volume', volumeResource] as const),
  ),
  images: {
    ...pagesOf('images', '/v0/images', 'images', imageResource),
    summary: `The images of a workspace: {data, meta} from version ${pagedImagesVersion}, a bare array before.`,
    pagedSince: pagedImagesVersion,
  },
  image: oneOf('image', '/v0/images/{resourceType}/{imageName}', 'image', imageResource),
  customDomains: arrayOf('custom-domains', '/v0/customdomains', 'custom domains', customDomain),
  customDomain: oneOf('custom-domain', '/v0/customdomains/{domainName}', 'custom domain', customDomain),
  connections: arrayOf('connections', '/v0/integrations/connections', 'connections', connection),
  connection: oneOf('connection', '/v0/integrations/connections/{connectionName}', 'connection', connection),
  snapshots: pagesOf('snapshots', '/v0/snapshots', 'snapshots', snapshot),
  snapshot: oneOf('snapshot', '/v0/snapshots/{snapshotName}', 'snapshot', snapshot),
  sandboxSnapshots: {
    ...oneOf('sandbox-snapshots', '/v0/sandboxes/{sandboxName}/snapshots', 'sandbox', z.array(snapshot)),
    summary: 'The snapshots of a sandbox, as an array in every version.',
    maxBodyMib: answerLimits.listingBodyMib,
  },
  executions: {
    ...executionPages,
    parameters: [
      ...executionPages.parameters.filter(({ name }) => name !== 'limit'),
      {
        ...{ name: 'limit', in: 'query', required: false },
        type: { kind: 'integer', min: 1, max: 100, default: 20 },
        rule: 'Items on a page.',
      },
      {
        ...{ name: 'offset', in: 'query', required: false },
        type: { kind: 'integer', min: 0, max: 1_000_000, default: 0 },
        rule: `How many items to leave out. Before version ${pagedListingsVersion}; then there are cursors.`,
      },
    ],
  },
  execution: oneOf('execution', '/v0/jobs/{jobId}/executions/{executionId}', 'execution', execution),
  tasks: pagesOf('tasks', '/v0/jobs/{jobId}/executions/{executionId}/tasks', 'tasks of an execution', task),
  users: arrayOf('users', '/v0/users', 'users', user),
  serviceAccounts: arrayOf('service-accounts', '/v0/service_accounts', 'service accounts', serviceAccount),
  integration: {
    ...{ ...reading, ...management, name: 'integration', method: 'GET', path: '/v0/integrations/{integrationName}' },
    summary: 'An integration provider: endpoints, authentication methods, models or features.',
    may: 'read this integration',
    section: '4.2',
    parameters: [inPath('integrationName', 'The name of the integration.')],
    response: integrationProvider,
    maxBodyMib: answerLimits.otherBodyMib,
    errors: otherErrors,
  },
  restoreSandbox: {
    ...{ ...changing, ...management, name: 'restore-sandbox', method: 'POST' },
    path: '/v0/sandboxes/{sandboxName}/snapshots/{snapshotId}/restore',
    summary: 'Rebuilds a sandbox from a snapshot, under the same name and URLs.',
    may: 'restore this sandbox',
    section: '4.3',
    parameters: [
      inPath('sandboxName', 'The sandbox to restore.'),
      inPath(
        'snapshotId',
        "The name of one of the sandbox's snapshots, or an ID, which may be of a snapshot of another sandbox.",
      ),
    ],
    response: z.looseObject({ name: z.string(), snapshotId: z.string() }),
    maxBodyMib: answerLimits.otherBodyMib,
    effect:
      'tears down the running sandbox {sandboxName} and rebuilds it from the snapshot {snapshotId}. Everything since that snapshot is lost',
    errors: [{ status: undefined, when: 'two errors, whose statuses are not shown' }, ...authErrors],
  },
  template: {
    ...{ ...reading, ...management, name: 'template', method: 'GET', path: '/v0/templates/{templateName}' },
    summary: 'A starter project with its variables.',
    may: 'read this template',
    section: '4.4',
    parameters: [inPath('templateName', 'The name of the template.')],
    response: template,
    maxBodyMib: answerLimits.otherBodyMib,
    errors: otherErrors,
  },
  templateContents: {
    ...{ ...reading, ...management, name: 'template-contents', method: 'GET' },
    path: '/v0/templates/{templateName}/contents',
    summary: 'The files in a template.',
    may: 'read this template',
    section: '4.4',
    parameters: [inPath('templateName', 'The name of the template.')],
    response: z.array(z.string()),
    maxBodyMib: answerLimits.otherBodyMib,
    errors: otherErrors,
  },
  deleteModel: {
    ...{ ...changing, ...management, name: 'delete-model', method: 'DELETE', path: '/v0/models/{modelName}' },
    summary: 'Deletes a model endpoint; the answer is the model as it was.',
    may: 'delete this model',
    section: '4.5',
    parameters: [inPath('modelName', 'The name of the model.')],
    response: deletedModel,
    maxBodyMib: answerLimits.otherBodyMib,
    effect: 'deletes the model {modelName}',
    errors: otherErrors,
  },
  queryAgent: {
    ...{ ...changing, name: 'query-agent', method: 'POST', host: 'inference', path: '/{workspace}/agents/{agent}' },
    summary: 'Sends an input to an agent. Without a thread ID, the agent remembers nothing.',
    may: 'query this agent',
    section: '4.7',
    parameters: [
      workspace,
      inPath('agent', 'The name of the agent.'),
      {
        name: 'threadId',
        in: 'header',
        required: false,
        type: string,
        rule: 'A thread ID that the client generates, so that the agent remembers earlier inputs.',
      },
    ],
    body: { required: true, type: z.looseObject({ inputs: z.string() }), rule: '{inputs: string}' },
    ...unknownAnswer,
    effect: 'runs the agent {agent} of {workspace}, which costs money and may do anything that the agent can do',
    errors: otherErrors,
  },
  queryModel: {
    ...{ ...asking, name: 'query-model', method: 'POST', host: 'inference', path: '/{workspace}/models/{model}' },
    summary: "Sends a body in the provider's own form to a model.",
    may: 'query this model',
    section: '4.7',
    parameters: [workspace, inPath('model', 'The name of the model.')],
    body: { required: true, type: z.unknown(), rule: "The provider's own form; JSON." },
    ...unknownAnswer,
    errors: otherErrors,
  },
  chatCompletions: {
    ...{ ...asking, name: 'chat-completions', method: 'POST', host: 'inference' },
    path: '/{workspace}/models/{model}/chat/completions',
    summary: 'Sends chat messages to a model.',
    may: 'query this model',
    section: '4.7',
    parameters: [workspace, inPath('model', 'The name of the model.')],
    body: {
      required: true,
      type: z.looseObject({ messages: z.array(z.looseObject({ role: z.string(), content: z.string() })) }),
      rule: '{messages: [{role: string, content: string}]}',
    },
    ...unknownAnswer,
    errors: otherErrors,
  },
  functionMcp: {
    ...{ ...changing, name: 'function-mcp', method: 'ANY', host: 'inference' },
    path: '/{workspace}/functions/{server}/mcp',
    summary: 'An MCP server over the streamable HTTP transport.',
    may: 'use this function',
    section: '4.7',
    parameters: [workspace, inPath('server', 'The name of the function.'), ...mcpHeaders],
    ...mcpMessage,
    effect: 'sends a message to the MCP server {server} of {workspace}, whose tools may do anything that they can do',
    errors: otherErrors,
  },
  startExecution: {
    ...{ ...changing, ...management, name: 'start-execution', method: 'POST', path: '/v0/jobs/{jobId}/executions' },
    summary: 'Runs a batch job of the workspace that the header names, as execute-job does.',
    may: 'execute this job',
    section: 'public description',
    parameters: [inPath('jobId', 'The name of the job.')],
    ...executionTasks,
    ...unknownAnswer,
    effect: 'runs the job {jobId}, which costs money',
    errors: otherErrors,
  },
  executeJob: {
    ...{ ...changing, ...management, name: 'execute-job', method: 'POST' },
    // No /v0 in this path.
    path: '/{workspace}/jobs/{job}/executions',
    summary: 'Runs a batch job with one object of arguments for each task.',
    may: 'execute this job',
    section: '4.7',
    parameters: [workspace, inPath('job', 'The name of the job.')],
    ...executionTasks,
    ...unknownAnswer,
    effect: 'runs the job {job} of {workspace}, which costs money',
    errors: otherErrors,
  },
  sandboxMcp: {
    ...{ ...changing, name: 'sandbox-mcp', method: 'ANY', host: 'sandbox', path: '/mcp' },
    summary: "The sandbox's MCP server.",
    may: 'use this sandbox',
    section: '4.8',
    parameters: [...sandboxHost, ...mcpHeaders],
    ...mcpMessage,
    effect:
      'sends a message to the MCP server of the sandbox {sandbox}, whose tools may change or delete what is in it',
    errors: otherErrors,
  },
  sandboxApi: {
    ...{ ...changing, name: 'sandbox-api', method: 'ANY', host: 'sandbox', path: '/' },
    summary: 'Base of the sandbox REST API, whose other paths are not shown.',
    may: 'use this sandbox',
    section: '4.8',
    parameters: [...sandboxHost],
    body: { required: false, type: z.unknown(), rule: 'Not shown.' },
    ...unknownAnswer,
    effect: 'sends this request to the sandbox {sandbox}',
    errors: otherErrors,
  },
  sandboxTree: {
    ...{ ...reading, name: 'sandbox-tree', method: 'GET', host: 'sandbox', path: '/filesystem/tree/{path}' },
    summary: 'The directory tree of a path in a sandbox.',
    may: 'read the files of this sandbox',
    section: '4.8',
    parameters: [
      ...sandboxHost,
      { name: 'path', in: 'path', required: true, type: { kind: 'path' }, rule: 'A path in the sandbox.' },
    ],
    headers: { 'content-type': 'application/json' },
    ...unknownAnswer,
    errors: otherErrors,
  },
  upgradeSandboxApi: {
    ...{ ...changing, name: 'upgrade-sandbox-api', method: 'POST', host: 'sandbox', path: '/upgrade' },
    summary: 'Upgrades the sandbox-api process; it answers before it upgrades, and running processes continue.',
    may: 'upgrade this sandbox',
    section: '4.8',
    parameters: [...sandboxHost],
    body: {
      required: false,
      type: z.looseObject({ version: z.optional(z.string()), baseUrl: z.optional(z.string()) }),
      rule: '{version: latest (default), develop, main or a tag such as v1.2.3; baseUrl: where the program is downloaded from}',
    },
    response: z.looseObject({ message: z.string(), path: z.string() }),
    maxBodyMib: answerLimits.otherBodyMib,
    effect: 'downloads another sandbox-api into the sandbox {sandbox} and restarts it',
    errors: otherErrors,
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

/** Every operation, in the order of the document's sections. */
export const allOperations: readonly Operation[] = Object.values<Operation>(operations).toSorted((a, b) =>
  a.section.localeCompare(b.section),
);
