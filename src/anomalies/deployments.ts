import { textOrNull } from '../tables/optional-text.ts';
import { hourMs } from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';

/** A setting of a resource that changed; null stands for none. */
export interface ChangedSetting {
  /** `memory_mb`, `generation`, `region`, `image`, `revision`, `min_scale` or `max_scale`. */
  readonly name: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** Something that was deployed, or a change of settings, or both. */
export interface Deployment {
  readonly workspace: string;
  readonly resourceType: string;
  readonly resourceName: string;
  /** It happened after `after` and by `by`: `2026-10-07T14:02:00Z`. Both are equal if the time is known. */
  readonly after: string;
  readonly by: string;
  /** The event; undefined if only the settings are known. */
  readonly event?: {
    readonly type: string | null;
    readonly status: string | null;
    readonly message: string | null;
  };
  readonly revision: string | null;
  readonly settings: readonly ChangedSetting[];
}

/** Statuses that a later event of the same revision replaces. */
const passing: readonly string[] = [
  ...['UPLOADING', 'BUILDING', 'BUILT', 'DEPLOYING'],
  ...['DEACTIVATING', 'DELETING', 'ARCHIVING', 'UNARCHIVING'],
];

/**
 * The rows of `sql/fragments/deployments.sql` as deployments, newest first. Events on the way to a deployment are left
 * out once it has ended, and settings that changed with an event belong to it. Pure.
 */
export function deploymentsOf(rows: readonly SqlRow[]): Deployment[] {
  const all = rows.map(deploymentOf).sort(byTime);
  const events = all.filter(({ event }) => event !== undefined);
  const changes = all.filter(({ event }) => event === undefined);
  const final = events.filter((event, place) => !isPassing(event, events.slice(0, place)));
  const unplaced: Deployment[] = [];
  const settings = new Map<Deployment, ChangedSetting[]>();
  for (const change of changes) {
    const own = eventOf(change, final, events);
    if (own === undefined) unplaced.push(change);
    // The event names the revision, and a revision has an image of its own.
    else {
      const shown = change.settings.filter(({ name }) => name !== 'revision' && name !== 'image');
      settings.set(own, [...(settings.get(own) ?? []), ...shown]);
    }
  }
  return [...final.map((event) => ({ ...event, settings: settings.get(event) ?? [] })), ...unplaced].sort(byTime);
}

function deploymentOf(row: SqlRow): Deployment {
  const isEvent = row['is_event'] === true;
  const [type, status, message] = ['event_type', 'status', 'message'].map((name) => textOrNull(row[name]));
  return {
    workspace: String(row['workspace']),
    resourceType: String(row['resource_type']),
    resourceName: String(row['resource_name']),
    after: String(row['happened_after']),
    by: String(row['happened_by']),
    ...(isEvent ? { event: { type: type ?? null, status: status ?? null, message: message ?? null } } : {}),
    revision: textOrNull(row['revision']),
    settings: isEvent ? [] : (JSON.parse(String(row['settings'] ?? '[]')) as ChangedSetting[]),
  };
}

/** Newest first; of equal times, a stable order. */
function byTime(a: Deployment, b: Deployment): number {
  return Date.parse(b.by) - Date.parse(a.by) || (a.resourceName < b.resourceName ? -1 : 1);
}

/** Whether a later event of the same revision shows how it went on. */
function isPassing({ event, resourceName, revision }: Deployment, later: readonly Deployment[]): boolean {
  return (
    passing.includes(event?.status?.toUpperCase() ?? '') &&
    later.some((other) => other.resourceName === resourceName && other.revision === revision)
  );
}

/** The event with which settings changed: of the same revision, or else the only one that ended in the time of the change. */
function eventOf(
  change: Deployment,
  final: readonly Deployment[],
  events: readonly Deployment[],
): Deployment | undefined {
  const own = events.filter(
    ({ resourceName, by }) =>
      resourceName === change.resourceName &&
      Date.parse(by) > Date.parse(change.after) &&
      Date.parse(by) <= Date.parse(change.by),
  );
  const isOfChange = (event: Deployment) =>
    event.resourceName === change.resourceName && event.revision === change.revision;
  // A deployment may end after the platform's time of the update.
  if (change.revision !== null && own.some(isOfChange)) {
    return final.findLast((event) => isOfChange(event) && Date.parse(event.by) > Date.parse(change.after));
  }
  const ended = own.filter((event) => final.includes(event) && event.event?.status?.toUpperCase() !== 'FAILED');
  return ended.length === 1 ? ended[0] : undefined;
}

/** A deployment before an anomaly, as it is stored with the anomaly. */
export interface DeploymentBefore extends Deployment {
  /** Hours from it to the first hour of the anomaly, rounded; 0 if less than one; -1 if it was in that hour, -2 in the next one. */
  readonly hoursBefore: number;
}

/** The deployments before an anomaly. */
export interface DeploymentsBefore {
  /** The most relevant ones, most relevant first. */
  readonly deployments: readonly DeploymentBefore[];
  /** How many there are. */
  readonly deploymentCount: number;
}

/** An anomaly stores this many. */
const maxStored = 10;
const maxMessageLength = 200;

/**
 * The deployments before the first hour of an anomaly, or on its first day, most relevant first: of its largest driver before
 * those of smaller ones, then settings and finished deployments before other events, then those that came before it, the latest
 * first. Pure.
 */
export function deploymentsBefore(
  rows: readonly SqlRow[],
  firstHour: string,
  drivers: readonly (string | null)[],
): DeploymentsBefore {
  const all = deploymentsOf(rows).map((deployment) => ({
    ...deployment,
    ...(deployment.event === undefined
      ? {}
      : { event: { ...deployment.event, message: deployment.event.message?.slice(0, maxMessageLength) ?? null } }),
    hoursBefore: hoursBetween(deployment.by, firstHour),
  }));
  const rank = (one: DeploymentBefore) =>
    4 * placeOf(one, drivers) + (isEffective(one) ? 0 : 2) + (isAfterStart(one) ? 1 : 0);
  const ranked = all.toSorted((a, b) => rank(a) - rank(b) || byTime(a, b));
  return { deployments: ranked.slice(0, maxStored), deploymentCount: all.length };
}

/** Whether it was later than the first hour; a change between two listings may have been before. */
export function isAfterStart({ after, by, hoursBefore }: DeploymentBefore): boolean {
  return after === by && hoursBefore < -1;
}

/** The place of a deployment's resource among the drivers, the largest first. */
function placeOf({ resourceName }: Deployment, drivers: readonly (string | null)[]): number {
  const place = drivers.indexOf(resourceName);
  return place === -1 ? drivers.length : place;
}

function hoursBetween(at: string, firstHour: string): number {
  const hours = (Date.parse(firstHour) - Date.parse(at)) / hourMs;
  return hours < 0 ? Math.floor(hours) : hours === 0 ? -1 : hours < 1 ? 0 : Math.round(hours);
}

function isEffective({ event, settings }: Deployment): boolean {
  return settings.length > 0 || event?.status?.toUpperCase() === 'DEPLOYED';
}
