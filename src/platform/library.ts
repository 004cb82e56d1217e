import { setTimeout as sleepFor } from 'node:timers/promises';
import type * as z from 'zod/mini';
import type { Effects } from '../base/effects.ts';
import { RefusedAnswerError } from '../base/errors.ts';
import { openClock } from '../time/clock.ts';
import { type Answer, type AnswerPage, answerPages, callOnce, callStreamed } from './calls.ts';
import { openClient } from './client.ts';
import { openHttp } from './http.ts';
import { pagedListingsVersion, usualHeaders } from './interface/limits.ts';
import { type Operation, type OperationName, operations } from './interface/operations.ts';
import { parameterText, type ValuesOf } from './interface/parameters.ts';
import type { Endpoint, Texts } from './interface/request.ts';

export { PlatformError, RefusedAnswerError } from '../base/errors.ts';
export * from './interface/limits.ts';
export { allOperations, type Operation, type OperationName, operations } from './interface/operations.ts';
export type { Parameter, ParameterType } from './interface/parameters.ts';
export { CursorRefusedError } from './paging.ts';

/** Where a platform is, and how to talk to it. */
export interface PlatformOptions extends Endpoint {
  /** An API key or a JWT, or a function that gets one: it is called again before a JWT expires, and once after a 401. */
  readonly token: string | (() => string | Promise<string>);
  /** The API version of requests; the first one with paged listings by default. */
  readonly apiVersion?: string | undefined;
  /** The header of the token; `Authorization` by default. */
  readonly authorizationHeader?: string | undefined;
  /** The header of the API version; `Service-Version` by default. */
  readonly versionHeader?: string | undefined;
  /** More headers for every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sockets per host; 4 by default. */
  readonly connections?: number | undefined;
  readonly maxRequestsPerMinute?: number | undefined;
  readonly userAgent?: string | undefined;
  /** Where HTTP(S)_PROXY and NO_PROXY are: `process.env`, to use its proxies. Without it, none is used. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Called with each retry and warning: a code, a sentence, and facts without secrets. */
  readonly onEvent?: ((event: string, message: string, fields: Readonly<Record<string, unknown>>) => void) | undefined;
}

/** What a call sends besides its parameters. */
export interface CallOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The method of an operation that allows any: POST with a body and GET without one by default. */
  readonly method?: string | undefined;
  readonly apiVersion?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Operations = typeof operations;
type Values<Name extends OperationName> = ValuesOf<Operations[Name]['parameters']>;

/** The answer of an operation, by its documented shape; `unknown` where the document does not show it. */
export type AnswerOf<Name extends OperationName> = z.infer<Operations[Name]['response']>;

/** Operations with pages. */
export type PagedName = {
  [Name in OperationName]: Operations[Name] extends { readonly paging: string } ? Name : never;
}[OperationName];

/** What the pages of an operation contain: resources, or groups of costs. */
export type ItemOf<Name extends PagedName> =
  Exclude<AnswerOf<Name>, readonly unknown[]> extends { data: readonly (infer Item)[] } ? Item : never;

/** A platform that can be called. */
export interface CloudPlatform {
  /**
   * Calls an operation by its name in `operations`. Throws PlatformError if it fails, RefusedAnswerError if the answer has
   * another shape than documented, and UsageError if the operation's host is not configured.
   */
  call<Name extends OperationName>(name: Name, values: Values<Name>, options?: CallOptions): Promise<AnswerOf<Name>>;
  /** Calls an operation and passes its answer on as it comes. Throws as `call` does. */
  stream<Name extends OperationName>(
    name: Name,
    values: Values<Name>,
    onChunk: (chunk: Buffer) => void | Promise<void>,
    options?: CallOptions,
  ): Promise<void>;
  /** The pages of a listing or of metrics, to the last. Throws as `call` does, and CursorRefusedError. */
  pages<Name extends PagedName>(
    name: Name,
    values: Values<Name>,
    options?: CallOptions,
  ): AsyncGenerator<Omit<AnswerPage, 'items'> & { readonly items: readonly ItemOf<Name>[] }, void, undefined>;
  /** Everything on those pages, one by one. */
  items<Name extends PagedName>(
    name: Name,
    values: Values<Name>,
    options?: CallOptions,
  ): AsyncGenerator<ItemOf<Name>, void, undefined>;
  /** Ends all connections. */
  close(): Promise<void>;
}

/**
 * Opens a platform. Nothing is sent before the first call. A request is sent again after failures that pass; one that
 * changes something only if the platform certainly did nothing.
 */
export function openPlatform(options: PlatformOptions): CloudPlatform {
  const { token, connections = 4, apiVersion = pagedListingsVersion, env = {}, onEvent } = options;
  const { send, close } = openHttp({ connections, env });
  const client = openClient(
    {
      ...options,
      url: options.url.replace(/\/+$/, ''),
      inferenceUrl: options.inferenceUrl?.replace(/\/+$/, ''),
      sandboxUrl: options.sandboxUrl?.replace(/\/+$/, ''),
      apiVersion,
      token: async () => (typeof token === 'function' ? await token() : token),
      tokenSetting: 'the token',
      canRefreshToken: typeof token === 'function',
      authorizationHeader: options.authorizationHeader ?? usualHeaders.authorization,
      versionHeader: options.versionHeader ?? usualHeaders.version,
      maxRequestsPerMinute: options.maxRequestsPerMinute,
      userAgent: options.userAgent ?? 'costbook-platform',
    },
    send,
    effectsOf(onEvent),
  );

  function prepared(name: OperationName, values: object, { body, method, apiVersion: version }: CallOptions) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const sending = { method, apiVersion: version, body: text, isOfUser: true };
    return { operation: operations[name] as Operation, values: textsOf(values), sending };
  }

  async function* allPages(name: PagedName, values: object, given: CallOptions = {}): AsyncGenerator<AnswerPage> {
    const call = prepared(name, values, given);
    for await (const page of answerPages(client, call, given.signal ?? never)) {
      demandShape(call.operation, page);
      yield page;
    }
  }

  return {
    async call(name, values, given = {}) {
      const call = prepared(name, values, given);
      const answer = await callOnce(client, call, given.signal ?? never);
      demandShape(call.operation, answer);
      return answer.value as AnswerOf<typeof name>;
    },
    async stream(name, values, onChunk, given = {}) {
      const call = prepared(name, values, given);
      await callStreamed(client, call, async (chunk) => onChunk(chunk), given.signal ?? never);
    },
    pages: allPages as CloudPlatform['pages'],
    async *items(name, values, given) {
      for await (const page of allPages(name, values, given)) yield* page.items as readonly ItemOf<typeof name>[];
    },
    close,
  };
}

const never = new AbortController().signal;

function textsOf(values: object): Texts {
  const given = Object.entries(values) as [string, string | number | boolean | readonly string[] | undefined][];
  return Object.fromEntries(
    given.flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, parameterText(value)]])),
  );
}

function demandShape({ name }: Operation, { deviation }: Answer): void {
  if (deviation === undefined) return;
  throw new RefusedAnswerError(`${name}: the answer has another shape than documented: ${deviation}`);
}

/** The real clock and real waits; events go to the caller. */
function effectsOf(onEvent: PlatformOptions['onEvent']): Effects {
  const log = (event: string, message: string, fields: Readonly<Record<string, unknown>> = {}) =>
    onEvent?.(event, message, fields);
  return {
    ...openClock(() => Date.now()),
    log: { info: log, warn: log },
    random: Math.random,
    sleep: async (ms, signal) => {
      await sleepFor(ms, undefined, { signal });
    },
  };
}
