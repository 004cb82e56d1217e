import { formatInstant, hourMs, type Instant } from '../time/time.ts';
import { type Call, pathValue } from './call.ts';
import { readCursor, writeCursor } from './cursors.ts';
import { itemAt, memoryOf, secretOf } from './listed-items.ts';
import { numberOf } from './parameters.ts';
import { uuidOf } from './random.ts';
import { notFound } from './refusal.ts';
import { json, type Reply } from './reply.ts';
import { integrations } from './sample-catalog.ts';
import { usageOf, usageScale } from './sample-costs.ts';
import { people, serviceAccounts } from './sample-labels.ts';
import { lookAt, type Resource, type ResourceKind } from './sample-listings.ts';
import { type Snapshot, snapshotsOf } from './snapshots.ts';
import type { Execution, Present } from './world.ts';

// What the account has besides workloads: images, connections, snapshots, executions and people. They follow from the fleet.

/** Bytes of an image of each kind; the story bills as much. */
const imageGigabytes: Readonly<Partial<Record<ResourceKind, number>>> = { agent: 3, function: 1.2, job: 4, sandbox: 6 };
/** How long an image outlives its sandbox, until somebody removes unused images. */
const imageDays = 60;
const executionsKeptHours = 30 * 24;

/** GET /v0/volumes/{volumeName} and other single resources of the fleet: with all that their listing leaves out. */
export function answerOne(kind: ResourceKind, parameter: string): (call: Call) => Reply {
  return (call) => fullItem(call, presentIn(call, kind, pathValue(call, parameter)));
}

/** The same by the external ID, which the resource has at this moment. */
export function answerByExternalId(kind: ResourceKind): (call: Call) => Reply {
  return (call) => {
    const asked = pathValue(call, 'externalId');
    for (const { name, terminatedAt, workspace } of seen(call, kind)) {
      const [found] = call.account.world.find(kind, name, workspace, call.now);
      if (found?.look.externalId === asked && call.now < terminatedAt) return fullItem(call, found);
    }
    throw notFound(`There is no ${kind} with the external ID ${asked}`);
  };
}

function fullItem({ now, surroundings }: Call, { resource, look }: Present): Reply {
  return json(itemAt(resource, look, now, surroundings, true));
}

function presentIn({ account, caller, now }: Call, kind: ResourceKind, name: string): Present {
  const [found] = account.world.find(kind, name, caller?.workspace, now);
  if (found === undefined) throw notFound(`There is no ${kind} ${name}`);
  return found;
}

/** An array in every version, or one item of it by the value of a path parameter. */
export function answerArray(items: (call: Call) => readonly object[]): (call: Call) => Reply {
  return (call) => json(items(call));
}

/** One item of an array. */
export function answerItem<Item extends object>(
  items: (call: Call) => readonly Item[],
  isAsked: (item: Item, call: Call) => boolean,
): (call: Call) => Reply {
  return (call) => {
    const found = items(call).find((item) => isAsked(item, call));
    if (found === undefined) throw notFound(`There is no such ${call.operation.name}`);
    return json(found);
  };
}

/** Pages of items that are in order, newest first; a bare array before there were pages. */
export function answerPages(items: (call: Call) => readonly object[], isPaged: (call: Call) => boolean) {
  return (call: Call): Reply => {
    const newestFirst = items(call);
    const { parameters, now, operation, values, caller } = call;
    if (!isPaged(call)) {
      const offset = parameters.has('offset') ? numberOf(parameters, 'offset') : undefined;
      return json(
        offset === undefined ? newestFirst : newestFirst.slice(offset, offset + numberOf(parameters, 'limit')),
      );
    }
    const isOldestFirst = parameters.get('sort') === 'createdAt:asc';
    const ordered = isOldestFirst ? newestFirst.toReversed() : newestFirst;
    const query = JSON.stringify([operation.name, values, isOldestFirst, caller?.workspace ?? null]);
    const cursor = parameters.get('cursor');
    const first = typeof cursor === 'string' ? readCursor(query, cursor, now).offset : 0;
    const end = first + numberOf(parameters, 'limit');
    const hasMore = end < ordered.length;
    const nextCursor = hasMore ? writeCursor(query, { offset: end, seenAt: now, issuedAt: now }) : '';
    return json({ data: ordered.slice(first, end), meta: { hasMore, nextCursor, total: ordered.length } });
  };
}

