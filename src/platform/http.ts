import type { Agent, Dispatcher, request } from 'undici';
import type { HttpRequest, HttpResponse, HttpSend } from '../base/effects.ts';
import { PlatformError } from '../base/errors.ts';
import { networkFault } from './failure-words.ts';
import { answerLimits } from './interface/limits.ts';
import { proxiesOf } from './proxy.ts';

/** What only happens before a request is sent. */
const unreachableCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);
/** What happens before a request is sent, or later. */
const lostCodes = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);
const silenceCodes = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/**
 * The real HTTP edge: at most `connections` sockets per origin; honours HTTP(S)_PROXY and NO_PROXY of `env`. `close`
 * ends all sockets, including one that waits for a proxy, so that the process can end. Throws UsageError for an invalid
 * proxy address.
 */
export function openHttp(options: {
  readonly connections: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The interval over which the pace of a body is measured; that of `answerLimits` by default. */
  readonly paceMs?: number;
}): {
  send: HttpSend;
  close(): Promise<void>;
} {
  const { env, paceMs = answerLimits.paceMs } = options;
  const agentOptions: Agent.Options = {
    connections: options.connections,
    connect: { timeout: answerLimits.connectMs },
    headersTimeout: answerLimits.silenceMs,
    bodyTimeout: answerLimits.silenceMs,
  };
  const { http: httpProxy, https: httpsProxy, none: noProxy } = proxiesOf(env);
  let loaded: Promise<{ undiciRequest: typeof request; dispatcher: Dispatcher }> | undefined;
  /** Loads undici with the first request: it takes a while to load, and most commands send none. */
  function load() {
    loaded ??= import('undici').then(({ Agent, EnvHttpProxyAgent, request: undiciRequest }) => {
      const dispatcher =
        httpProxy || httpsProxy
          ? new EnvHttpProxyAgent({ ...agentOptions, httpProxy, httpsProxy, noProxy })
          : new Agent(agentOptions);
      return { undiciRequest, dispatcher };
    });
    return loaded;
  }

  async function send(request: HttpRequest): Promise<HttpResponse> {
    try {
      const { url, method, headers, body: sent, signal } = request;
      const silenceMs = silenceOf(request);
      const { undiciRequest, dispatcher } = await load();
      signal.throwIfAborted();
      const response = await unlessAborted(
        undiciRequest(url, {
          ...{ dispatcher, method: method as Dispatcher.HttpMethod, headers, signal },
          ...{ body: sent ?? null, headersTimeout: silenceMs, bodyTimeout: silenceMs },
        }),
        signal,
      );
      const { statusCode: status } = response;
      const incoming = response.body as AsyncIterable<Buffer>;
      const { onChunk } = request;
      if (onChunk === undefined || status < 200 || status > 299) {
        return { status, headers: response.headers, body: await readBody(incoming, request, paceMs) };
      }
      for await (const chunk of incoming) await onChunk(chunk);
      return { status, headers: response.headers, body: Buffer.alloc(0) };
    } catch (error) {
      if (request.signal.aborted || error instanceof PlatformError) throw error;
      const code = codeOf(error);
      const kind = kindOf(code ?? '', (error as { syscall?: unknown }).syscall);
      const host = hostOf(request.url);
      throw new PlatformError(
        `no answer from ${host}: ${networkFault(error, code, { host, ...answerLimits, silenceMs: silenceOf(request) })}`,
        {
          code: kind,
          host,
          retryable: kind !== 'certificate' && kind !== 'tls',
          cause: error,
        },
      );
    }
  }
  return { send, close: async () => (await loaded)?.dispatcher.destroy() };
}

/** How long an answer may be silent. */
function silenceOf({ onChunk }: HttpRequest): number {
  return onChunk === undefined ? answerLimits.silenceMs : answerLimits.streamSilenceMs;
}

/** Reads a body to its end. Throws PlatformError if it is too long, or so slow that it would hold us up. */
async function readBody(incoming: AsyncIterable<Buffer>, { maxBodyMib }: HttpRequest, paceMs: number): Promise<Buffer> {
  const { minBytesPerSecond } = answerLimits;
  const pieces: Buffer[] = [];
  let bytes = 0;
  let stretchBegan = performance.now();
  let bytesBefore = 0;
  for await (const piece of incoming) {
    bytes += piece.length;
    if (bytes > maxBodyMib * 1024 * 1024) {
      throw new PlatformError(`a body of more than ${maxBodyMib} MiB, far more than a page`, { code: 'too_large' });
    }
    pieces.push(piece);
    const elapsedMs = performance.now() - stretchBegan;
    if (elapsedMs < paceMs) continue;
    if (((bytes - bytesBefore) * 1000) / elapsedMs < minBytesPerSecond) {
      throw new PlatformError(
        `a body that arrived too slowly: ${bytes - bytesBefore} bytes in ${Math.round(elapsedMs / 1000)} s, expected at least ${minBytesPerSecond} a second`,
        { code: 'slow', retryable: true },
      );
    }
    stretchBegan = performance.now();
    bytesBefore = bytes;
  }
  return Buffer.concat(pieces, bytes);
}

/** A promise that rejects with the signal's reason at once: undici checks it only when it has a connection. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** What a network failure means for the next attempt: retrying does not make a certificate trusted. */
function kindOf(code: string, syscall?: unknown): 'unreachable' | 'timeout' | 'certificate' | 'tls' | 'network' {
  if (unreachableCodes.has(code) || (lostCodes.has(code) && syscall === 'connect')) return 'unreachable';
  if (silenceCodes.has(code)) return 'timeout';
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(code)) return 'certificate';
  return code === 'EPROTO' || code.startsWith('ERR_SSL') ? 'tls' : 'network';
}

function codeOf(error: unknown): string | undefined {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return cause === undefined ? undefined : codeOf(cause);
}

/** Host and port of a URL, with the port that the scheme implies. */
export function hostOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
