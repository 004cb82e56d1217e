import type { Account } from './call.ts';
import type { FaultPlan } from './fault-plan.ts';
import { openHourlyCosts } from './hourly-costs.ts';
import { openShelves } from './listings.ts';
import { metricsAnswerer, resourceTypesAnswerer } from './metrics-answers.ts';
import { inventStory, type StoryOptions } from './sample-costs.ts';
import { inventFleet } from './sample-listings.ts';
import { openUsageChanges } from './usage-changes.ts';
import { openWorld } from './world.ts';

/** An invented account, in which clients have not done anything yet. */
export function openAccount(options: StoryOptions, faults: FaultPlan): Account {
  const story = inventStory(options);
  const world = openWorld(inventFleet(options));
  const changes = openUsageChanges(story);
  const hourlyCosts = openHourlyCosts(story, () => faults.lateShare, changes);
  return {
    story,
    world,
    changes,
    shelves: openShelves(world, {
      leavesOut: ({ workspace, kind, name }) => faults.leavesUnlisted(`${workspace}/${kind}/${name}`),
      overcounts: (kind) => faults.overcounts(kind),
    }),
    metrics: metricsAnswerer(story, hourlyCosts, changes, faults),
    resourceTypes: resourceTypesAnswerer(story, hourlyCosts),
  };
}
