import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { MachineError, messageOf } from '../base/errors.ts';
import type { Instant } from '../time/time.ts';
import { maxBodyBytes } from './bodies.ts';
import { explosive, loginPage, pause, refuseAs, resetConnection, writeBody } from './fault-answers.ts';
import type { FaultName, FaultPlan } from './fault-plan.ts';
import type { Platform, PlatformRequest } from './platform.ts';
import { Refusal, replyOf } from './refusal.ts';
import type { Reply } from './reply.ts';

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
  /** Where requests are recorded. */
  readonly requests: SeenRequest[];
  /** The address to listen on. */
  readonly host: string;
  /** Real delay before each answer. */
  readonly latencyMs: number;
  /** Answers what is not the platform's own interface: the description and the control path. Faults do not hit it. */
  readonly aside: (request: PlatformRequest) => Reply | undefined;
}

/** A platform served over HTTP. */
export interface Serving {
  readonly url: string;
  close(): Promise<void>;
}

const compress = promisify(gzip);
const maxSeenRequests = 10_000;

/** Listens until closed. Throws MachineError if the port is not available. */
export async function serve(platform: Platform, faults: FaultPlan, options: ServerOptions): Promise<Serving> {
  const { requests } = options;
  const server = createServer((request, response) => {
    // A client may hang up at any time; that is not our error.
    response.on('error', () => {});
    handle(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? 'GET';
    const target = request.url ?? '/';
    const body = await bodyOf(request);
    const given = { method, target, headers: request.headers, body };
    const form = { asObject: faults.refusesWithObjects, now: options.now() };
    const beside = answerWith(given, form, options.aside);
    if (beside !== undefined) {
      await send(request, response, beside, { fault: undefined, now: options.now() });
      return;
    }
    const fault = faults.strike(`${method} ${target}`);
    const answer = fault === 'reset' ? undefined : answerWith(given, form, (whole) => answerOf(whole, fault));
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

  function answerOf(request: PlatformRequest, fault: FaultName | undefined): Reply {
    refuseAs(fault, options.now());
    return fault === 'html' ? loginPage : platform.answer(request, fault === 'expired-cursor');
  }

  await listen(server, options);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new MachineError('the emulator has no port to listen on');
  return {
    url: `http://${reachable(options.host)}:${address.port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** An address that a client on this machine can use: a wildcard is none. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** The answer, or the refusal as an answer. */
function answerWith<Answer extends Reply | undefined>(
  { body, ...request }: Omit<PlatformRequest, 'body'> & { readonly body: Buffer | undefined },
  form: Parameters<typeof replyOf>[1],
  answer: (request: PlatformRequest) => Answer,
): Answer | Reply {
  try {
    if (body === undefined) throw new Refusal(413, 'body_too_large', `A body has at most ${maxBodyBytes} bytes`);
    return answer({ ...request, body });
  } catch (error) {
    // Anything except a Refusal is a bug of the emulator; its client sees a broken platform.
    return replyOf(error instanceof Refusal ? error : new Refusal(500, 'internal_error', messageOf(error)), form);
  }
}

async function listen(server: Server, { host, port }: ServerOptions): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE') {
      throw new MachineError(`port ${port} of ${host} is in use; choose another one, or 0 for any free port`, {
        cause: error,
      });
    }
    throw new MachineError(`the emulator cannot listen on port ${port} of ${host}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Reply,
  { fault, now }: { fault: FaultName | undefined; now: Instant },
): Promise<void> {
  const { content } = answer;
  const isGzip = content.kind === 'json' && acceptsGzip(request.headers['accept-encoding']);
  const plain = bytesOf(answer);
  // The fastest level: compression must not slow clients down.
  const body =
    fault === 'gzip-bomb' && isGzip ? explosive(plain) : isGzip ? await compress(plain, { level: 1 }) : plain;
  const type = content.kind === 'text' ? content.type : 'application/json';
  response.writeHead(answer.status, {
    ...(content.kind === 'nothing' ? {} : { 'content-type': `${type}; charset=utf-8` }),
    ...(answer.status === 204 ? {} : { 'content-length': body.length }),
    vary: 'accept-encoding',
    date: new Date(now).toUTCString(),
    ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
    ...answer.headers,
  });
  await writeBody(response, body, fault);
}

function bytesOf({ content }: Reply): Buffer {
  if (content.kind === 'nothing') return Buffer.alloc(0);
  return Buffer.from(content.kind === 'json' ? JSON.stringify(content.value) : content.text);
}

/** The body of a request; undefined if it is too long. Reads it to its end, so that the client gets an answer. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    length += (part as Buffer).length;
    if (length <= maxBodyBytes) parts.push(part as Buffer);
  }
  return length > maxBodyBytes ? undefined : Buffer.concat(parts);
}

/** Whether a client accepts gzip: it names it, or `*`, without the weight 0. */
function acceptsGzip(header: string | string[] | undefined): boolean {
  for (const choice of [header].flat().join(',').split(',')) {
    const [coding = '', weight = ''] = choice.split(';').map((part) => part.trim().toLowerCase());
    if (coding === 'gzip' || coding === '*') return !/^q=0(\.0*)?$/.test(weight);
  }
  return false;
}
