import type { Agent, Dispatcher, request } from 'undici';
import type { HttpRequest, HttpResponse, HttpSend } from '../effects.ts';
import { PlatformError } from '../errors.ts';
import { maxBodyBytes, maxBodyMib } from './limits.ts';
import { proxiesOf } from './proxy.ts';

const connectTimeoutMs = 10_000;
/** Between sending and the first byte of the answer, and between two pieces of a body. */
const silenceTimeoutMs = 60_000;

const unreachableCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const silenceCodes = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/**
 * The real HTTP edge: at most `connections` sockets per origin, HTTP(S)_PROXY and NO_PROXY of `env` honoured.
 * `close` ends all sockets, also one on which a proxy lets us wait, so that the process can end. Throws UsageError for a proxy that is no address.
 */
export function openHttp(options: { connections: number; env: Readonly<Record<string, string | undefined>> }): {
  send: HttpSend;
  close(): Promise<void>;
} {
  const { env } = options;
  const agentOptions: Agent.Options = {
    connections: options.connections,
    connect: { timeout: connectTimeoutMs },
    headersTimeout: silenceTimeoutMs,
    bodyTimeout: silenceTimeoutMs,
  };
  const { http: httpProxy, https: httpsProxy, none: noProxy } = proxiesOf(env);
  let loaded: Promise<{ undiciRequest: typeof request; dispatcher: Dispatcher }> | undefined;
  /** Loads undici with the first request: most commands ask nothing of any platform, and it takes a while to load. */
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
      const { url, method, headers, signal } = request;
      const { undiciRequest, dispatcher } = await load();
      signal.throwIfAborted();
      const response = await unlessAborted(undiciRequest(url, { dispatcher, method, headers, signal }), signal);
      const pieces: Buffer[] = [];
      let bytes = 0;
      for await (const piece of response.body as AsyncIterable<Buffer>) {
        bytes += piece.length;
        if (bytes > maxBodyBytes) {
          throw new PlatformError(`a body of more than ${maxBodyMib} MiB, far more than a page`, { code: 'body' });
        }
        pieces.push(piece);
      }
      return { status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces, bytes) };
    } catch (error) {
      if (request.signal.aborted || error instanceof PlatformError) throw error;
      const code = codeOf(error);
      const kind = kindOf(code ?? '');
      throw new PlatformError(`no answer from ${hostOf(request.url)}: ${describeFailure(error, code)}`, {
        code: kind,
        retryable: kind !== 'certificate' && kind !== 'tls',
        cause: error,
      });
    }
  }
  return { send, close: async () => (await loaded)?.dispatcher.destroy() };
}

/** A promise that rejects with the signal's reason at once: undici looks at it only when it has a connection. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** What a failure of the network means for the next attempt: a certificate does not become trusted by asking again. */
function kindOf(code: string): 'unreachable' | 'timeout' | 'certificate' | 'tls' | 'network' {
  if (unreachableCodes.has(code)) return 'unreachable';
  if (silenceCodes.has(code)) return 'timeout';
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(code)) return 'certificate';
  return code === 'EPROTO' || code.startsWith('ERR_SSL') ? 'tls' : 'network';
}

function codeOf(error: unknown): string | undefined {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return cause === undefined ? undefined : codeOf(cause);
}

/** Host and port that a URL leads to, the port also where the scheme implies it. */
function hostOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

function describeFailure(error: unknown, code: string | undefined): string {
  const message = error instanceof Error ? error.message : '';
  if (code === 'ECONNREFUSED') return `connection${refusedBy(error)} refused (ECONNREFUSED)`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `host name${unknownName(error)} not found (${code})`;
  // What OpenSSL says of it is its own source code's line.
  if (kindOf(code ?? '') === 'tls') return `it does not speak TLS as expected (${code})`;
  return [message, code === undefined || message.includes(code) ? '' : `(${code})`].filter(Boolean).join(' ');
}

/** The address that refused, where the system says it: behind a name, or a proxy's. */
function refusedBy(error: unknown): string {
  const { address, port } = error as { address?: unknown; port?: unknown };
  return typeof address === 'string' && typeof port === 'number' ? ` to ${address}:${port}` : '';
}

/** The name that was looked up, where the system says it: it may be a proxy's. */
function unknownName(error: unknown): string {
  const { hostname } = error as { hostname?: unknown };
  return typeof hostname === 'string' ? ` ${hostname}` : '';
}
