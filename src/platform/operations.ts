import type { z } from 'zod';
import {
  answerLimits,
  deploymentStatuses,
  groupByDimensions,
  listingLimits,
  listingSorts,
  metricsLimits,
  pagedListingsVersion,
  resolutions,
} from './limits.ts';
import { accountsResponse, enumResponse, listingResponse, metricsResponse } from './responses.ts';

/** How a parameter's text is parsed. */
export type ParameterType =
  | { readonly kind: 'string' }
  /** A search text: empty means no filter, `pattern` applies to the whole text. */
  | { readonly kind: 'text'; readonly maxLength: number; readonly pattern?: RegExp }
  /** `true` or `false`. */
  | { readonly kind: 'boolean' }
  /** RFC 3339 in UTC. */
  | { readonly kind: 'instant' }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number; readonly default: number }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /** Comma-separated, without duplicates, in any order. */
  | { readonly kind: 'choices'; readonly choices: readonly string[]; readonly max: number }
  /** Comma-separated in any order and case; duplicates count once. */
  | { readonly kind: 'set'; readonly choices: readonly string[] };

/** One parameter of an operation with its rule. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly type: ParameterType;
  readonly rule: string;
}

/** One operation of the platform's interface, shared by the client, the emulator's router and the tests. */
export interface Operation {
  readonly name: string;
  readonly method: 'GET';
  /** Path template with `{parameters}`, below the base URL. */
  readonly path: string;
  readonly summary: string;
  /** What a token must be allowed to read, for messages about one that is not. */
  readonly reads: string;
  /** Section of the interface document. */
  readonly section: string;
  readonly parameters: readonly Parameter[];
  readonly response: z.ZodType;
  /** The longest allowed body of an answer, unpacked. */
  readonly maxBodyMib: number;
  readonly errors: readonly { readonly status: number; readonly when: string }[];
}

const string = { kind: 'string' } as const;
const instant = { kind: 'instant' } as const;

const accountId: Parameter = {
  name: 'accountId',
  in: 'path',
  required: true,
  type: string,
  rule: 'The account that owns the workspaces.',
};
const startTime: Parameter = {
  name: 'startTime',
  in: 'query',
  required: true,
  type: instant,
  rule: 'RFC 3339 UTC. Inclusive.',
};
const endTime: Parameter = {
  name: 'endTime',
  in: 'query',
  required: true,
  type: instant,
  rule: 'RFC 3339 UTC. Exclusive.',
};

function filter(name: string, rule: string): Parameter {
  return { name, in: 'query', required: false, type: string, rule };
}

const authErrors = [
  { status: 401, when: 'invalid or missing credentials' },
  { status: 403, when: 'insufficient permissions' },
  { status: 500, when: 'internal error' },
] as const;

const listingParameters: readonly Parameter[] = [
  filter(
    'cursor',
    'Opaque, from meta.nextCursor; bound to workspace and filters, valid for 24 hours. Omitted on the first page.',
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
    rule: `Default createdAt:desc. Bound into the cursor. Honoured only from version ${pagedListingsVersion}.`,
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
    rule: 'The tail page directly; for sorts by createdAt.',
  },
  {
    name: 'externalId',
    in: 'query',
    required: false,
    type: { kind: 'text', maxLength: listingLimits.maxExternalIdLength, pattern: /^[a-zA-Z0-9-]*$/ },
    rule: 'Only resources with this metadata.externalId.',
  },
];

const statusParameter: Parameter = {
  name: 'status',
  in: 'query',
  required: false,
  type: { kind: 'set', choices: deploymentStatuses },
  rule: `Every status is the same as none. Bound into the cursor. Filters from version ${pagedListingsVersion} on, sandboxes on every version; always validated.`,
};

const showTerminatedParameter: Parameter = {
  name: 'showTerminated',
  in: 'query',
  required: false,
  type: { kind: 'boolean' },
  rule: 'Default false. Terminated sandboxes too; status takes precedence.',
};

/**
 * One of the six listing endpoints (4.1). Only the functions' errors are documented; the others are assumed to be the
 * same.
 */
