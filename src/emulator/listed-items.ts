import type { DeploymentStatus } from '../platform/interface/index.ts';
import { dayMs, formatInstant, hourMs, type Instant } from '../time/time.ts';
import { hashText, mix } from './random.ts';
import { archiveOf, canaryOf, eventsOf, revisionOf, stateOf, statusAt } from './resource-states.ts';
import type { Look, Resource } from './sample-listings.ts';

/** Every secret in a listing contains this text, so that a test can find stored secrets. */
export const secretMarker = 'emulated-secret-';

const minuteMs = 60_000;
const domain = 'harborlabs.example';
const defaultRegion = 'us-pdx-1';

/** What a listing shows besides the story: what clients did, and where the emulator is. */
export interface Surroundings {
  /** Base URL of the inference host. */
  readonly inferenceUrl: string;
  /** A sandbox's own URL with `{sandbox}`, `{workspace}` and `{region}`. */
  readonly sandboxUrl: string;
  /** Where asynchronous triggers call back; undefined for an invented host. */
  readonly callbackUrl: string | undefined;
  restoredAt(resource: Resource): Instant | undefined;
  usedAt(resource: Resource): Instant | undefined;
  /** The first instant of the history. */
  readonly since: Instant;
  /** What a volume is attached to. */
  attachedTo(volume: Resource): string | undefined;
  /** Whether missing texts of a resource are empty instead. */
  emptiesTexts(resource: Resource): boolean;
}

/** A listing's item (2.1 to 2.10) as seen at an instant; with `isFull` as it is alone, which differs for volumes and sandboxes. */
export function itemAt(
  resource: Resource,
  look: Look,
  at: Instant,
  surroundings: Surroundings,
  isFull = false,
): unknown {
  const { kind, workspace, name, createdAt, terminatedAt } = resource;
  const restoredAt = surroundings.restoredAt(resource);
  const changedAt = at >= terminatedAt ? terminatedAt : Math.max(look.from, restoredAt ?? look.from);
  const metadata = {
    ...(surroundings.emptiesTexts(resource) ? { displayName: '', externalId: '', url: '' } : {}),
    name,
    ...given('displayName', look.displayName),
    ...given('externalId', look.externalId),
    ...given('labels', look.labels),
    createdAt: formatInstant(createdAt),
    updatedAt: formatInstant(changedAt),
    createdBy: look.createdBy ?? 'svc-deploy',
    updatedBy: look.by,
    plan: 'tier-2',
    ...given('url', urlOf(resource, look, surroundings)),
    workspace,
  };
  const status = statusAt(resource, look, at, restoredAt);
  switch (kind) {
    case 'sandbox': {
      const life = lifeOf(resource, look, at, surroundings);
      const events = isFull ? { events: eventsOf(resource, at) } : {};
      return {
        metadata,
        spec: sandboxSpec(resource, look, at),
        status,
        ...given('state', listedState(status)),
        ...life,
        ...events,
      };
    }
    case 'volume': {
      const state = { attachedTo: surroundings.attachedTo(resource) ?? '' };
      const gigabytes = Number(resource.spec['gigabytes']);
      const region = regionOf(look);
      if (isFull)
        return { metadata, spec: { region, size: gigabytes * 1024, template: '' }, state, status, events: [] };
      const { labels: _, workspace: __, createdBy: ___, updatedBy: ____, plan: _____, ...lite } = metadata;
      return { metadata: lite, spec: { region, size: gigabytes }, state, status };
    }
    case 'customdomain':
      return {
        metadata: { ...metadata, sharedFromWorkspace: '' },
        spec: {
          ...{ region: regionOf(look), domainType: 'applications', status: 'verified' },
          txtRecords: { [`_verify.${name}`]: secretOf(resource, 'record', at) },
        },
      };
    case 'policy':
      return { metadata, spec: resource.spec, usage: { agents: 2, functions: 1, jobs: 0, models: 2, sandboxes: 0 } };
    default:
      return { metadata, spec: specOf(resource, look, at, surroundings), events: eventsOf(resource, at), status };
  }
}

function given<Name extends string, Value>(name: Name, value: Value | undefined): Partial<Record<Name, Value>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, Value>);
}

