import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MachineError, messageOf } from '../errors.ts';

/** The answers by path. */
export type HealthAnswers = Readonly<
  Record<string, () => Promise<{ readonly status: number; readonly type?: string; readonly body: string }>>
>;

/** Serves GET and HEAD for a few paths over plain HTTP. Throws MachineError if the port is not available. */
export async function serveHealth(
  { host, port }: { readonly host: string; readonly port: number },
  answers: HealthAnswers,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*$/, '');
    const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
    function send(status: number, type: string, body: string): void {
      response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
      response.end(request.method === 'HEAD' ? undefined : body);
    }
    const plain = 'text/plain; charset=utf-8';
    if (answer === undefined) return send(404, plain, `expected one of ${Object.keys(answers).join(', ')}\n`);
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(405, plain, 'expected GET\n');
    answer().then(
      ({ status, type = plain, body }) => send(status, type, body),
      (error: unknown) => send(500, plain, `${messageOf(error)}\n`),
    );
  });
  // Requests are short, and clients have no reason to stay connected.
  server.headersTimeout = 5000;
  server.requestTimeout = 5000;
  server.keepAliveTimeout = 1000;
  server.maxConnections = 64;
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    throw new MachineError(`--health-port: cannot listen on ${host}:${port}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const { address, port: real, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${real}`,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
