import { isLoopbackHost } from '../base/addresses.ts';
import type { Headers } from './callers.ts';
import { remember } from './maps.ts';
import { uuidOf } from './random.ts';
import { Refusal } from './refusal.ts';
import { eventStream, json, nothing, type Reply } from './reply.ts';

/** A tool of an MCP server. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object whose properties are all texts or numbers. */
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: Readonly<
      Record<string, { readonly type: 'string' | 'integer'; readonly description: string }>
    >;
    readonly required: readonly string[];
  };
  /** The text of the result. Throws ToolError if the tool fails. */
  run(given: Readonly<Record<string, unknown>>): string;
}

/** A tool that failed: its caller learns why, and the session goes on. */
export class ToolError extends Error {}

/** What a server is and can do. */
export interface McpServer {
  /** Sessions belong to one server. */
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly tools: readonly Tool[];
}

/** One request to an MCP endpoint. */
export interface McpRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** MCP servers over the streamable HTTP transport, with sessions. */
export interface McpServers {
  answer(server: McpServer, request: McpRequest): Reply;
  reset(): void;
}

/** Newest first. */
const protocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
/** The last version that allows several messages in one request. */
const batchVersion = '2025-03-26';
const maxSessions = 10_000;

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: string | number;
  readonly method?: unknown;
  readonly params?: Readonly<Record<string, unknown>>;
}

interface Session {
  readonly server: string;
  readonly protocolVersion: string;
}

/** An error of JSON-RPC. */
class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Servers without sessions yet. */
export function openMcpServers(): McpServers {
  const sessions = new Map<string, Session>();
  let opened = 0;

  function start(server: McpServer, message: Message): { readonly id: string; readonly result: object } {
    const wanted = message.params?.['protocolVersion'];
    if (typeof wanted !== 'string') throw new RpcError(-32602, 'initialize needs params.protocolVersion');
    const protocolVersion = protocolVersions.find((version) => version === wanted) ?? protocolVersions[0];
    opened += 1;
    const id = uuidOf(opened, `session ${server.id}`);
    remember(sessions, id, { server: server.id, protocolVersion }, maxSessions);
    const serverInfo = { name: server.name, version: server.version };
    return { id, result: { protocolVersion, capabilities: { tools: { listChanged: false } }, serverInfo } };
  }

  function sessionOf(server: McpServer, headers: Headers): Session {
    const id = headers['mcp-session-id'];
    if (typeof id !== 'string')
      throw new Refusal(400, 'missing_session', 'Mcp-Session-Id is missing: initialize first');
    const session = sessions.get(id);
    if (session === undefined || session.server !== server.id) {
      throw new Refusal(404, 'unknown_session', 'There is no such session: initialize again');
    }
    const version = headers['mcp-protocol-version'];
    if (version !== undefined && !protocolVersions.some((known) => known === version)) {
      throw new Refusal(400, 'invalid_protocol_version', `MCP-Protocol-Version ${String(version)} is not supported`);
    }
    return session;
  }

  function post(server: McpServer, { headers, body }: McpRequest): Reply {
    const accepted = acceptedTypes(headers);
    const messages = messagesOf(body);
    const [first] = messages;
    const isInitial = messages.length === 1 && first?.method === 'initialize';
    const session = isInitial ? undefined : sessionOf(server, headers);
    if (Array.isArray(body) && session?.protocolVersion !== batchVersion) {
      return json(failure(undefined, new RpcError(-32600, 'This version of MCP has one message in each request')), 400);
    }
    let sessionHeader = {};
    const answers = messages.flatMap((message) => {
      if (message.id === undefined) return [];
      try {
        if (message.method !== 'initialize') return [success(message, run(server, message))];
        const started = start(server, message);
        sessionHeader = { 'mcp-session-id': started.id };
        return [success(message, started.result)];
      } catch (error) {
        if (error instanceof RpcError) return [failure(message.id, error)];
        throw error;
      }
    });
    if (answers.length === 0) return nothing(202);
    const notices = messages.flatMap(progressOf);
    if (!accepted.json || (accepted.events && notices.length > 0)) {
      return eventStream(
        [...notices, ...answers].map((each) => JSON.stringify(each)),
        sessionHeader,
      );
    }
    return json(Array.isArray(body) ? answers : answers[0], 200, sessionHeader);
  }

  return {
    reset: () => sessions.clear(),
    answer(server, request) {
      refuseForeignOrigin(request.headers);
      switch (request.method) {
        case 'POST':
          return post(server, request);
        case 'DELETE':
          sessionOf(server, request.headers);
          sessions.delete(String(request.headers['mcp-session-id']));
          return nothing(204);
        default:
          // The server starts no messages of its own, so there is no stream to listen to.
          throw new Refusal(405, 'method_not_allowed', 'An MCP endpoint answers POST and DELETE', {
            allow: 'POST, DELETE',
          });
      }
    },
  };
}

