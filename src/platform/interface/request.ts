import { UsageError } from '../../base/errors.ts';
import { usualHeaders } from './limits.ts';
import type { Operation } from './operations.ts';

/** The values of an operation's parameters, as text. */
export type Texts = Readonly<Record<string, string>>;

/** The platform's hosts, and the names of headers that a platform may choose. */
export interface Endpoint {
  /** Root of the management API. */
  readonly url: string;
  /** Root of the inference host; undefined if it is not configured. */
  readonly inferenceUrl?: string | undefined;
  /** A sandbox's own host with `{sandbox}`, `{workspace}` and `{region}`; undefined if it is not configured. */
  readonly sandboxUrl?: string | undefined;
  /** The header of an agent's thread; `X-Service-Thread-Id` by default. */
  readonly threadHeader?: string | undefined;
}

/**
 * The path and query of one request, without the base URL. Query parameters are in the operation's order, so that equal
 * requests have equal URLs. Throws for a missing path parameter or an unknown name: that is a bug of the caller.
 */
export function requestPath(operation: Operation, values: Texts): string {
  const unknown = Object.keys(values).find((name) => !operation.parameters.some((p) => p.name === name));
  if (unknown !== undefined) throw new TypeError(`${operation.name} has no parameter ${unknown}`);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new TypeError(`${operation.name} needs ${name}`);
    const { type } = operation.parameters.find((parameter) => parameter.name === name) ?? {};
    return (type?.kind === 'path' ? stepsOf(value) : [value]).map((step) => pathStep(operation, name, step)).join('/');
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

function pathStep(operation: Operation, name: string, value: string): string {
  // A URL parser treats these as steps, even encoded: the request would go to another operation.
  if (value === '.' || value === '..') throw new TypeError(`${operation.name} cannot have ${value} as ${name}`);
  return encodeURIComponent(value);
}

/** The steps of a path; a slash at its start or end says nothing. */
function stepsOf(path: string): string[] {
  return path.split('/').filter((step) => step !== '');
}

/** The names of headers that parameters are sent in; that of a thread is a setting. */
export const headerOfParameter: Readonly<Record<string, string>> = {
  sessionId: 'mcp-session-id',
  protocolVersion: 'mcp-protocol-version',
};

/** The headers that an operation and its parameters ask for, by lower-case name. Pure. */
export function requestHeaders(operation: Operation, values: Texts, { threadHeader }: Endpoint): Texts {
  const ofParameters = operation.parameters.flatMap(({ name, in: place }): [string, string][] => {
    const value = values[name];
    if (place !== 'header' || value === undefined) return [];
    return [[headerOfParameter[name] ?? (threadHeader ?? usualHeaders.thread).toLowerCase(), value]];
  });
  return { ...operation.headers, ...Object.fromEntries(ofParameters) };
}

/** A part of a host name: anything else would lead to another host. */
const hostLabel = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i;

/**
 * The base URL of an operation, without a slash at its end. Throws UsageError if its host is not configured, and for a
 * name that cannot be part of a host name.
 */
export function baseUrl(operation: Operation, endpoint: Endpoint, values: Texts): string {
  switch (operation.host) {
    case 'management':
      return endpoint.url;
    case 'inference':
      if (endpoint.inferenceUrl !== undefined) return endpoint.inferenceUrl;
      throw new UsageError(
        `${operation.name} goes to the inference host: set inferenceUrl in costbook.yaml (or COSTBOOK_INFERENCE_URL)`,
      );
    case 'sandbox':
      if (endpoint.sandboxUrl === undefined) {
        throw new UsageError(
          `${operation.name} goes to a sandbox's own host: set sandboxUrl in costbook.yaml (or COSTBOOK_SANDBOX_URL), such as https://sbx-{sandbox}-{workspace}.{region}.example.com`,
        );
      }
      return endpoint.sandboxUrl.replace(/\{(\w+)\}/g, (whole, name: string) => {
        const value = values[name];
        if (value === undefined) return whole;
        if (hostLabel.test(value)) return value;
        throw new UsageError(
          `${name}: found ${JSON.stringify(value)}, expected letters, digits and - : it is a part of the sandbox's host name`,
        );
      });
  }
}