/** Everything of a kind that the caller sees, in one or all workspaces. */
function seen({ account, caller }: Call, kind: ResourceKind): readonly Resource[] {
  return account.world.all(kind).filter(({ workspace }) => (caller?.workspace ?? workspace) === workspace);
}

/** The images of workloads, one each, also of sandboxes that ended lately. */
export function imagesOf(call: Call) {
  return (['agent', 'function', 'job', 'sandbox'] as const).flatMap((kind) =>
    seen(call, kind).flatMap((resource) => {
      const { createdAt, terminatedAt, workspace, name } = resource;
      if (createdAt > call.now || call.now >= terminatedAt + imageDays * 24 * hourMs) return [];
      const look = resource.looks.findLast(({ from }) => from <= call.now);
      const deployedAt = formatInstant(look?.from ?? createdAt);
      const size = Math.round((imageGigabytes[kind] ?? 1) * 1e9);
      // What staging runs under the name of a resource of production is the image of production.
      const isShared =
        workspace === 'staging' && call.account.world.find(kind, name, 'production', call.now).length > 0;
      return [
        {
          metadata: {
            ...{ name, displayName: `registry/${workspace}/${name}`, resourceType: kind, workspace },
            ...{ sourceWorkspace: isShared ? 'production' : '', lastDeployedAt: deployedAt },
            ...{ createdAt: formatInstant(createdAt), updatedAt: deployedAt },
          },
          spec: { size, tags: [{ name: 'latest', size, createdAt: deployedAt, updatedAt: deployedAt }] },
        },
      ];
    }),
  );
}

/** The domains of workspaces. */
export function customDomainsOf(call: Call) {
  return seen(call, 'customdomain').flatMap((resource) => {
    const look = lookAt(resource, call.now);
    return look === undefined ? [] : [itemAt(resource, look, call.now, call.surroundings) as NamedItem];
  });
}

interface NamedItem {
  readonly metadata: { readonly name: string };
}

/** The connections that functions, agents and models of a workspace name. */
export function connectionsOf(call: Call): NamedItem[] {
  const connections = new Map<string, NamedItem>();
  for (const kind of ['agent', 'function', 'model'] as const) {
    for (const resource of seen(call, kind)) {
      for (const name of lookAt(resource, call.now)?.integrationConnections ?? []) {
        const { workspace } = resource;
        const createdAt = formatInstant(call.account.story.since);
        connections.set(`${workspace}/${name}`, {
          metadata: {
            name,
            workspace,
            createdAt,
            updatedAt: createdAt,
            createdBy: 'svc-deploy',
          } as NamedItem['metadata'],
          ...{
            spec: {
              integration: Object.hasOwn(integrations, name) ? name : 'custom',
              ...{ sandbox: false, config: { region: 'us' } },
              secret: { API_KEY: secretOf(resource, `connection ${name}`, call.now) },
            },
          },
        });
      }
    }
  }
  return [...connections.values()];
}

/** The snapshots of a workspace, also of sandboxes that ended, newest first. */
export function listedSnapshots(call: Call) {
  return seen(call, 'sandbox')
    .filter(({ createdAt }) => createdAt <= call.now)
    .flatMap((resource) => snapshotsOf(resource, call.now))
    .sort((a, b) => b.takenAt - a.takenAt || (a.id < b.id ? -1 : 1))
    .map((snapshot) => snapshotItem(snapshot, call.now));
}

function snapshotItem({ id, name, source, takenAt }: Snapshot, now: Instant) {
  const { workspace, terminatedAt } = source;
  return {
    ...{ id, name: `${source.name}-${name}`, createdAt: formatInstant(takenAt), createdBy: 'svc-deploy' },
    ...{ status: 'ready', workspace, sandboxName: source.name },
    source: { name: source.name, deleted: now >= terminatedAt },
    spec: { memory: source.looks[0]?.memoryMb ?? 4096, region: 'us-pdx-1' },
  };
}

/** The snapshots of one sandbox. */
export function snapshotsOfSandbox(call: Call) {
  const { resource } = presentIn(call, 'sandbox', pathValue(call, 'sandboxName'));
  return snapshotsOf(resource, call.now).map((snapshot) => snapshotItem(snapshot, call.now));
}

/** The executions of a job, newest first: those that were started, and one for each hour with usage, which its tasks add up to. */
export function executionsOf(call: Call) {
  return executionsWithTasks(call).map(({ tasks: _, ...execution }) => execution);
}

