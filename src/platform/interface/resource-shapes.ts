import * as z from 'zod/mini';

// The shapes of 2.1 to 2.12. Every documented field has its type, may be absent or null, and others pass: the document
// shows fields, but rarely which of them are always there.

const text = z.nullish(z.string());
const integer = z.nullish(z.number());
const flag = z.nullish(z.boolean());
const texts = z.nullish(z.array(z.string()));
const anyObject = z.nullish(z.record(z.string(), z.unknown()));

/** What all resources say about themselves (2.2). */
export const metadata = z.looseObject({
  name: z.string(),
  displayName: text,
  externalId: text,
  labels: z.nullish(z.record(z.string(), z.string())),
  createdAt: text,
  updatedAt: text,
  createdBy: text,
  updatedBy: text,
  plan: text,
  url: text,
  workspace: text,
});

/** An entry of the deployment history (2.3). */
export const coreEvent = z.looseObject({
  type: text,
  status: text,
  message: text,
  revision: text,
  canaryRevision: text,
  time: text,
});

const revision = z.nullish(
  z.looseObject({
    active: text,
    canary: text,
    canaryPercent: integer,
    stickySessionTtl: integer,
    traffic: integer,
  }),
);

const envs = z.nullish(z.array(z.looseObject({ name: text, value: text, secret: flag })));
const ports = z.nullish(z.array(z.looseObject({ target: z.number(), name: text, protocol: text })));
const namedTypes = z.nullish(z.array(z.looseObject({ name: text, type: text })));

const volumes = z.nullish(
  z.array(z.looseObject({ name: text, mountPath: text, sizeMb: integer, readOnly: flag, type: text })),
);

const triggers = z.nullish(
  z.array(
    z.looseObject({
      id: text,
      type: text,
      enabled: flag,
      configuration: z.nullish(
        z.looseObject({
          authenticationType: text,
          path: text,
          retry: integer,
          schedule: text,
          tasks: z.nullish(z.array(z.unknown())),
          timeout: integer,
          callbackUrl: text,
          callbackSecret: text,
        }),
      ),
    }),
  ),
);

/** What the runtimes of agents and functions share. */
const scaled = { generation: text, image: text, memory: integer, minScale: integer, maxScale: integer, envs };

const functionSpec = z.looseObject({
  enabled: flag,
  public: flag,
  region: text,
  policies: texts,
  integrationConnections: texts,
  revision,
  triggers,
  runtime: z.nullish(z.looseObject({ ...scaled, ports, transport: text })),
});

const agentSpec = z.looseObject({
  enabled: flag,
  public: flag,
  region: text,
  policies: texts,
  revision,
  triggers,
  volumes,
  repository: z.nullish(z.looseObject({ type: text, url: text })),
  runtime: z.nullish(z.looseObject(scaled)),
});

const jobSpec = z.looseObject({
  enabled: flag,
  region: text,
  policies: texts,
  revision,
  triggers,
  volumes,
  githubRunner: z.nullish(z.looseObject({ repositories: texts })),
  runtime: z.nullish(
    z.looseObject({
      diskPercent: integer,
      envs,
      generation: text,
      image: text,
      maxRetries: integer,
      memory: integer,
      ports,
      timeout: integer,
    }),
  ),
});

const modelRuntime = {
  endpointName: text,
  generation: text,
  model: text,
  organization: text,
  type: text,
};
const modelFields = {
  enabled: flag,
  flavors: namedTypes,
  integrationConnections: texts,
  policies: texts,
  sandbox: flag,
};
const modelSpec = z.looseObject({ ...modelFields, runtime: z.nullish(z.looseObject(modelRuntime)) });

const deletedModelSpec = z.looseObject({
  ...modelFields,
  configurations: z.nullish(z.record(z.string(), z.looseObject({ secret: flag, value: text }))),
  revision,
  runtime: z.nullish(
    z.looseObject({
      ...modelRuntime,
      args: z.nullish(z.array(z.unknown())),
      command: z.nullish(z.array(z.unknown())),
      configuration: anyObject,
      cpu: integer,
      envs,
      expires: text,
      image: text,
      maxConcurrentTasks: integer,
      maxRetries: integer,
      maxScale: integer,
      minScale: integer,
      memory: integer,
      metricPort: integer,
      ports,
      startupProbe: anyObject,
      timeout: integer,
      transport: text,
      ttl: text,
    }),
  ),
});

