import type { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';

/**
 * Serves one client on stdin and stdout until it closes its end or the signal aborts. `onFault` gets what goes wrong
 * outside of an answer.
 */
export async function serveOnStdio(
  open: () => McpServer,
  { signal, onFault }: { readonly signal: AbortSignal; onFault(words: string): void },
): Promise<void> {
  const transport = new StdioServerTransport();
  const handle = serveStdio(open, { transport, onerror: (error) => onFault(error.message) });
  await new Promise<void>((resolve) => {
    const closed = transport.onclose;
    transport.onclose = () => {
      closed?.();
      resolve();
    };
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await handle.close();
}
