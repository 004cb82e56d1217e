import type { Account } from './call.ts';
import type { FaultPlan } from './fault-plan.ts';
import { openHourlyCosts } from './hourly-costs.ts';
import { openShelves } from './listings.ts';
import { metricsAnswerer, resourceTypesAnswerer } from './metrics-answers.ts';
import { inventStory, type Story, type StoryOptions } from './sample-costs.ts';
import { inventFleet } from './sample-listings.ts';
import { openUsageChanges } from './usage-changes.ts';
import { openWorld } from './world.ts';

/** An invented account, in which clients have not done anything yet; `number` counts from 0. */
export function openAccount(options: StoryOptions, number: number, faults: FaultPlan): Account {
  const story = numbered(inventStory(options), number);
  const world = openWorld(inventFleet(options));
  const changes = openUsageChanges(story);
  const hourlyCosts = openHourlyCosts(story, () => faults.lateShare, changes);
  return {
    story,
    world,
    changes,
    shelves: openShelves(story.account.id, world, {
      leavesOut: ({ workspace, kind, name }) => faults.leavesUnlisted(`${workspace}/${kind}/${name}`),
      overcounts: (kind) => faults.overcounts(kind),
    }),
    metrics: metricsAnswerer(story, hourlyCosts, changes, faults),
    resourceTypes: resourceTypesAnswerer(story, hourlyCosts),
  };
}

/** The accounts after the first have a number in their names. */
function numbered(story: Story, number: number): Story {
  if (number === 0) return story;
  const { id, displayName } = story.account;
  return { ...story, account: { id: `${id}-${number + 1}`, displayName: `${displayName} ${number + 1}` } };
}