/** A listing says only whether a sandbox runs. */
function listedState(status: DeploymentStatus): 'RUNNING' | 'STANDBY' | undefined {
  const state = stateOf(status);
  return state === undefined || state === 'RUNNING' ? state : 'STANDBY';
}

/** The region of a resource; where policies decide, they all decide for the same one. */
export function regionOf(look: Look): string {
  return look.region ?? defaultRegion;
}

function urlOf(
  { kind, workspace, name }: Resource,
  look: Look,
  { inferenceUrl, sandboxUrl }: Surroundings,
): string | undefined {
  switch (kind) {
    case 'sandbox':
      return sandboxUrl
        .replace('{sandbox}', name)
        .replace('{workspace}', workspace)
        .replace('{region}', regionOf(look));
    case 'agent':
    case 'function':
    case 'model':
      return `${inferenceUrl}/${workspace}/${kind}s/${name}`;
    default:
      return undefined;
  }
}

/** What only sandboxes have outside of their spec (2.9); much of it changes with every state. */
function lifeOf(resource: Resource, look: Look, at: Instant, { usedAt, since }: Surroundings): object {
  const { terminatedAt, createdAt, key, instance } = resource;
  const ownUse =
    look.lastUsedDay === undefined
      ? Math.min(at, terminatedAt) - (mix(key, Math.floor(at / hourMs)) % (90 * minuteMs))
      : Math.min(at, since + look.lastUsedDay * dayMs);
  const lastUsed = Math.max(createdAt, ownUse, usedAt(resource) ?? 0);
  const isAlive = at < terminatedAt;
  return {
    lastUsedAt: formatInstant(Math.floor(lastUsed)),
    nodeGeneration: key % 3 === 0 ? 'mk3.0' : 'mk3.1',
    ...(isAlive && terminatedAt < Number.POSITIVE_INFINITY
      ? { expiresIn: Math.floor((terminatedAt - at) / 1_000) }
      : {}),
    ...given('archive', archiveOf(resource, look, at)),
    ...(key % 17 === 0
      ? {
          errors: [
            {
              code: 'VM_NETWORK_FAILURE',
              fatal: false,
              instance,
              message: 'no route for 3 s',
              time: formatInstant(createdAt + hourMs),
            },
          ],
        }
      : {}),
  };
}

/** A secret of a resource; it is replaced every month, which must not count as a change. */
export function secretOf({ key }: Resource, what: string, at: Instant): string {
  return `${secretMarker}${hashText(mix(key, Math.floor(at / (30 * dayMs))), what).toString(16)}`;
}

/** The environment variables of a resource (2.4), with secrets. */
export function environment(resource: Resource, at: Instant): readonly unknown[] {
  return [
    { name: 'LOG_LEVEL', value: 'info', secret: false },
    { name: 'API_TOKEN', value: secretOf(resource, 'token', at), secret: true },
    // Not marked as secret, but one nevertheless.
    {
      name: 'DATABASE_URL',
      value: `postgres://app:${secretOf(resource, 'database', at)}@db.${domain}/app`,
      secret: false,
    },
  ];
}

function sandboxSpec(resource: Resource, look: Look, at: Instant): unknown {
  const { terminatedAt, goneAt, name } = resource;
  const isPassing = terminatedAt < Number.POSITIVE_INFINITY;
  const ttl = isPassing ? '72h' : look.idleTtl;
  return {
    enabled: look.isEnabled ?? true,
    ...given('region', look.region),
    volumes: look.mounts ?? [],
    ...(ttl === undefined
      ? {}
      : {
          lifecycle: {
            expirationPolicies: [{ action: 'delete', type: 'ttl-idle', value: ttl }],
            ...(isPassing && goneAt - terminatedAt > hourMs
              ? { terminatedRetention: `${(goneAt - terminatedAt) / hourMs}h` }
              : {}),
          },
        }),
    runtime: {
      image: `sandboxes/${name}:latest`,
      memory: look.memoryMb ?? 4096,
      envs: environment(resource, at),
      ports: [{ target: 8080, name: 'http', protocol: 'HTTP' }],
      ...(isPassing ? { expires: formatInstant(terminatedAt), ttl: lifeTime(resource) } : {}),
    },
    network: {
      allowedDomains: [`*.${domain}`],
      proxy: {
        routing: [
          {
            destinations: ['api.stripe.example'],
            headers: { authorization: 'Bearer {{SECRET:stripe}}' },
            secrets: { stripe: secretOf(resource, 'proxy', at) },
          },
        ],
      },
    },
  };
}

