import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { MachineError, messageOf } from './errors.ts';

/** An address holds a query of 8 kB, with three bytes for each of its signs. */
const maxHeaderSize = 32_768;
/** How often connections are looked at, in milliseconds. */
const connectionsCheckingInterval = 1000;
/** Requests of one connection that wait for its answer before. Browsers and proxies send none so early. */
const maxWaiting = 2;
/** A body may have this many pieces of any size; more must be larger on average, in bytes: each takes time of the only thread. */
const [freePieces, leastPiece] = [1000, 16];

/** What clients that read slowly, or not at all, may hold. */
export interface ClientLimits {
  /** Unsent bytes of all connections together. */
  readonly bytes: number;
  /** A connection of which nothing was sent for so long is ended. */
  readonly stallMs: number;
  /** Where there are more, those end first that wait for their clients. */
  readonly connections: number;
}

const usualLimits: ClientLimits = { bytes: 256 * 1024 * 1024, stallMs: 60_000, connections: 512 };

/** A server that listens. */
export interface Listening {
  /** `http://127.0.0.1:8620` */
  readonly url: string;
  readonly address: AddressInfo;
  close(): void;
}

/** A connection, and what happens on it. */
interface Connection {
  /** What is answered now; undefined while the client has asked nothing. */
  exchange: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse } | undefined;
  /** The requests whose turn comes after it. */
  readonly waiting: (() => void)[];
  /** When its last answer began or ended, or it was opened. */
  since: number;
  /** What is not sent yet, in a form that changes with each byte. */
  unsent: string;
  unsentSince: number;
}

type Connections = Map<Socket, Connection>;

/**
 * Answers HTTP requests. A client that does not read, or sends nothing, costs little: each connection has one answer at a
 * time, the unsent bytes of all connections are bounded, a connection of which nothing is read is ended, and a new connection
 * takes the place of the one that waits longest for its client. Throws MachineError, which names `option`, if the port
 * is not available.
 */
export async function listen(
  answer: RequestListener,
  { host, port, option, limits = usualLimits }: { host: string; port: number; option: string; limits?: ClientLimits },
): Promise<Listening> {
  const open: Connections = new Map();
  const inTurn = oneAtATime(answer, open);
  // Node itself would answer requests without a host, and those that expect something, however many there are.
  const server = createServer({ maxHeaderSize, connectionsCheckingInterval, requireHostHeader: false }, inTurn);
  server.on('checkExpectation', inTurn);
  server.headersTimeout = 5000;
  server.requestTimeout = 20_000;
  server.keepAliveTimeout = 5000;
  keepConnections(server, open, limits);
  const watch = endStalled(open, limits);
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    clearInterval(watch);
    throw new MachineError(`${option}: cannot listen on ${host}:${port}: ${messageOf(error)}`, { cause: error });
  }
  const address = server.address() as AddressInfo;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${shown}:${address.port}`,
    address,
    close() {
      clearInterval(watch);
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Answers the requests of a connection one after another, each when the one before is with the client's machine. */
function oneAtATime(answer: RequestListener, open: Connections): RequestListener {
  return (incoming, outgoing) => {
    const { socket } = incoming;
    const connection = open.get(socket);
    if (connection === undefined || connection.waiting.length >= maxWaiting) {
      end(socket);
      return;
    }
    const { waiting } = connection;
    const isInPieces = incoming.headers['transfer-encoding'] !== undefined;
    if (isInPieces) refuseSmallPieces(incoming);
    function start(next: NonNullable<Connection['exchange']>): void {
      Object.assign(connection as Connection, { exchange: next, since: Date.now() });
      outgoing.once('finish', () => {
        // Nobody reads the rest of its body, and nobody counts its pieces.
        if (isInPieces && !incoming.complete) end(socket);
        Object.assign(connection as Connection, { exchange: undefined, since: Date.now() });
        waiting.shift()?.();
      });
      answer(incoming, outgoing);
    }
    if (connection.exchange === undefined) start({ incoming, outgoing });
    else waiting.push(() => start({ incoming, outgoing }));
  };
}

/** Ends the connection of a body that comes in many small pieces. */
function refuseSmallPieces(incoming: IncomingMessage): void {
  let [pieces, bytes] = [0, 0];
  const push = incoming.push.bind(incoming);
  incoming.push = (piece: Buffer | null) => {
    if (incoming.socket.destroyed) return false;
    pieces += 1;
    bytes += piece?.length ?? 0;
    if (pieces <= freePieces || bytes >= leastPiece * pieces) return push(piece);
    end(incoming.socket);
    return false;
  };
}

/**
 * Ends a connection. Node would still make a request, and an error with its stack, of each that it has received; 2 is
 * what it answers its parser where no HTTP follows.
 */
function end(socket: Socket): void {
  socket.destroy();
  const { parser } = socket as { parser?: { onIncoming?: () => number } | null };
  if (parser) parser.onIncoming = () => 2;
}

/** Knows the open connections. One too many takes the place of the one that is worth least: nobody is locked out. */
function keepConnections(server: Server, open: Connections, { connections }: ClientLimits): void {
  // Those of one moment are opened before any of the others is closed.
  server.maxConnections = 2 * connections;
  server.on('connection', (socket: Socket) => {
    const now = Date.now();
    if (open.size >= connections) leastOf(open)?.destroy();
    open.set(socket, { exchange: undefined, waiting: [], since: now, unsent: '', unsentSince: now });
    socket.once('close', () => open.delete(socket));
  });
}

/** The connection that has waited longest for its client to ask, or else to read; otherwise the one with the oldest answer. */
function leastOf(open: Connections): Socket | undefined {
  let least: { readonly socket: Socket; readonly worth: number; readonly since: number } | undefined;
  for (const [socket, { exchange, since }] of open) {
    if (socket.destroyed) continue;
    const worth = !exchange?.incoming.complete ? 0 : exchange.outgoing.writableEnded ? 1 : 2;
    if (least === undefined || worth < least.worth || (worth === least.worth && since < least.since))
      least = { socket, worth, since };
  }
  return least?.socket;
}

/** Ends connections of which nothing is read, and those with most unsent bytes while all have too many. */
function endStalled(open: Connections, { bytes, stallMs }: ClientLimits): NodeJS.Timeout {
  const watch = setInterval(() => {
    const now = Date.now();
    let total = 0;
    for (const [socket, connection] of open) {
      const { writableLength, _handle: system } = socket as Socket & { _handle?: { writeQueueSize?: number } | null };
      // Node counts a piece as unsent until the last byte of it is sent, whatever its size; the system's count goes down.
      const unsent = `${writableLength} ${system?.writeQueueSize}`;
      if (writableLength === 0 || unsent !== connection.unsent) Object.assign(connection, { unsent, unsentSince: now });
      else if (now - connection.unsentSince >= stallMs) socket.destroy();
      total += writableLength;
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
