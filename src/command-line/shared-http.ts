import type { HttpSend } from '../base/effects.ts';
import type { HttpClient, ProgramEffects } from '../base/program-effects.ts';
import { openWaitingRequests, type WaitingRequests } from '../terminal/waiting.ts';

/** The requests of one command: its clients, what they wait for, and how they were answered. */
export interface SharedHttp {
  /** A client with this many sockets per origin. */
  open(connections: number): HttpSend;
  /** Number of answers by status; `none` counts requests without a complete answer. */
  answers(): ReadonlyMap<string, number>;
  readonly waiting: WaitingRequests;
  /** Closes every client. */
  close(): Promise<void>;
}

export function openSharedHttp(
  { openHttp, elapsed }: Pick<ProgramEffects, 'openHttp' | 'elapsed'>,
  signal: AbortSignal,
): SharedHttp {
  const answers = new Map<string, number>();
  const waiting = openWaitingRequests(elapsed);
  const clients: Promise<HttpClient>[] = [];
  function count(status: string): void {
    answers.set(status, (answers.get(status) ?? 0) + 1);
  }
  return {
    waiting,
    answers: () => answers,
    open(connections) {
      const opened = openHttp(connections);
      // The first request throws this failure; nothing awaits it before.
      opened.catch(() => undefined);
      clients.push(opened);
      return async (request) => {
        const { send } = await opened;
        try {
          const response = await waiting.during(request, send(request));
          count(String(response.status));
          return response;
        } catch (error) {
          if (!signal.aborted) count('none');
          throw error;
        }
      };
    },
    async close() {
      await Promise.allSettled(clients.map(async (client) => (await client).close()));
    },
  };
}
