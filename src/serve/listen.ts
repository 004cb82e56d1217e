import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { MachineError, messageOf } from '../errors.ts';

/** An address holds a query of 8 kB, with three bytes for each of its signs. */
const maxHeaderSize = 32_768;
/** How often connections are looked at, in milliseconds. */
const connectionsCheckingInterval = 1000;
const maxConnections = 512;
/** Requests of one connection that wait for its answer before. Browsers and proxies send none so early. */
const maxWaiting = 2;

/** What clients that read slowly, or not at all, may hold. */
export interface UnsentLimits {
  /** All connections together. */
  readonly bytes: number;
  /** A connection of which nothing was sent for so long is ended. */
  readonly stallMs: number;
}

const usualLimits: UnsentLimits = { bytes: 256 * 1024 * 1024, stallMs: 60_000 };

/** A server that listens. */
export interface Listening {
  readonly address: AddressInfo;
  close(): void;
}

/**
 * Answers HTTP requests with `fetch`. A client that does not read costs little: each connection has one answer at a time, the
 * unsent bytes of all connections are bounded, and a connection of which nothing is read is ended. Throws MachineError if
 * the port is not available.
 */
export async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  { host, port, limits = usualLimits }: { host: string; port: number; limits?: UnsentLimits },
): Promise<Listening> {
  const server = createServer(
    { maxHeaderSize, connectionsCheckingInterval },
    oneAtATime(getRequestListener(fetch as Parameters<typeof getRequestListener>[0])),
  );
  server.headersTimeout = 5000;
  server.requestTimeout = 20_000;
  server.keepAliveTimeout = 5000;
  server.maxConnections = maxConnections;
  const watch = endStalled(server, limits);
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    clearInterval(watch);
    throw new MachineError(`--port: cannot listen on ${host}:${port}: ${messageOf(error)}`, { cause: error });
  }
  return {
    address: server.address() as AddressInfo,
    close() {
      clearInterval(watch);
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Answers the requests of a connection one after another, each when the one before is with the client's machine. */
function oneAtATime(answer: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, (() => void)[]>();
  return (incoming, outgoing) => {
    const { socket } = incoming;
    const queue = waiting.get(socket);
    if (queue !== undefined && queue.length >= maxWaiting) end(socket);
    if (socket.destroyed) return;
    function start(): void {
      outgoing.once('finish', () => {
        const next = waiting.get(socket)?.shift();
        if (next === undefined) waiting.delete(socket);
        else next();
      });
      answer(incoming, outgoing);
    }
    if (queue === undefined) {
      waiting.set(socket, []);
      start();
    } else queue.push(start);
  };
}

/** Ends a connection. Node would go on to read the requests that it has received: its parser is stopped, where it can be. */
function end(socket: Socket): void {
  socket.destroy();
  (socket as { readonly parser?: { pause?(): void } | null }).parser?.pause?.();
}

/** Ends connections of which nothing is read, and those with most unsent bytes while all have too many. */
function endStalled(server: Server, { bytes, stallMs }: UnsentLimits): NodeJS.Timeout {
  const open = new Map<Socket, { unsent: number; since: number }>();
  server.on('connection', (socket: Socket) => {
    open.set(socket, { unsent: 0, since: Date.now() });
    socket.once('close', () => open.delete(socket));
  });
  const watch = setInterval(() => {
    const now = Date.now();
    let total = 0;
    for (const [socket, seen] of open) {
      const unsent = socket.writableLength;
      if (unsent === 0 || unsent !== seen.unsent) open.set(socket, { unsent, since: now });
      else if (now - seen.since >= stallMs) socket.destroy();
      total += unsent;
    }
    for (const socket of [...open.keys()].sort((a, b) => b.writableLength - a.writableLength)) {
      if (total <= bytes) break;
      total -= socket.writableLength;
      socket.destroy();
    }
  }, connectionsCheckingInterval);
  watch.unref();
  return watch;
}
