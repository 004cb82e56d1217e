import type { AlertingContext } from '../alerts/index.ts';

/** What the checks of a project need: its folder, the outside world, and how to hide secrets. */
export type HealthContext = AlertingContext;
