import { Agent, type Dispatcher, EnvHttpProxyAgent, request as undiciRequest } from 'undici';
import type { HttpRequest, HttpResponse, HttpSend } from '../effects.ts';
import { PlatformError } from '../errors.ts';

const connectTimeoutMs = 10_000;
/** Between sending and the first byte of the answer, and between two pieces of a body. */
const silenceTimeoutMs = 60_000;
/** A page of 100 groups × 168 hours is about 1 MB plain; a body far beyond that is no page. */
const maxBodyBytes = 256 * 1024 * 1024;

const unreachableCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/**
 * The real HTTP edge: at most `connections` sockets per origin, HTTP(S)_PROXY and NO_PROXY of `env` honoured.
 * `close` ends idle sockets so that the process can end.
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
  const httpProxy = env['http_proxy'] ?? env['HTTP_PROXY'] ?? '';
  const httpsProxy = env['https_proxy'] ?? env['HTTPS_PROXY'] ?? '';
  const noProxy = env['no_proxy'] ?? env['NO_PROXY'] ?? '';
  const dispatcher: Dispatcher =
    httpProxy || httpsProxy
      ? new EnvHttpProxyAgent({ ...agentOptions, httpProxy, httpsProxy, noProxy })
      : new Agent(agentOptions);

  async function send(request: HttpRequest): Promise<HttpResponse> {
    try {
      const response = await undiciRequest(request.url, {
        dispatcher,
        method: request.method,
        headers: request.headers,
        signal: request.signal,
      });
      const pieces: Buffer[] = [];
      let bytes = 0;
      for await (const piece of response.body as AsyncIterable<Buffer>) {
        bytes += piece.length;
        if (bytes > maxBodyBytes) throw new PlatformError(`a body of more than ${maxBodyBytes} bytes`);
        pieces.push(piece);
      }
      return { status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces, bytes) };
    } catch (error) {
      if (request.signal.aborted || error instanceof PlatformError) throw error;
      const code = codeOf(error);
      const kind = kindOf(code ?? '');
      throw new PlatformError(`no answer: ${describeFailure(error, code)}`, {
        code: kind,
        retryable: kind !== 'certificate',
        cause: error,
      });
    }
  }
  return { send, close: () => dispatcher.close() };
}

/** What a failure of the network means for the next attempt: a certificate does not become trusted by asking again. */
function kindOf(code: string): 'unreachable' | 'certificate' | 'network' {
  if (unreachableCodes.has(code)) return 'unreachable';
  return /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(code) ? 'certificate' : 'network';
}

function codeOf(error: unknown): string | undefined {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return cause === undefined ? undefined : codeOf(cause);
}

function describeFailure(error: unknown, code: string | undefined): string {
  const message = error instanceof Error ? error.message : '';
  if (code === 'ECONNREFUSED') return 'connection refused (ECONNREFUSED)';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `host name not found (${code})`;
  return [message, code === undefined || message.includes(code) ? '' : `(${code})`].filter(Boolean).join(' ');
}
