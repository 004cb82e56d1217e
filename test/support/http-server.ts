import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterTest } from './clean-up.ts';
import { listen } from './listen.ts';

/** A request as it came in. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly atMs: number;
}

/** Says one answer, or does something worse to the connection. */
export type Reply = (response: ServerResponse, request: SeenRequest) => void;

export interface TestServer {
  readonly url: string;
  /** Everything asked so far, oldest first. */
  readonly seen: SeenRequest[];
  close(): Promise<void>;
}

/** A real HTTP server on a free port of 127.0.0.1; it ends with the test. */
export async function startServer(reply: Reply): Promise<TestServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const url = request.url ?? '/';
    const query = new URL(url, 'http://127.0.0.1').searchParams;
    const asked = { method: request.method ?? '', url, query, headers: request.headers, atMs: Date.now() };
    seen.push(asked);
    reply(response, asked);
  });
  const port = await listen(server);
  const started: TestServer = {
    url: `http://127.0.0.1:${port}`,
    seen,
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  afterTest(() => started.close());
  return started;
}

/** Says one reply after the other; the last one again and again. */
export function inTurn(...replies: readonly Reply[]): Reply {
  let next = 0;
  return (response, request) => {
    const reply = replies[Math.min(next, replies.length - 1)];
    next += 1;
    reply?.(response, request);
  };
}

/** An answer: text as it is, anything else as JSON. */
export function answer(body: unknown, status = 200, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** An error body as 2.14 words it. */
export function refuse(status: number, error: string, message: string, headers: Record<string, string> = {}): Reply {
  return answer({ error, code: status, message }, status, headers);
}

/** A 200 that comes gzipped, whole or only its first bytes (with a content-length that does not give it away). */
export function gzipped(body: unknown, keep = Number.POSITIVE_INFINITY): Reply {
  return (response) => {
    const bytes = gzipSync(typeof body === 'string' ? body : JSON.stringify(body)).subarray(0, keep);
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bytes.length });
    response.end(bytes);
  };
}

/** A 200 that ends the connection after half of the announced length. */
export function cutShort(body: unknown): Reply {
  return (response) => {
    const text = JSON.stringify(body);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
    response.write(text.slice(0, text.length / 2), () => response.destroy());
  };
}

/** A connection that is reset before any answer. */
export const reset: Reply = (response) => {
  response.req.socket.resetAndDestroy();
};

/** A 200 that arrives in parts with a pause between them. */
export function dripping(body: unknown, pauseMs: number): Reply {
  return (response) => {
    const text = JSON.stringify(body);
    const chunks = [text.slice(0, 5), text.slice(5, 9), text.slice(9)];
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
    const timer = setInterval(() => {
      response.write(chunks.shift() ?? '');
      if (chunks.length > 0) return;
      clearInterval(timer);
      response.end();
    }, pauseMs);
  };
}
