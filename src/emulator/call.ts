import type { Operation } from '../platform/interface/index.ts';
import type { Instant } from '../time/time.ts';
import type { Callbacks } from './callbacks.ts';
import type { Caller, Headers } from './callers.ts';
import type { FaultPlan } from './fault-plan.ts';
import type { Surroundings } from './listed-items.ts';
import type { Shelves } from './listings.ts';
import type { Parameters } from './parameters.ts';
import type { Reply } from './reply.ts';
import type { Story } from './sample-costs.ts';
import type { UsageChanges } from './usage-changes.ts';
import type { World } from './world.ts';

/** One emulated account with everything in it. */
export interface Account {
  readonly story: Story;
  readonly world: World;
  readonly changes: UsageChanges;
  readonly shelves: Shelves;
  readonly metrics: (call: Call) => Reply;
  readonly resourceTypes: (call: Call) => Reply;
}

/** A checked request to one operation. */
export interface Call {
  readonly account: Account;
  /** Undefined for somebody without a token, who may only use public functions. */
  readonly caller: Caller | undefined;
  readonly operation: Operation;
  readonly method: string;
  /** Path parameters and the thread. */
  readonly values: Readonly<Record<string, string>>;
  readonly parameters: Parameters;
  /** The JSON body; undefined if there is none. */
  readonly body: unknown;
  readonly headers: Headers;
  readonly version: string;
  readonly now: Instant;
  readonly calledExpired: boolean;
  readonly faults: FaultPlan;
  readonly surroundings: Surroundings;
  readonly callbacks: Callbacks;
}

/** A path parameter. Throws if the operation has no such parameter: that is a bug of ours. */
export function pathValue({ values }: Pick<Call, 'values'>, name: string): string {
  const value = values[name];
  if (value === undefined) throw new TypeError(`${name} is not in the path`);
  return value;
}