function lifeTime({ createdAt, terminatedAt }: Resource): string {
  return `${Math.round((terminatedAt - createdAt) / hourMs)}h`;
}

/** The spec of everything except sandboxes and policies. */
export function specOf(resource: Resource, look: Look, at: Instant, surroundings: Surroundings): unknown {
  const { kind, name, key, spec } = resource;
  const common = {
    enabled: look.isEnabled ?? true,
    policies: look.policies ?? (look.region === undefined && kind !== 'model' ? ['eu-only'] : []),
    ...given(
      'integrationConnections',
      kind === 'function' || kind === 'model' ? look.integrationConnections : undefined,
    ),
  };
  if (kind === 'model') return { ...common, ...spec };
  const runtime = {
    generation: generationOf(look),
    image: `${kind}s/${name}:${(mix(key, look.from) % 900) + 100}`,
    memory: memoryOf(look),
    envs: environment(resource, at),
  };
  return {
    ...common,
    ...given('region', look.region),
    ...(kind === 'job' ? {} : { public: isPublic(resource, look) }),
    revision: {
      active: revisionOf(resource, look.from),
      canary: canaryOf(resource, look),
      canaryPercent: look.canaryPercent ?? 0,
      stickySessionTtl: 0,
      traffic: 100 - (look.canaryPercent ?? 0),
    },
    triggers: triggersOf(resource, look, at, surroundings),
    ...(kind === 'function' ? {} : { volumes: look.mounts ?? [] }),
    runtime:
      kind === 'job'
        ? { ...runtime, diskPercent: 50, maxRetries: 2, timeout: 3600 }
        : {
            ...runtime,
            minScale: look.minScale ?? 0,
            maxScale: 10,
            ...(kind === 'function' ? { transport: 'http-stream' } : {}),
          },
    ...(kind === 'agent'
      ? {
          repository: {
            type: 'git',
            url: `https://x-access-token:${secretOf(resource, 'clone', at)}@github.example/harbor-labs/${name}`,
          },
        }
      : {}),
  };
}

/** The generation of a resource that has none of its own is mk3. */
export function generationOf(look: Look): 'mk2' | 'mk3' {
  return look.generation ?? 'mk3';
}

/** Megabytes of a workload. */
export function memoryOf(look: Look): number {
  return look.memoryMb ?? 2048;
}

/** Whether a function answers without a token: mk3 only (2.5). */
export function isPublic({ kind }: Resource, look: Look): boolean {
  return kind === 'function' && look.isPublic === true && generationOf(look) === 'mk3';
}

/** Where an asynchronous trigger calls back, and with which secret. */
export function callbackOf(
  resource: Resource,
  at: Instant,
  callbackUrl: string | undefined,
): { readonly callbackUrl: string; readonly callbackSecret: string } {
  const base = callbackUrl ?? `https://hooks.${domain}`;
  return { callbackUrl: `${base}/${resource.name}`, callbackSecret: secretOf(resource, 'callback', at) };
}

function triggersOf(resource: Resource, look: Look, at: Instant, { callbackUrl }: Surroundings): readonly unknown[] {
  const { name } = resource;
  return [
    {
      id: 'async',
      type: 'http-async',
      enabled: true,
      configuration: {
        path: `/${name}/async`,
        // mk3 only (2.4).
        ...(generationOf(look) === 'mk3' ? { timeout: 600 } : {}),
        ...callbackOf(resource, at, callbackUrl),
      },
    },
    ...(look.httpPath === undefined
      ? []
      : [{ id: 'http', type: 'http', enabled: true, configuration: { path: look.httpPath, retry: 2 } }]),
    ...(look.schedule === undefined
      ? []
      : [{ id: 'schedule', type: 'cron', enabled: true, configuration: { schedule: look.schedule, tasks: [{}] } }]),
  ];
}
