import type { DeploymentStatus, Listing } from '../platform/index.ts';
import { dayMs, formatInstant, hourMs, type Instant } from '../time.ts';
import { hashText, mix, toUnit } from './random.ts';
import { appearances, type StoryOptions } from './sample-costs.ts';
import { type Edit, edits, type Traits, traits, traitsOfPassing, unbilled } from './sample-labels.ts';
import type { Part } from './sample-resources.ts';

export type ResourceKind = Listing['kind'];

/** The state of a resource from an instant until its next state. */
interface Look extends Traits {
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
  readonly createdAt: Instant;
  /** When it was terminated; infinite if it is alive. Only sandboxes are terminated. */
  readonly terminatedAt: Instant;
  /** When nothing is left of it, and no listing contains it any longer. */
  readonly goneAt: Instant;
  /** Oldest first; the first one starts at its creation. */
  readonly looks: readonly Look[];
  /** The part of its spec that differs within its kind. */
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Every secret in a listing contains this text, so that a test can find stored secrets. */
export const secretMarker = 'emulated-secret-';

const kindOfType = {
  sandbox: 'sandbox',
  agent: 'agent',
  job: 'job',
  mcp_server: 'function',
  volume: undefined,
  custom_domain: undefined,
} as const satisfies Record<Part['type'], ResourceKind | undefined>;

/** How long a terminated sandbox without stored data is listed. */
const retentionDays = 30;
/** A sandbox with traits of its own was meant to stay: nobody has cleaned up after it. */
const legacyRetentionDays = 400;
const minuteMs = 60_000;
/** A new resource is built, then deployed. */
const builtAfterMs = 4 * minuteMs;
const deployedAfterMs = 10 * minuteMs;
const domain = 'harborlabs.example';

/** Everything in the listings, over all time; costs of the story use the same names. */
export function inventFleet(options: StoryOptions): Resource[] {
  const { seed, since } = options;
  const fleet: Resource[] = [];
  for (const { part, copy, identity, name, fromHour, toHour } of appearances(options)) {
    const kind = kindOfType[part.type];
    if (kind === undefined || part.workspace === undefined) continue;
    const createdAt = fromHour * hourMs;
    const terminatedAt = toHour * hourMs;
    const place = `${part.workspace}/${part.name}`;
    const key = hashText(seed, `listed ${identity}`);
    const own = traits[place] ?? traitsOfPassing(name, hashText(7, name));
    const retainedDays = Math.max(part.storedDays ?? 0, place in traits ? legacyRetentionDays : retentionDays);
    fleet.push({
      kind,
      workspace: part.workspace,
      name,
      key,
      createdAt,
      terminatedAt,
      goneAt: terminatedAt + retainedDays * dayMs,
      looks: looksOf(createdAt, since, copy === 0 ? own : asOwnedBy(own, copy, key), edits[place] ?? [], copy, key),
      spec: {},
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
      createdAt,
      terminatedAt: Number.POSITIVE_INFINITY,
      goneAt: Number.POSITIVE_INFINITY,
      looks: looksOf(createdAt, since, traits[place] ?? {}, edits[place] ?? [], 0, 0),
      spec,
    });
  }
  return fleet;
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
  };
  const chance = toUnit(mix(key, 0x1abe1));
  if (labels === undefined || chance < 0.1) return twin;
  const { team, ...others } = labels;
  if (team === undefined || chance < 0.18) return { ...twin, labels: others };
  const spelt = chance < 0.26 ? misspelt(team) : chance < 0.36 ? team.toLowerCase() : team;
  return { ...twin, labels: { team: spelt, ...others } };
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

/** The deployment status (3) of a resource that is listed at an instant; policies have none. */
export function statusAt({ kind, createdAt, terminatedAt }: Resource, look: Look, at: Instant): DeploymentStatus {
  if (at >= terminatedAt) return 'TERMINATED';
  const ageMs = at - createdAt;
  if (ageMs < builtAfterMs && kind !== 'sandbox') return 'BUILDING';
  if (ageMs < deployedAfterMs) return 'DEPLOYING';
  return look.isEnabled === false ? 'DEACTIVATED' : 'DEPLOYED';
}

/** A listing's item (2.1 to 2.10) as seen at an instant. */
export function itemAt(resource: Resource, look: Look, at: Instant): unknown {
  const { kind, workspace, name, createdAt, terminatedAt } = resource;
  const changedAt = at >= terminatedAt ? terminatedAt : look.from;
  const metadata = {
    name,
    ...given('displayName', look.displayName),
    ...given('externalId', look.externalId),
    ...given('labels', look.labels),
    createdAt: formatInstant(createdAt),
    updatedAt: formatInstant(changedAt),
    createdBy: look.createdBy ?? 'svc-deploy',
    updatedBy: look.by,
    plan: 'tier-2',
    ...given('url', urlOf(resource, look)),
    workspace,
  };
  const status = statusAt(resource, look, at);
  switch (kind) {
    case 'sandbox':
      return { metadata, spec: sandboxSpec(resource, look, at), status, ...lifeOf(resource, at) };
    case 'policy':
      return { metadata, spec: resource.spec, usage: { agents: 2, functions: 1, jobs: 0, models: 2, sandboxes: 0 } };
    default:
      return { metadata, spec: specOf(resource, look, at), events: eventsOf(resource, at), status };
  }
}

function given<Name extends string, Value>(name: Name, value: Value | undefined): Partial<Record<Name, Value>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, Value>);
}

