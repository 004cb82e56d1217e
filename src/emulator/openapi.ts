import {
  allOperations,
  checkParameter,
  earliestVersion,
  headerOfParameter,
  type Operation,
  type Parameter,
  schemaOf,
} from '../platform/interface/index.ts';
import type { HeaderNames } from './callers.ts';
import { tokenPath } from './oauth.ts';

/** Where the description of the whole interface is, without a token. */
export const openApiPath = '/openapi.json';

/** What a description names: the base URLs and the headers. */
export interface Described {
  readonly url: string;
  readonly inferenceUrl: string;
  readonly sandboxUrl: string;
  readonly names: HeaderNames;
}

/** The methods that an operation with any method is described with. */
const anyMethods: readonly string[] = ['get', 'post', 'put', 'patch', 'delete'];

/** The interface as OpenAPI 3.1, made from the operations. Pure. */
export function describeInterface(described: Described): object {
  const paths: Record<string, object> = {};
  for (const operation of allOperations) {
    const { method, path, host } = operation;
    // The two hosts below one root have distinct paths, and a sandbox's own host has others.
    const methods = method === 'ANY' ? anyMethods : [method.toLowerCase()];
    const descriptions = methods.map((each) => [
      each,
      describeOperation(operation, each, methods.length > 1, described),
    ]);
    paths[path] = { ...serversOf(host, described), ...paths[path], ...Object.fromEntries(descriptions) };
  }
  paths[tokenPath] = { post: tokenOperation };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cloud workload platform, emulated',
      version: earliestVersion,
      description:
        'Management, metrics, inference and sandbox hosts. Answers that the interface leaves open have any shape.',
    },
    servers: [{ url: described.url }],
    tags: [...new Set(allOperations.map(({ section }) => section))].map((name) => ({ name })),
    security: [{ bearer: [] }, { makersHeader: [] }, { clientCredentials: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        makersHeader: { type: 'apiKey', in: 'header', name: described.names.authorization },
        clientCredentials: {
          type: 'oauth2',
          flows: { clientCredentials: { tokenUrl: `${described.url}${tokenPath}`, scopes: {} } },
        },
      },
      schemas: { Error: errorSchema, ErrorObject: errorObject },
    },
  };
}

const text = { type: 'string' } as const;

/** What every error has under `error`, by the general error page of the public description. */
const errorObject = {
  type: 'object',
  properties: {
    ...{ code: text, message: text, action: text, do_not: text, docs_url: text, origin: text, timestamp: text },
    retryable: {
      type: 'boolean',
      description: 'Whether the same request may succeed later; it decides before the status.',
    },
    status: { type: 'integer' },
  },
  required: ['code', 'message'],
};

const errorSchema = {
  type: 'object',
  properties: {
    error: { anyOf: [text, { $ref: '#/components/schemas/ErrorObject' }] },
    code: { type: 'integer' },
    message: text,
  },
  required: ['error'],
};

/** How a wait is asked for; milliseconds, which may have a fraction, count before seconds. */
const refusalHeaders = {
  'Retry-After-Ms': { schema: { type: 'number' } },
  'Retry-After': { schema: text },
  'X-Service-Source': { schema: text },
  'X-Service-Error-Code': { schema: text },
};

/** The exchange of client credentials for a token. The names of its answer's fields are not shown. */
const tokenOperation = {
  operationId: 'oauth-token',
  summary: 'Exchanges client credentials for a token that lives two hours; they may also come as HTTP Basic.',
  tags: ['public description'],
  security: [],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: { grant_type: { const: 'client_credentials' }, client_id: text, client_secret: text },
          required: ['grant_type'],
        },
      },
    },
  },
  responses: {
    '200': {
      description: 'The token.',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: { access_token: text, token_type: text, expires_in: { type: 'integer' } },
            required: ['access_token'],
          },
        },
      },
    },
    '400': refused('a wrong secret, or another grant type'),
  },
};

