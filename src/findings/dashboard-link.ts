import { type AlertFact, wordsOfKind } from './kinds/index.ts';

/**
 * The page of the dashboard that shows what an alert is about; undefined if no dashboard is configured. Only the address
 * comes from the configuration: names from outside are encoded.
 */
export function dashboardLink(dashboard: string | undefined, key: string, fact: AlertFact): string | undefined {
  if (dashboard === undefined) return undefined;
  return dashboard + (wordsOfKind(fact).page?.({ ...fact, key }) ?? '/health');
}
