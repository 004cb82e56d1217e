import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { MachineError, messageOf } from '../errors.ts';
import type { Instant } from '../time.ts';
import { pause, refuseAs, resetConnection, writeBody } from './fault-answers.ts';
import type { FaultName, FaultPlan } from './fault-plan.ts';
import type { Platform } from './platform.ts';
import { Refusal } from './refusal.ts';

/** One request to the emulator, for tests and for debugging. */
export interface SeenRequest {
  /** By the emulator's clock. */
  readonly at: Instant;
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  /** Undefined if the connection was reset instead. */
  readonly status: number | undefined;
  /** The fault that hit it. */
  readonly fault?: FaultName;
}

/** Options of the server. */
export interface ServerOptions {
  readonly now: () => Instant;
  /** 0 for any free port. */
  readonly port: number;
  /** Real delay before each answer. */
  readonly latencyMs: number;
}

/** A platform served over HTTP, on this machine only. */
export interface Serving {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

const compress = promisify(gzip);
const maxSeenRequests = 10_000;

/** Listens on 127.0.0.1 until closed. Throws MachineError if the port is not available. */
export async function serve(platform: Platform, faults: FaultPlan, options: ServerOptions): Promise<Serving> {
  const requests: SeenRequest[] = [];
  const server = createServer((request, response) => {
    // A client may hang up at any time; that is not our error.
    response.on('error', () => {});
    handle(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? 'GET';
    const target = request.url ?? '/';
    const fault = faults.strike(`${method} ${target}`);
    const answer = fault === 'reset' ? undefined : answerWith(fault, { method, target, headers: request.headers });
    requests.push({
      at: options.now(),
      method,
      path: target,
      status: answer?.status,
      ...(fault === undefined ? {} : { fault }),
    });
    if (requests.length > maxSeenRequests) requests.splice(0, requests.length - maxSeenRequests);
    if (options.latencyMs > 0) await pause(options.latencyMs);
    if (answer === undefined) resetConnection(request);
    else await send(request, response, answer, { fault, now: options.now() });
  }

  function answerWith(
    fault: FaultName | undefined,
    request: { method: string; target: string; headers: IncomingMessage['headers'] },
  ): Answer {
    try {
      refuseAs(fault, options.now());
      return { status: 200, body: platform.answer(request, fault === 'expired-cursor'), headers: {} };
    } catch (error) {
      // Anything except a Refusal is a bug of the emulator; its client sees a broken platform.
      const refusal = error instanceof Refusal ? error : new Refusal(500, 'internal_error', messageOf(error));
      return {
        status: refusal.status,
        body: { error: refusal.code, code: refusal.status, message: refusal.message },
        headers: refusal.headers,
      };
    }
  }

  await listen(server, options.port);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new MachineError('the emulator has no port to listen on');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE') {
      throw new MachineError(`port ${port} of 127.0.0.1 is in use; choose another one, or 0 for any free port`, {
        cause: error,
      });
    }
    throw new MachineError(`the emulator cannot listen on port ${port} of 127.0.0.1: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  { fault, now }: { fault: FaultName | undefined; now: Instant },
): Promise<void> {
  const plain = Buffer.from(JSON.stringify(answer.body));
  const isGzip = acceptsGzip(request.headers['accept-encoding']);
  // The fastest level: compression must not slow clients down.
  const body = isGzip ? await compress(plain, { level: 1 }) : plain;
  response.writeHead(answer.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    vary: 'accept-encoding',
    date: new Date(now).toUTCString(),
    ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
    ...answer.headers,
  });
  await writeBody(response, body, fault);
}

/** Whether a client accepts gzip: it names it, or `*`, without the weight 0. */
function acceptsGzip(header: string | string[] | undefined): boolean {
  for (const choice of [header].flat().join(',').split(',')) {
    const [coding = '', weight = ''] = choice.split(';').map((part) => part.trim().toLowerCase());
    if (coding === 'gzip' || coding === '*') return !/^q=0(\.0*)?$/.test(weight);
  }
  return false;
}
