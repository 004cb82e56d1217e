import type { DeploymentStatus } from '../platform/interface/index.ts';
import { dayMs, formatInstant, hourMs, type Instant } from '../time/time.ts';
import { mix } from './random.ts';
import type { Look, Resource } from './sample-listings.ts';

// How a resource's deployment status (3) moves. The document shows the values and no transitions, so these are ours.

const minuteMs = 60_000;

interface Phase {
  readonly afterMs: number;
  readonly status: DeploymentStatus;
}

function phases(...steps: readonly (readonly [minutes: number, status: DeploymentStatus])[]): readonly Phase[] {
  return steps.map(([minutes, status]) => ({ afterMs: minutes * minuteMs, status }));
}

const deployment = phases([0, 'UPLOADING'], [1, 'BUILDING'], [4, 'BUILT'], [5, 'DEPLOYING'], [10, 'DEPLOYED']);
/** The first attempt fails; somebody tries again after twelve minutes. */
const failedDeployment = phases(
  [0, 'UPLOADING'],
  [1, 'BUILDING'],
  [4, 'BUILT'],
  [5, 'DEPLOYING'],
  [8, 'FAILED'],
  [20, 'DEPLOYING'],
  [28, 'DEPLOYED'],
);
const deactivation = phases([0, 'DEACTIVATING'], [5, 'DEACTIVATED']);
/** A sandbox has an image already. */
const sandboxStart = phases([0, 'DEPLOYING'], [10, 'DEPLOYED']);
const unchanged = phases([0, 'DEPLOYED']);

/** How long a restore takes. */
export const restoreMs = 2 * minuteMs;
/** A sandbox is deleted for this long before it is terminated. */
const deletingMs = 2 * minuteMs;

/** What a deployment goes through. */
function phasesOf({ kind, createdAt }: Resource, look: Look): readonly Phase[] {
  if (look.isEnabled === false) return deactivation;
  if (kind === 'sandbox') return look.from === createdAt ? sandboxStart : unchanged;
  return look.failsOnce === true && look.from !== createdAt ? failedDeployment : deployment;
}

/** The deployment status of a resource that is listed at an instant; policies have none. */
export function statusAt(resource: Resource, look: Look, at: Instant, restoredAt?: Instant): DeploymentStatus {
  const { terminatedAt } = resource;
  if (at >= terminatedAt) return 'TERMINATED';
  if (at >= terminatedAt - deletingMs) return 'DELETING';
  if (restoredAt !== undefined && at >= restoredAt) return at < restoredAt + restoreMs ? 'DEPLOYING' : 'DEPLOYED';
  const phase = phasesOf(resource, look).findLast(({ afterMs }) => at - look.from >= afterMs);
  if (look.isArchived === true && phase?.status === 'DEPLOYED') return archiveAt(at).status;
  return phase?.status ?? 'DEPLOYED';
}

// 1970-01-03 was a Saturday.
const firstSaturday = 2 * dayMs;
const archivePhases: readonly { readonly afterMs: number; readonly status: DeploymentStatus }[] = [
  { afterMs: 6 * hourMs, status: 'ARCHIVING' },
  { afterMs: 6 * hourMs + 10 * minuteMs, status: 'ARCHIVED' },
  { afterMs: 20 * hourMs, status: 'UNARCHIVING' },
  { afterMs: 20 * hourMs + 10 * minuteMs, status: 'DEPLOYED' },
];

/** The status of a sandbox that is archived on Saturdays, and the Saturday of its last archive. */
function archiveAt(at: Instant): { readonly status: DeploymentStatus; readonly saturday: Instant } {
  const saturday = Math.floor((at - firstSaturday) / (7 * dayMs)) * 7 * dayMs + firstSaturday;
  const phase = archivePhases.findLast(({ afterMs }) => at - saturday >= afterMs);
  return phase === undefined
    ? { status: 'DEPLOYED', saturday: saturday - 7 * dayMs }
    : { status: phase.status, saturday };
}

/** The `archive` of a sandbox (2.9): its last one; undefined if it never was archived. */
export function archiveOf(resource: Resource, look: Look, at: Instant): unknown {
  if (look.isArchived !== true || at >= resource.terminatedAt) return undefined;
  const { status, saturday } = archiveAt(at);
  const startedAt = saturday + 6 * hourMs;
  if (startedAt < resource.createdAt + hourMs) return undefined;
  const size = 900_000_000 + (mix(resource.key, saturday / dayMs) % 3_000_000_000);
  const restoreStartedAt = saturday + 20 * hourMs;
  const share = Math.min(1, Math.max(0, (at - restoreStartedAt) / (10 * minuteMs)));
  return {
    startedAt: formatInstant(startedAt),
    ...(status === 'ARCHIVING' ? {} : { createdAt: formatInstant(startedAt + 10 * minuteMs) }),
    generation: 'mk3',
    key: `archives/${resource.workspace}/${resource.name}/${formatInstant(saturday).slice(0, 10)}`,
    size,
    ...(at < restoreStartedAt
      ? {}
      : {
          restoreStartedAt: formatInstant(restoreStartedAt),
          restore: {
            files: Math.floor(1_200 * share),
            restoredBytes: Math.floor(size * share),
            totalBytes: size,
            state: share < 1 ? 'extracting' : 'succeeded',
          },
        }),
  };
}

/** The runtime `state` of a sandbox; undefined if it is terminated. */
export function stateOf(
  status: DeploymentStatus,
): 'TERMINATING' | 'STARTING' | 'ARCHIVED' | 'RESTORING' | 'RUNNING' | undefined {
  switch (status) {
    case 'TERMINATED':
      return undefined;
    case 'DELETING':
      return 'TERMINATING';
    case 'DEPLOYING':
      return 'STARTING';
    case 'ARCHIVING':
    case 'ARCHIVED':
      return 'ARCHIVED';
    case 'UNARCHIVING':
      return 'RESTORING';
    default:
      return 'RUNNING';
  }
}

/** The revision of a deployment. */
export function revisionOf({ key }: Resource, from: Instant): string {
  return `rev-${mix(key, from) % 100_000}`;
}

/** Deployments so far (2.3), oldest first: at the creation, and at every change. */
export function eventsOf(resource: Resource, at: Instant): unknown[] {
  return resource.looks.flatMap((look) =>
    phasesOf(resource, look)
      .map(({ afterMs, status }) => ({ time: look.from + afterMs, status }))
      .filter(({ time }) => time <= at)
      .map(({ time, status }) => ({
        type: 'deployment',
        status,
        message: look.from === resource.createdAt ? 'created' : 'updated',
        revision: revisionOf(resource, look.from),
        ...(look.canaryPercent === undefined ? {} : { canaryRevision: canaryOf(resource, look) }),
        time: formatInstant(time),
      })),
  );
}

/** The canary revision; empty if there is none. */
export function canaryOf(resource: Resource, look: Look): string {
  return look.canaryPercent === undefined ? '' : revisionOf(resource, look.from + 1);
}
