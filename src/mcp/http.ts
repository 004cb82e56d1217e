import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';

/** Answers requests of the streamable HTTP transport, each with a server of its own. It checks neither tokens nor hosts. */
export function openMcpHttp(
  open: () => McpServer,
  onFault: (words: string) => void,
): (request: Request) => Promise<Response> {
  const handler = createMcpHandler(() => open(), {
    onerror: (error) => onFault(error.message),
    // Nothing that it offers changes: a subscription would only hold a connection.
    maxSubscriptions: 0,
  });
  return (request) => handler.fetch(request);
}