function urlOf({ kind, workspace, name }: Resource, look: Look): string | undefined {
  switch (kind) {
    case 'sandbox':
      return `https://sbx-${name}-${workspace}.${look.region ?? 'us-pdx-1'}.${domain}`;
    case 'agent':
    case 'function':
    case 'model':
      return `https://run.${domain}/${workspace}/${kind}s/${name}`;
    default:
      return undefined;
  }
}

/** What only sandboxes have outside of their spec (2.9); much of it changes with every state. */
function lifeOf({ terminatedAt, createdAt, key }: Resource, at: Instant): Readonly<Record<string, unknown>> {
  const usedAt = Math.max(
    createdAt,
    Math.min(at, terminatedAt) - (mix(key, Math.floor(at / hourMs)) % (90 * minuteMs)),
  );
  const isAlive = at < terminatedAt;
  return {
    ...(isAlive ? { state: 'RUNNING' } : {}),
    lastUsedAt: formatInstant(usedAt),
    nodeGeneration: 'mk3',
    ...(isAlive && terminatedAt < Number.POSITIVE_INFINITY
      ? { expiresIn: Math.floor((terminatedAt - at) / 1_000) }
      : {}),
    ...(key % 17 === 0
      ? {
          errors: [
            {
              code: 'VM_NETWORK_FAILURE',
              fatal: false,
              instance: `vm-${key % 1000}`,
              message: 'no route for 3 s',
              time: formatInstant(createdAt + hourMs),
            },
          ],
        }
      : {}),
  };
}

/** A secret of a resource; it is replaced every month, which must not count as a change. */
function secretOf({ key }: Resource, what: string, at: Instant): string {
  return `${secretMarker}${hashText(mix(key, Math.floor(at / (30 * dayMs))), what).toString(16)}`;
}

function environment(resource: Resource, at: Instant): readonly unknown[] {
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
  return {
    enabled: look.isEnabled ?? true,
    ...given('region', look.region),
    volumes: [],
    ...(isPassing
      ? {
          lifecycle: {
            expirationPolicies: [{ action: 'delete', type: 'ttl-idle', value: '72h' }],
            terminatedRetention: `${(goneAt - terminatedAt) / hourMs}h`,
          },
        }
      : {}),
    runtime: {
      image: `sandboxes/${name}:latest`,
      memory: look.memoryMb ?? 4096,
      envs: environment(resource, at),
      ports: [{ target: 8080, name: 'http', protocol: 'HTTP' }],
      ...(isPassing ? { expires: formatInstant(terminatedAt) } : {}),
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

function specOf(resource: Resource, look: Look, at: Instant): unknown {
  const { kind, name, key, spec } = resource;
  const common = {
    enabled: look.isEnabled ?? true,
    policies: look.region === undefined && kind !== 'model' ? ['eu-only'] : [],
    ...given(
      'integrationConnections',
      kind === 'function' || kind === 'model' ? look.integrationConnections : undefined,
    ),
  };
  if (kind === 'model') return { ...common, ...spec };
  const runtime = {
    generation: look.generation ?? 'mk3',
    image: `${kind}s/${name}:${(mix(key, look.from) % 900) + 100}`,
    memory: look.memoryMb ?? 2048,
    envs: environment(resource, at),
  };
  return {
    ...common,
    ...given('region', look.region),
    revision: {
      active: `rev-${mix(key, look.from) % 100_000}`,
      canary: '',
      canaryPercent: 0,
      stickySessionTtl: 0,
      traffic: 100,
    },
    triggers: [
      {
        id: 'async',
        type: 'http-async',
        enabled: true,
        configuration: {
          path: `/${name}/async`,
          timeout: 600,
          callbackUrl: `https://hooks.${domain}/${name}`,
          callbackSecret: secretOf(resource, 'callback', at),
        },
      },
    ],
    runtime:
      kind === 'job'
        ? { ...runtime, diskPercent: 50, maxRetries: 2, timeout: 3600 }
        : { ...runtime, minScale: 0, maxScale: 10, ...(kind === 'function' ? { transport: 'http-stream' } : {}) },
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

/** Deployments so far (2.3), oldest first: at the creation, and at every change. */
function eventsOf({ looks, key, createdAt }: Resource, at: Instant): unknown[] {
  return looks
    .filter(({ from }) => from <= at)
    .flatMap(({ from }) => [
      { from, status: 'BUILDING', time: from },
      { from, status: 'DEPLOYING', time: from + builtAfterMs },
      { from, status: 'DEPLOYED', time: from + deployedAfterMs },
    ])
    .filter(({ time }) => time <= at)
    .map(({ from, status, time }) => ({
      type: 'deployment',
      status,
      message: from === createdAt ? 'created' : 'updated',
      revision: `rev-${mix(key, from) % 100_000}`,
      time: formatInstant(time),
    }));
}
