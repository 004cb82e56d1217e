import { anomalyAddress, budgetAddress } from '../text/dashboard-address.ts';
import type { AlertFact } from './alert-fact.ts';

/**
 * The page of the dashboard that shows what an alert is about; undefined if no dashboard is configured. Only the address
 * comes from the configuration: names from outside are encoded.
 */
export function dashboardLink(dashboard: string | undefined, key: string, fact: AlertFact): string | undefined {
  if (dashboard === undefined) return undefined;
  switch (fact.kind) {
    case 'budget':
      return dashboard + budgetAddress(fact.budget);
    case 'anomaly':
      return dashboard + anomalyAddress(key);
    case 'closed_month':
      return `${dashboard}/months`;
    case 'dimension':
      return `${dashboard}/explore?group=billing_dimension`;
    default:
      return `${dashboard}/health`;
  }
}