const network = z.looseObject({
  allowedDomains: texts,
  forbiddenDomains: texts,
  subnet: text,
  firewall: z.nullish(z.looseObject({ rulesets: texts })),
  egress: z.nullish(
    z.looseObject({
      gateway: text,
      mode: text,
      policies: z.nullish(z.array(z.looseObject({ name: text, mode: text, destinations: texts }))),
    }),
  ),
  proxy: z.nullish(
    z.looseObject({
      allowedDomains: texts,
      forbiddenDomains: texts,
      bypass: z.nullish(z.array(z.unknown())),
      routing: z.nullish(
        z.array(
          z.looseObject({
            destinations: texts,
            headers: anyObject,
            // The document says a text; the public description an object of texts.
            body: z.nullish(z.union([z.string(), z.record(z.string(), z.unknown())])),
            secrets: z.nullish(z.record(z.string(), z.string())),
          }),
        ),
      ),
    }),
  ),
});

const sandboxSpec = z.looseObject({
  enabled: flag,
  region: text,
  vpc: text,
  volumes,
  lifecycle: z.nullish(
    z.looseObject({
      expirationPolicies: z.nullish(z.array(z.looseObject({ action: text, type: text, value: text }))),
      terminatedRetention: text,
    }),
  ),
  runtime: z.nullish(
    z.looseObject({
      envs,
      expires: text,
      extraArgs: anyObject,
      image: text,
      memory: integer,
      ports,
      terminationGracePeriodSeconds: integer,
      ttl: text,
    }),
  ),
  network: z.nullish(network),
});

const policySpec = z.looseObject({
  type: text,
  resourceTypes: texts,
  sandbox: flag,
  flavors: namedTypes,
  locations: namedTypes,
  maxTokens: z.nullish(
    z.looseObject({
      granularity: text,
      input: integer,
      output: integer,
      total: integer,
      step: integer,
      ratioInputOverOutput: integer,
    }),
  ),
});

const events = z.nullish(z.array(coreEvent));

/** A function, which is an MCP server (2.5). Its spec is required (2.1). */
export const functionResource = z.looseObject({ metadata, spec: functionSpec, events, status: text });

/** An agent (2.6). */
export const agentResource = z.looseObject({ metadata, spec: z.nullish(agentSpec), events, status: text });

/** A batch job (2.7). */
export const jobResource = z.looseObject({ metadata, spec: z.nullish(jobSpec), events, status: text });

/** A model endpoint as listed (2.8). */
export const modelResource = z.looseObject({ metadata, spec: z.nullish(modelSpec), events, status: text });

/** A model endpoint as its deletion returns it (4.5). */
export const deletedModel = z.looseObject({ metadata, spec: z.nullish(deletedModelSpec), events, status: text });

/** A workspace; its fields are at the top level, and each may be missing. */
export const workspaceResource = z.looseObject({
  name: z.string(),
  displayName: text,
  id: text,
  accountId: text,
  labels: z.nullish(z.record(z.string(), z.string())),
  region: text,
  resourceCounts: z.nullish(z.record(z.string(), z.number())),
  status: text,
  createdAt: text,
  updatedAt: text,
});

/** A sandbox in the lite shape of its listing (2.9), without events. */
export const sandboxResource = z.looseObject({
  metadata,
  spec: z.nullish(sandboxSpec),
  status: text,
  state: text,
  expiresIn: integer,
  lastUsedAt: text,
  nodeGeneration: text,
  errors: z.nullish(z.array(z.looseObject({ code: text, fatal: flag, instance: text, message: text, time: text }))),
  archive: z.nullish(
    z.looseObject({
      createdAt: text,
      startedAt: text,
      restoreStartedAt: text,
      generation: text,
      key: text,
      size: integer,
      restore: z.nullish(z.looseObject({ files: integer, restoredBytes: integer, totalBytes: integer, state: text })),
    }),
  ),
});

// What follows is in the public description only.

const volumeFields = {
  state: z.nullish(z.looseObject({ attachedTo: text })),
  status: text,
  terminatedAt: text,
};

