// A process that serves an account's pages, each made and gzipped once: `node platform.js '{"series":…,"zeroShare":…}'`.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { openAccount } from './account.ts';

const account = openAccount(JSON.parse(process.argv[2] ?? '{}'));
const made = new Map<string, Buffer>();
let latencyMs = 0;
let asked: string[] = [];
let bytes = 0;

const server = createServer((request, response) => {
  const path = request.url ?? '/';
  const url = new URL(path, 'http://localhost');
  if (url.pathname === '/bench/begin') {
    latencyMs = Number(url.searchParams.get('latencyMs'));
    asked = [];
    bytes = 0;
    response.end();
    return;
  }
  if (url.pathname === '/bench/correct') {
    const [fromHour, oneOf, number] = ['fromHour', 'oneOf', 'number'].map((name) => Number(url.searchParams.get(name)));
    account.correct({ fromHour: fromHour ?? 0, oneOf: oneOf ?? 1, number: number ?? 0 });
    made.clear();
    response.end();
    return;
  }
  if (url.pathname === '/bench/asked') {
    response.end(JSON.stringify({ asked, bytes }));
    return;
  }
  if (!url.pathname.endsWith('/metrics')) {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end('{"error":"not_found","code":404,"message":"only metrics are served here"}');
    return;
  }
  asked.push(path);
  let body = made.get(path);
  if (body === undefined) {
    body = gzipSync(account.page(url.searchParams), { level: 1 });
    made.set(path, body);
  }
  bytes += body.length;
  const answer = body;
  setTimeout(() => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'content-length': answer.length,
    });
    response.end(answer);
  }, latencyMs);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
// The process that started it is gone when this ends.
process.stdin.resume().on('end', () => process.exit());
