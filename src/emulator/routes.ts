import { type Operation, type OperationName, operations } from '../platform/interface/index.ts';
import { notFound, Refusal } from './refusal.ts';

export type Host = Operation['host'];

/** Where a request goes: one of the three hosts (management, inference, a sandbox's own), and the path on it. */
export interface Address {
  readonly host: Host;
  readonly path: string;
  /** The sandbox's host label: `sbx-<name>-<workspace>.<region>`, or the three parts of a path prefix. */
  readonly sandbox?: SandboxAddress;
}

/** How a sandbox was addressed. */
export type SandboxAddress =
  | { readonly label: string }
  | { readonly name: string; readonly workspace: string; readonly region: string };

/** The first label of the inference host. */
export const inferenceHost = 'run.localhost';
/** The path prefixes for machines that do not resolve names below localhost. */
export const inferencePrefix = '/_inference';
export const sandboxPrefix = '/_sandboxes';

/** Which host and path a request means, by its Host header and the prefix of its path. Pure. */
export function addressOf(hostHeader: string | undefined, path: string): Address {
  const hostname = (hostHeader ?? '').replace(/:\d+$/, '').toLowerCase();
  const label = /^(sbx-.+)\.localhost$/.exec(hostname)?.[1];
  if (label !== undefined) return { host: 'sandbox', path, sandbox: { label } };
  if (hostname === inferenceHost) return onInference(path);
  if (path.startsWith(`${inferencePrefix}/`)) return onInference(path.slice(inferencePrefix.length));
  const [, name = '', workspace = '', region = '', rest = ''] =
    /^\/_sandboxes\/([^/]+)\/([^/]+)\/([^/]+)(\/.*)?$/.exec(path) ?? [];
  if (name === '') return { host: 'management', path: path.replace(/(?<=\/executions)\/$/, '') };
  return { host: 'sandbox', path: rest || '/', sandbox: { name, workspace, region } };
}

/** A path on the inference host, with or without a slash at its end; it also takes executions, as the management host does. */
function onInference(path: string): Address {
  const plain = path.replace(/(?<=[^/])\/$/, '');
  return { host: /^\/[^/]+\/jobs\/[^/]+\/executions$/.test(plain) ? 'management' : 'inference', path: plain };
}

/** The operation of a request and its path parameters, decoded. */
export interface Route {
  readonly name: OperationName;
  readonly operation: Operation;
  readonly values: Readonly<Record<string, string>>;
}

const routes = Object.entries(operations).map(([name, operation]) => ({
  name: name as OperationName,
  operation: operation as Operation,
  pattern: patternOf(operation),
}));

/** The operation at an address. Refuses with 404 an unknown path, and with 405 another method. */
export function routeOf({ host, path }: Address, method: string): Route {
  const onPath = routes.flatMap(({ name, operation, pattern }) => {
    const match = operation.host === host ? pattern.exec(path) : null;
    return match === null ? [] : [{ name, operation, values: decoded(match.groups ?? {}) }];
  });
  const first = onPath[0];
  if (first === undefined) throw notFound(`There is nothing at ${path}`);
  const found = onPath.find(({ operation }) => operation.method === method || operation.method === 'ANY');
  if (found !== undefined) return found;
  const allow = [...new Set(onPath.map(({ operation }) => operation.method))].sort().join(', ');
  throw new Refusal(405, 'method_not_allowed', `${path} answers ${allow} only`, { allow });
}

/** A path template as a pattern, with each `{parameter}` as a named group; a path parameter may contain slashes. */
function patternOf({ path, parameters }: Operation): RegExp {
  return new RegExp(
    `^${path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const type = parameters.find((parameter) => parameter.name === name)?.type.kind;
      return type === 'path' ? `(?<${name}>.*)` : `(?<${name}>[^/]+)`;
    })}$`,
  );
}

function decoded(groups: Readonly<Record<string, string>>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch {
    throw new Refusal(400, 'invalid_parameter', 'The path has an invalid percent-encoding');
  }
}