/** A volume as it is listed: without labels and workspace, and its size is described as gigabytes. */
export const volumeLite = z.looseObject({
  metadata,
  spec: z.nullish(z.looseObject({ region: text, size: integer })),
  ...volumeFields,
});

/** A single volume: its size is described as megabytes. */
export const volumeResource = z.looseObject({
  metadata,
  spec: z.nullish(z.looseObject({ region: text, size: integer, template: text })),
  events,
  ...volumeFields,
});

/** An image repository with its tags; sizes in bytes. */
export const imageResource = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    displayName: text,
    resourceType: text,
    workspace: text,
    sourceWorkspace: text,
    lastDeployedAt: text,
    createdAt: text,
    updatedAt: text,
  }),
  spec: z.nullish(
    z.looseObject({
      size: integer,
      tags: z.nullish(z.array(z.looseObject({ name: text, size: integer, createdAt: text, updatedAt: text }))),
    }),
  ),
});

/** A custom domain; its records are verification secrets. */
export const customDomain = z.looseObject({
  metadata: z.looseObject({ ...metadata.shape, sharedFromWorkspace: text }),
  spec: z.nullish(z.looseObject({ region: text, domainType: text, status: text })),
});

/** A connection to a provider; `spec.secret` are credentials. */
export const connection = z.looseObject({
  metadata,
  spec: z.nullish(z.looseObject({ integration: text, sandbox: flag, config: anyObject, secret: anyObject })),
});

/** A snapshot of a sandbox; it has no size. */
export const snapshot = z.looseObject({
  id: text,
  name: text,
  createdAt: text,
  createdBy: text,
  status: text,
  workspace: text,
  sandboxName: text,
  source: z.nullish(z.looseObject({ name: text, deleted: flag })),
  spec: z.nullish(z.looseObject({ memory: integer, image: text, region: text, generation: text })),
});

/** An execution of a job. */
export const execution = z.looseObject({
  metadata: z.looseObject({
    id: text,
    job: text,
    workspace: text,
    createdAt: text,
    startedAt: text,
    completedAt: text,
  }),
  spec: z.nullish(z.looseObject({ parallelism: integer, timeout: integer, memoryOverride: integer })),
  stats: z.nullish(
    z.looseObject({
      total: integer,
      success: integer,
      failure: integer,
      cancelled: integer,
      retried: integer,
      running: integer,
    }),
  ),
  status: text,
});

/** A task of an execution. */
export const task = z.looseObject({
  metadata: z.looseObject({ name: text, scheduledAt: text, startedAt: text, completedAt: text }),
  spec: z.nullish(z.looseObject({ maxRetries: integer, timeout: text })),
  status: text,
});

/** A member of a workspace. */
export const user = z.looseObject({
  sub: text,
  email: text,
  given_name: text,
  family_name: text,
  role: text,
  source: text,
  accepted: flag,
  expired: flag,
  email_verified: flag,
});

/** A service account of a workspace. */
export const serviceAccount = z.looseObject({
  client_id: text,
  name: text,
  description: text,
  created_at: text,
  updated_at: text,
});

/** A policy (2.10). */
export const policyResource = z.looseObject({
  metadata,
  spec: z.nullish(policySpec),
  usage: z.nullish(
    z.looseObject({ agents: integer, functions: integer, jobs: integer, models: integer, sandboxes: integer }),
  ),
});

/** An integration provider (2.11). */
export const integrationProvider = z.looseObject({
  name: text,
  additionalInfos: anyObject,
  endpoints: anyObject,
  headers: anyObject,
  params: anyObject,
  organizations: z.nullish(z.array(z.looseObject({ avatar_url: text, displayName: text, id: text, name: text }))),
  repositories: z.nullish(z.array(z.looseObject({ id: text, name: text, organization: text, url: text, isBl: flag }))),
});

/** A template (2.12). */
export const template = z.looseObject({
  name: text,
  description: text,
  url: text,
  defaultBranch: text,
  sha: text,
  icon: text,
  iconDark: text,
  downloadCount: integer,
  forksCount: integer,
  starCount: integer,
  topics: texts,
  variables: z.nullish(
    z.array(z.looseObject({ name: text, description: text, integration: text, path: text, secret: flag })),
  ),
});