function listingOf<Name extends string>(
  name: Name,
  items: string,
  ...own: readonly Parameter[]
): Operation & { readonly name: Name } {
  return {
    name,
    method: 'GET',
    path: `/v0/${name}`,
    summary: `The ${items} of a workspace: {data, meta} from version ${pagedListingsVersion}, a bare array before.`,
    reads: `the ${items} of its workspaces`,
    section: '4.1',
    parameters: [...listingParameters, ...own],
    response: listingResponse,
    maxBodyMib: answerLimits.listingBodyMib,
    errors: [
      { status: 400, when: 'invalid parameter, unknown status, refused cursor, unknown API version' },
      ...authErrors,
    ],
  };
}

/** Every operation that Costbook uses, once. */
export const operations = {
  metrics: {
    name: 'metrics',
    method: 'GET',
    path: '/v0/accounts/{accountId}/metrics',
    summary: 'Cost and usage of an account over a window.',
    reads: 'the metrics of this account',
    section: '4.6',
    parameters: [
      accountId,
      startTime,
      endTime,
      {
        name: 'resolution',
        in: 'query',
        required: false,
        type: { kind: 'choice', choices: resolutions },
        rule: 'Picked by the length of the window when omitted.',
      },
      {
        name: 'groupBy',
        in: 'query',
        required: false,
        type: { kind: 'choices', choices: groupByDimensions, max: metricsLimits.maxGroupByDimensions },
        rule: 'Cross-product of up to three dimensions; workspace only for account admins.',
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
      filter('cursor', 'Opaque, from meta.nextCursor; bound to the query, valid for 24 hours.'),
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
    name: 'groupByEnum',
    method: 'GET',
    path: '/v0/accounts/{accountId}/metrics/enums/group-by',
    summary: 'The five groupBy values.',
    reads: 'the metrics of this account',
    section: '4.6',
    parameters: [accountId],
    response: enumResponse,
    maxBodyMib: answerLimits.otherBodyMib,
    errors: authErrors,
  },
  resourceTypesEnum: {
    name: 'resourceTypesEnum',
    method: 'GET',
    path: '/v0/accounts/{accountId}/metrics/enums/resource-types',
    summary: 'The distinct resource types observed in the window.',
    reads: 'the metrics of this account',
    section: '4.6',
    parameters: [accountId, startTime, endTime],
    response: enumResponse,
    maxBodyMib: answerLimits.otherBodyMib,
    errors: [{ status: 400, when: 'startTime or endTime missing or invalid' }, ...authErrors],
  },
  accounts: {
    name: 'accounts',
    method: 'GET',
    path: '/v0/accounts',
    summary: 'The accounts that the token can see; the shape of the answer is not shown.',
    reads: 'the metrics of this account',
    section: '4.6',
    parameters: [],
    response: accountsResponse,
    maxBodyMib: answerLimits.otherBodyMib,
    errors: authErrors,
  },
  sandboxes: listingOf('sandboxes', 'sandboxes', statusParameter, showTerminatedParameter),
  agents: listingOf('agents', 'agents', statusParameter),
  functions: listingOf('functions', 'functions (MCP servers)', statusParameter),
  jobs: listingOf('jobs', 'batch jobs', statusParameter),
  models: listingOf('models', 'model endpoints', statusParameter),
  policies: listingOf('policies', 'policies'),
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

/**
 * The path and query of one request, without the base URL. Query parameters are in the operation's order, so that equal
 * requests have equal URLs. Throws for a missing path parameter or an unknown name: that is a bug of the caller.
 */
export function requestPath(operation: Operation, values: Readonly<Record<string, string>>): string {
  const unknown = Object.keys(values).find((name) => !operation.parameters.some((p) => p.name === name));
  if (unknown !== undefined) throw new TypeError(`${operation.name} has no parameter ${unknown}`);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new TypeError(`${operation.name} needs ${name}`);
    // A URL parser treats these as steps, even encoded: the request would go to another operation.
    if (value === '.' || value === '..') throw new TypeError(`${operation.name} cannot have ${value} as ${name}`);
    return encodeURIComponent(value);
  });
  const query = operation.parameters
    .filter((parameter) => parameter.in === 'query' && values[parameter.name] !== undefined)
    // A comma separates list values; encoding it is legal but unreadable in logs and plans.
    .map(
      (parameter) =>
        `${parameter.name}=${encodeURIComponent(values[parameter.name] ?? '')
          .replaceAll('%2C', ',')
          .replaceAll('%3A', ':')}`,
    );
  return query.length > 0 ? `${path}?${query.join('&')}` : path;
}
