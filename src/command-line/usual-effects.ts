import { setTimeout as sleepFor } from 'node:timers/promises';
import type { Environment, ProgramEffects } from '../base/program-effects.ts';

/** The effects that do not depend on whose process it is: time, chance and the network. */
export function usualEffects(
  env: Environment,
): Pick<ProgramEffects, 'clock' | 'elapsed' | 'random' | 'sleep' | 'later' | 'everyMinute' | 'openHttp'> {
  return {
    clock: Date.now,
    elapsed: () => performance.now(),
    random: Math.random,
    sleep: (ms, signal) =>
      sleepFor(ms, undefined, { signal }).catch(() => {
        throw signal.reason;
      }),
    later: (ms, action) => void setTimeout(action, ms).unref(),
    everyMinute: async (action) => (await import('../jobs/every-minute.ts')).everyMinute(action),
    // Loaded with the first request: most commands make none.
    openHttp: async (connections) => (await import('../platform/index.ts')).openHttp({ connections, env }),
  };
}