function serversOf(host: Operation['host'], { inferenceUrl, sandboxUrl }: Described): object {
  switch (host) {
    case 'management':
      return {};
    case 'inference':
      return { servers: [{ url: inferenceUrl }] };
    case 'sandbox': {
      const variables = { sandbox: 'code-runner', workspace: 'production', region: 'us-pdx-1' };
      const described = Object.entries(variables).map(([name, value]) => [name, { default: value }]);
      return { servers: [{ url: sandboxUrl, variables: Object.fromEntries(described) }] };
    }
  }
}

function describeOperation(
  operation: Operation,
  method: string,
  isOneOfSeveral: boolean,
  described: Described,
): object {
  const { name, summary, section, parameters, body, response, answer, errors, host } = operation;
  const isBodiless = method === 'get' || method === 'delete';
  return {
    operationId: isOneOfSeveral ? `${name}-${method}` : name,
    summary,
    tags: [section],
    parameters: [
      ...parameters.filter((parameter) => parameter.in !== 'host').map((one) => describeParameter(one, described)),
      ...(host === 'management' ? [versionParameter(described), workspaceParameter(described)] : []),
    ],
    ...(body === undefined || isBodiless
      ? {}
      : {
          requestBody: {
            required: body.required,
            description: body.rule,
            content: { 'application/json': { schema: inlineSchema(body.type) } },
          },
        }),
    responses: {
      '200': {
        description: 'The answer.',
        content:
          answer === 'json'
            ? { 'application/json': { schema: inlineSchema(response) } }
            : { 'application/json': { schema: {} }, 'text/event-stream': { schema: { type: 'string' } } },
      },
      ...Object.fromEntries(
        errors.flatMap(({ status, when }) => (status === undefined ? [] : [[String(status), refused(when)]])),
      ),
      default: refused('Any other refusal.'),
    },
  };
}

function refused(when: string): object {
  return {
    description: when,
    headers: refusalHeaders,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}

/** A schema without its dialect: that of the whole document holds. */
function inlineSchema(type: Parameters<typeof schemaOf>[0]): object {
  const { $schema: _, ...schema } = schemaOf(type) as Record<string, unknown>;
  return schema;
}

function versionParameter({ names }: Described): object {
  return {
    name: names.version,
    in: 'header',
    required: false,
    description: `The API version; ${earliestVersion} if omitted.`,
    schema: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}(\\.preview)?$' },
  };
}

function workspaceParameter({ names }: Described): object {
  return {
    name: names.workspace,
    in: 'header',
    required: false,
    description: 'The workspace that the request is about, for a token that reaches several.',
    schema: text,
  };
}

function describeParameter(parameter: Parameter, { names }: Described): object {
  const { name, required, rule } = parameter;
  const isList = parameter.type.kind === 'choices' || parameter.type.kind === 'set';
  return {
    name: parameter.in === 'header' ? (headerOfParameter[name] ?? names.thread) : name,
    in: parameter.in,
    required,
    description: rule,
    ...(isList ? { style: 'form', explode: false } : {}),
    schema: schemaOfParameter(parameter),
  };
}

function schemaOfParameter(parameter: Parameter): object {
  const { type } = parameter;
  switch (type.kind) {
    case 'string':
    case 'path':
      return checkParameter(parameter, '').fault === undefined ? { type: 'string' } : { type: 'string', minLength: 1 };
    case 'text':
      return {
        type: 'string',
        maxLength: type.maxLength,
        ...(type.pattern === undefined ? {} : { pattern: type.pattern.source }),
      };
    case 'boolean':
      return { type: 'boolean' };
    case 'instant':
      return { type: 'string', format: 'date-time' };
    case 'integer':
      // Larger values clamp, so there is no maximum.
      return { type: 'integer', minimum: type.min, default: type.default };
    case 'choice':
      return { type: 'string', enum: type.choices };
    case 'choices':
      return { type: 'array', items: { type: 'string', enum: type.choices }, maxItems: type.max, uniqueItems: true };
    case 'set':
      // Any case is valid, which an enumeration cannot say.
      return { type: 'array', items: { type: 'string' } };
  }
}
