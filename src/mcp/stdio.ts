import type { Readable, Writable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';

/**
 * Serves one client on these streams, a process' stdin and stdout, until it closes its end or the signal aborts. `onFault`
 * gets what goes wrong outside of an answer.
 */
export async function serveOnStdio(
  open: () => McpServer,
  {
    stdin,
    stdout,
    signal,
    onFault,
  }: {
    readonly stdin: Readable;
    readonly stdout: Writable;
    readonly signal: AbortSignal;
    onFault(words: string): void;
  },
): Promise<void> {
  const transport = new StdioServerTransport(stdin, stdout);
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
