import { schedule as scheduleCron, setLogger } from 'node-cron';

/** Calls `tick` at every full minute of real time until stopped. */
export function everyMinute(tick: () => void): { stop(): void } {
  // The library would log to stdout; the caller logs what matters.
  const silent = () => undefined;
  setLogger({ info: silent, warn: silent, error: silent, debug: silent });
  // It does not compute slots: in a zone with summer time it would leave some out.
  const task = scheduleCron('* * * * *', tick, { timezone: 'UTC', noOverlap: true });
  return { stop: () => void task.destroy() };
}
