import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterFile } from './clean-up.ts';

const tls = (name: string) => readFileSync(new URL(`../support/tls/${name}.pem`, import.meta.url));
/** Serves on all addresses of this machine until the test file ends. Returns the port. */
export async function listenEverywhere(answer: RequestListener, isEncrypted: boolean): Promise<number> {
  const server = isEncrypted ? createTlsServer({ key: tls('key'), cert: tls('cert') }, answer) : createServer(answer);
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  afterFile(async () => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

export interface ProxyManners {
  readonly isEncrypted?: boolean;
  /** Sends the address of the server behind it as Host, as many proxies do by themselves. */
  readonly replacesHost?: boolean;
  /** It says nothing about the scheme by which it was asked. */
  readonly isSilent?: boolean;
}

/** A reverse proxy to a port, which is known only later. Returns its own. */
export function proxy(
  to: () => number,
  { isEncrypted = false, replacesHost = false, isSilent = false }: ProxyManners,
): Promise<number> {
  return listenEverywhere((asked, answer) => {
    const said = asked.headers['x-forwarded-proto'];
    const proto = [said, isEncrypted ? 'https' : 'http'].filter((one) => one !== undefined).join(', ');
    const headers = {
      ...asked.headers,
      ...(replacesHost ? { host: `127.0.0.1:${to()}` } : {}),
      ...(isSilent ? {} : { 'x-forwarded-proto': proto }),
    };
    const onward = request({ port: to(), path: asked.url, method: asked.method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    asked.pipe(onward);
  }, isEncrypted);
}

/** A port that nothing uses. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: found } = server.address() as AddressInfo;
  server.close();
  return found;
}