function executionsWithTasks(call: Call) {
  const { resource, look } = presentIn(call, 'job', pathValue(call, 'jobId'));
  const { story, world } = call.account;
  const series = story.series.find(
    ({ workspace, resourceName, billingDimension }) =>
      workspace === resource.workspace &&
      resourceName === resource.name &&
      billingDimension === 'job_compute_runtime_gbs',
  );
  const nowHour = Math.floor(call.now / hourMs);
  const hours = series === undefined ? [] : Array.from({ length: executionsKeptHours }, (_, age) => nowHour - 1 - age);
  const scheduled = hours.flatMap((hour) => {
    const seconds = series === undefined ? 0 : usageOf(story, series, hour) / usageScale / (memoryOf(look) / 1024);
    const tasks = Math.ceil(seconds / 3600);
    const id = uuidOf(resource.key, `execution ${hour}`);
    return tasks === 0 ? [] : [{ id, at: hour * hourMs, seconds: Array<number>(tasks).fill(seconds / tasks) }];
  });
  return [...world.executionsOf(resource), ...scheduled]
    .sort((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1))
    .map((execution) => executionItem(resource, execution));
}

function executionItem({ name, workspace }: Resource, { id, at, seconds }: Execution) {
  const createdAt = formatInstant(at);
  const ended = (each: number) => formatInstant(at + Math.floor(each * 1000));
  const [total, completedAt] = [seconds.length, ended(Math.max(...seconds))];
  return {
    metadata: { id, job: name, workspace, createdAt, startedAt: createdAt, completedAt, updatedAt: completedAt },
    spec: { parallelism: total, timeout: 3600 },
    stats: { total, success: total, failure: 0, cancelled: 0, retried: 0, running: 0 },
    status: 'succeeded',
    tasks: seconds.map((each, index) => ({
      metadata: { name: `task-${index}`, scheduledAt: createdAt, startedAt: createdAt, completedAt: ended(each) },
      spec: { maxRetries: 2, timeout: '1h' },
      status: 'succeeded',
    })),
  };
}

/** The tasks of one execution. */
export function tasksOf(call: Call) {
  const id = pathValue(call, 'executionId');
  const found = executionsWithTasks(call).find(({ metadata }) => metadata.id === id);
  if (found === undefined) throw notFound(`There is no execution ${id}`);
  return found.tasks;
}

/** The people of a workspace; everybody reaches each. */
export function usersOf() {
  return Object.entries(people).map(([sub, [given, family]]) => ({
    ...{ sub, email: sub, given_name: given, family_name: family, role: 'member', source: 'invitation' },
    ...{ accepted: true, expired: false, email_verified: true },
  }));
}

/** The service accounts of a workspace. */
export function serviceAccountsOf({ account: { story } }: Call) {
  const at = formatInstant(story.since);
  return Object.entries(serviceAccounts).map(([client_id, name]) => ({
    ...{ client_id, name, description: '', created_at: at, updated_at: at },
  }));
}

/** The resources of a world that may mount a volume, by its workspace and name. */
const mountersOf = new WeakMap<Call['account']['world'], ReadonlyMap<string, readonly Resource[]>>();

function mounters(world: Call['account']['world']): ReadonlyMap<string, readonly Resource[]> {
  const known = mountersOf.get(world);
  if (known !== undefined) return known;
  const found = new Map<string, Resource[]>();
  for (const resource of [...world.all('sandbox'), ...world.all('agent')]) {
    const names = new Set(resource.looks.flatMap(({ mounts = [] }) => mounts.map(({ name }) => name)));
    for (const name of names) {
      const place = `${resource.workspace}/${name}`;
      found.set(place, [...(found.get(place) ?? []), resource]);
    }
  }
  mountersOf.set(world, found);
  return found;
}

/** What a volume is attached to at an instant: the first that mounts it, as on the platform one at a time. */
export function attachedTo({ world }: Call['account'], { workspace, name }: Resource, at: Instant): string | undefined {
  const mounter = mounters(world)
    .get(`${workspace}/${name}`)
    ?.find((resource) => {
      const look = lookAt(resource, at);
      return at < resource.terminatedAt && look?.mounts?.some((mount) => mount.name === name) === true;
    });
  return mounter === undefined ? undefined : `${mounter.kind}:${mounter.name}`;
}
