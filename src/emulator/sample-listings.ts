import { dayMs, hourMs, type Instant } from '../time/time.ts';
import { hashText, mix, toUnit, uuidOf } from './random.ts';
import { appearances, instanceOf, runawayHour, type StoryOptions } from './sample-costs.ts';
import { type Edit, edits, type Mount, type Traits, traits, traitsOfPassing, unbilled } from './sample-labels.ts';
import type { Part } from './sample-resources.ts';

/** What the fleet has. Images, connections and snapshots follow from it: see `assets.ts`. */
export type ResourceKind = 'sandbox' | 'agent' | 'function' | 'job' | 'model' | 'policy' | 'volume' | 'customdomain';

/** The state of a resource from an instant until its next state. */
export interface Look extends Traits {
  readonly from: Instant;
  readonly by: string;
}

/** A listed resource and its life. */
export interface Resource {
  readonly kind: ResourceKind;
  readonly workspace: string;
  readonly name: string;
  /** Its key for random numbers. */
  readonly key: number;
  /** The ID of the instance that runs it; metrics can be filtered by it. */
  readonly instance: string;
  readonly createdAt: Instant;
  /** When it was terminated; infinite if it is alive. Only sandboxes are terminated. */
  readonly terminatedAt: Instant;
  /** When no listing contains it any longer. */
  readonly goneAt: Instant;
  /** When its snapshots are gone, too. */
  readonly storedUntil: Instant;
  /** Oldest first; the first one starts at its creation. */
  readonly looks: readonly Look[];
  /** The part of its spec that differs within its kind. */
  readonly spec: Readonly<Record<string, unknown>>;
}

const kindOfType = {
  sandbox: 'sandbox',
  agent: 'agent',
  job: 'job',
  mcp_server: 'function',
  volume: 'volume',
  custom_domain: 'customdomain',
} as const satisfies Record<Part['type'], ResourceKind>;

/** A sandbox with traits of its own has a longer retention: nobody has cleaned up after it. */
const legacyRetentionMs = 400 * dayMs;
/** How long snapshots outlive their sandbox. */
const snapshotDays = 30;

/** Everything in the listings, over all time; costs of the story use the same names. */
export function inventFleet(options: StoryOptions): Resource[] {
  const { seed, since, retentionMs } = options;
  const fleet: Resource[] = [];
  for (const { part, copy, identity, name, fromHour, toHour } of appearances(options)) {
    const kind = kindOfType[part.type];
    // A domain of the account is in no workspace.
    if (part.workspace === undefined) continue;
    const createdAt = fromHour * hourMs;
    const terminatedAt = toHour * hourMs;
    const place = `${part.workspace}/${part.name}`;
    const key = hashText(seed, `listed ${identity}`);
    const hasTraits = kind !== 'volume' && kind !== 'customdomain';
    const own = traits[place] ?? (hasTraits ? traitsOfPassing(name, hashText(7, name)) : {});
    const changes = part.runsAway === true && copy === 0 ? [deployedBeforeRunaway(options)] : (edits[place] ?? []);
    fleet.push({
      kind,
      workspace: part.workspace,
      name,
      key,
      instance: instanceOf(uuidOf(seed, `resource ${identity}`)),
      createdAt,
      terminatedAt,
      goneAt: terminatedAt + (place in traits ? Math.max(legacyRetentionMs, retentionMs) : retentionMs),
      storedUntil: terminatedAt + Math.max(part.storedDays ?? 0, snapshotDays) * dayMs,
      looks: looksOf(createdAt, since, copy === 0 ? own : asOwnedBy(own, copy, key), changes, copy, key),
      spec: kind === 'volume' ? { gigabytes: Math.round((part.habits[0]?.perHour ?? 0) / 3600) } : {},
    });
  }
  for (const { kind, workspace, name, fromDay, spec } of unbilled) {
    const createdAt = since + fromDay * dayMs;
    const place = `${workspace}/${name}`;
    fleet.push({
      kind,
      workspace,
      name,
      key: hashText(seed, `listed ${kind} ${place}`),
      instance: instanceOf(uuidOf(seed, `instance ${kind} ${place}`)),
      createdAt,
      terminatedAt: Number.POSITIVE_INFINITY,
      goneAt: Number.POSITIVE_INFINITY,
      storedUntil: Number.POSITIVE_INFINITY,
      looks: looksOf(createdAt, since, traits[place] ?? {}, edits[place] ?? [], 0, 0),
      spec,
    });
  }
  return fleet;
}

/** Three hours before the agent runs away, somebody deploys it with more memory. */
function deployedBeforeRunaway(options: StoryOptions): Edit {
  const at = (runawayHour(options) - 3) * hourMs - 8 * 60_000;
  return { day: (at - options.since) / dayMs, by: 'svc-deploy', change: { memoryMb: 4096 } };
}

/** The states of a life: as created, then after each edit during its life. Twins are edited on other days. */
function looksOf(
  createdAt: Instant,
  since: Instant,
  first: Traits,
  changes: readonly Edit[],
  copy: number,
  key: number,
): Look[] {
  const looks: Look[] = [{ ...first, from: createdAt, by: first.createdBy ?? 'svc-deploy' }];
  for (const { day, by, change } of changes) {
    const shiftMs = copy === 0 ? 0 : Math.floor(toUnit(mix(key, Math.round(day))) * 60) * dayMs;
    const from = Math.round(since + day * dayMs) + shiftMs;
    const last = looks.at(-1);
    if (last === undefined || from <= last.from) continue;
    const { labels, ...rest } = change;
    looks.push({
      ...last,
      ...rest,
      ...(labels === undefined ? {} : { labels: relabelled(last.labels, labels) }),
      from,
      by,
    });
  }
  return looks;
}

function relabelled(
  labels: Traits['labels'],
  change: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const all = Object.entries({ ...labels, ...change });
  return Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** The traits of a twin: somebody copied them, and forgot or misspelt some. */
function asOwnedBy(own: Traits, copy: number, key: number): Traits {
  const { labels, ...rest } = own;
  const twin: Traits = {
    ...rest,
    ...(own.displayName === undefined ? {} : { displayName: `${own.displayName} ${copy + 1}` }),
    ...(own.externalId === undefined ? {} : { externalId: `${own.externalId}-${copy + 1}` }),
    ...(own.mounts === undefined ? {} : { mounts: own.mounts.map((mount) => twinOf(mount, copy)) }),
  };
  const chance = toUnit(mix(key, 0x1abe1));
  if (labels === undefined || chance < 0.1) return twin;
  const { team, ...others } = labels;
  if (team === undefined || chance < 0.18) return { ...twin, labels: others };
  const spelt = chance < 0.26 ? misspelt(team) : chance < 0.36 ? team.toLowerCase() : team;
  return { ...twin, labels: { team: spelt, ...others } };
}

/** A twin mounts the twin of the volume. */
function twinOf(mount: Mount, copy: number): Mount {
  return mount.type === 'persistent' ? { ...mount, name: `${mount.name}-${copy + 1}` } : mount;
}

/** Swaps two letters: Payments, Paymnets. */
function misspelt(text: string): string {
  const at = Math.floor(text.length / 2);
  return (
    text.slice(0, at) +
    text
      .slice(at, at + 2)
      .split('')
      .reverse()
      .join('') +
    text.slice(at + 2)
  );
}

/** The state of a resource at an instant; undefined before its creation and after its end. */
export function lookAt({ createdAt, goneAt, looks }: Resource, at: Instant): Look | undefined {
  return at < createdAt || at >= goneAt ? undefined : looks.findLast(({ from }) => from <= at);
}