/** The transport demands this against DNS rebinding. */
function refuseForeignOrigin({ origin }: Headers): void {
  if (typeof origin !== 'string') return;
  const host = URL.canParse(origin) ? new URL(origin).hostname : '';
  if (isLoopbackHost(host)) return;
  throw new Refusal(403, 'forbidden_origin', `Origin ${origin} is not allowed`);
}

function acceptedTypes({ accept }: Headers): { readonly json: boolean; readonly events: boolean } {
  const text = [accept ?? '*/*'].flat().join(',');
  const json = /\*\/\*|application\/(\*|json)/.test(text);
  const events = /\*\/\*|text\/(\*|event-stream)/.test(text);
  if (json || events) return { json, events };
  throw new Refusal(406, 'not_acceptable', 'Accept names neither application/json nor text/event-stream');
}

function messagesOf(body: unknown): readonly Message[] {
  const messages = Array.isArray(body) ? body : [body];
  const isRight = (each: unknown) =>
    typeof each === 'object' && each !== null && 'jsonrpc' in each && each.jsonrpc === '2.0';
  if (messages.length > 0 && messages.every(isRight)) return messages as Message[];
  throw new Refusal(400, 'invalid_body', 'The body is not a JSON-RPC 2.0 message');
}

function success({ id }: Message, result: object): object {
  return { jsonrpc: '2.0', id, result };
}

function failure(id: Message['id'], { code, message }: RpcError): object {
  return { jsonrpc: '2.0', id: id ?? null, error: { code, message } };
}

/** A client that wants to know the progress of a tool gets a stream that reports it. */
function progressOf({ method, params }: Message): object[] {
  const meta = params?.['_meta'] as { progressToken?: string | number } | undefined;
  if (method !== 'tools/call' || meta?.progressToken === undefined) return [];
  const { progressToken } = meta;
  return [
    { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } },
    { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 2, total: 2 } },
  ];
}

function run({ tools }: McpServer, { method, params = {} }: Message): object {
  switch (method) {
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: tools.map(({ run: _, ...tool }) => tool) };
    case 'tools/call': {
      const tool = tools.find(({ name }) => name === params['name']);
      if (tool === undefined) throw new RpcError(-32602, `Unknown tool: ${String(params['name'])}`);
      return callTool(tool, (params['arguments'] ?? {}) as Readonly<Record<string, unknown>>);
    }
    default:
      throw new RpcError(-32601, `Method not found: ${String(method)}`);
  }
}

function callTool(tool: Tool, given: Readonly<Record<string, unknown>>): object {
  const { properties, required } = tool.inputSchema;
  const problems = [
    ...required.filter((name) => given[name] === undefined).map((name) => `${name} is missing`),
    ...Object.entries(given).flatMap(([name, value]) => {
      const type = properties[name]?.type;
      if (type === undefined) return [`${name} is not an argument`];
      const isRight = type === 'string' ? typeof value === 'string' : Number.isInteger(value);
      return isRight ? [] : [`${name} is not of type ${type}`];
    }),
  ];
  if (problems.length > 0) throw new RpcError(-32602, `${tool.name}: ${problems.join('; ')}`);
  try {
    return { content: [{ type: 'text', text: tool.run(given) }], isError: false };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}
