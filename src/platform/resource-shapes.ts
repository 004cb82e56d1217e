import { z } from 'zod';

// The shapes of 2.1 to 2.12. Every documented field has its type, may be absent or null, and others pass: the document
// shows fields, but rarely which of them are always there.

const text = z.string().nullish();
const integer = z.number().nullish();
const flag = z.boolean().nullish();
const texts = z.array(z.string()).nullish();
const anyObject = z.record(z.string(), z.unknown()).nullish();

/** What all resources say about themselves (2.2). */
export const metadata = z.looseObject({
  name: z.string(),
  displayName: text,
  externalId: text,
  labels: z.record(z.string(), z.string()).nullish(),
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

const revision = z
  .looseObject({
    active: text,
    canary: text,
    canaryPercent: integer,
    stickySessionTtl: integer,
    traffic: integer,
  })
  .nullish();

const envs = z.array(z.looseObject({ name: text, value: text, secret: flag })).nullish();
const ports = z.array(z.looseObject({ target: z.number(), name: text, protocol: text })).nullish();
const namedTypes = z.array(z.looseObject({ name: text, type: text })).nullish();

const volumes = z
  .array(z.looseObject({ name: text, mountPath: text, sizeMb: integer, readOnly: flag, type: text }))
  .nullish();

const triggers = z
  .array(
    z.looseObject({
      id: text,
      type: text,
      enabled: flag,
      configuration: z
        .looseObject({
          authenticationType: text,
          path: text,
          retry: integer,
          schedule: text,
          tasks: z.array(z.unknown()).nullish(),
          timeout: integer,
          callbackUrl: text,
          callbackSecret: text,
        })
        .nullish(),
    }),
  )
  .nullish();

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
  runtime: z.looseObject({ ...scaled, ports, transport: text }).nullish(),
});

const agentSpec = z.looseObject({
  enabled: flag,
  public: flag,
  region: text,
  policies: texts,
  revision,
  triggers,
  volumes,
  repository: z.looseObject({ type: text, url: text }).nullish(),
  runtime: z.looseObject(scaled).nullish(),
});

const jobSpec = z.looseObject({
  enabled: flag,
  region: text,
  policies: texts,
  revision,
  triggers,
  volumes,
  githubRunner: z.looseObject({ repositories: texts }).nullish(),
  runtime: z
    .looseObject({
      diskPercent: integer,
      envs,
      generation: text,
      image: text,
      maxRetries: integer,
      memory: integer,
      ports,
      timeout: integer,
    })
    .nullish(),
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
const modelSpec = z.looseObject({ ...modelFields, runtime: z.looseObject(modelRuntime).nullish() });

const deletedModelSpec = z.looseObject({
  ...modelFields,
  configurations: z.record(z.string(), z.looseObject({ secret: flag, value: text })).nullish(),
  revision,
  runtime: z
    .looseObject({
      ...modelRuntime,
      args: z.array(z.unknown()).nullish(),
      command: z.array(z.unknown()).nullish(),
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
    })
    .nullish(),
});

const network = z.looseObject({
  allowedDomains: texts,
  forbiddenDomains: texts,
  subnet: text,
  firewall: z.looseObject({ rulesets: texts }).nullish(),
  egress: z
    .looseObject({
      gateway: text,
      mode: text,
      policies: z.array(z.looseObject({ name: text, mode: text, destinations: texts })).nullish(),
    })
    .nullish(),
  proxy: z
    .looseObject({
      allowedDomains: texts,
      forbiddenDomains: texts,
      bypass: z.array(z.unknown()).nullish(),
      routing: z
        .array(
          z.looseObject({
            destinations: texts,
            headers: anyObject,
            body: text,
            secrets: z.record(z.string(), z.string()).nullish(),
          }),
        )
        .nullish(),
    })
    .nullish(),
});

const sandboxSpec = z.looseObject({
  enabled: flag,
  region: text,
  vpc: text,
  volumes,
  lifecycle: z
    .looseObject({
      expirationPolicies: z.array(z.looseObject({ action: text, type: text, value: text })).nullish(),
      terminatedRetention: text,
    })
    .nullish(),
  runtime: z
    .looseObject({
      envs,
      expires: text,
      extraArgs: anyObject,
      image: text,
      memory: integer,
      ports,
      terminationGracePeriodSeconds: integer,
      ttl: text,
    })
    .nullish(),
  network: network.nullish(),
});

const policySpec = z.looseObject({
  type: text,
  resourceTypes: texts,
  sandbox: flag,
  flavors: namedTypes,
  locations: namedTypes,
  maxTokens: z
    .looseObject({
      granularity: text,
      input: integer,
      output: integer,
      total: integer,
      step: integer,
      ratioInputOverOutput: integer,
    })
    .nullish(),
});

const events = z.array(coreEvent).nullish();

/** A function, which is an MCP server (2.5). Its spec is required (2.1). */
export const functionResource = z.looseObject({ metadata, spec: functionSpec, events, status: text });

/** An agent (2.6). */
export const agentResource = z.looseObject({ metadata, spec: agentSpec.nullish(), events, status: text });

/** A batch job (2.7). */
export const jobResource = z.looseObject({ metadata, spec: jobSpec.nullish(), events, status: text });

/** A model endpoint as listed (2.8). */
export const modelResource = z.looseObject({ metadata, spec: modelSpec.nullish(), events, status: text });

/** A model endpoint as its deletion returns it (4.5). */
export const deletedModel = z.looseObject({ metadata, spec: deletedModelSpec.nullish(), events, status: text });

/** A sandbox in the lite shape of its listing (2.9), without events. */
export const sandboxResource = z.looseObject({
  metadata,
  spec: sandboxSpec.nullish(),
  status: text,
  state: text,
  expiresIn: integer,
  lastUsedAt: text,
  nodeGeneration: text,
  errors: z.array(z.looseObject({ code: text, fatal: flag, instance: text, message: text, time: text })).nullish(),
  archive: z
    .looseObject({
      createdAt: text,
      startedAt: text,
      restoreStartedAt: text,
      generation: text,
      key: text,
      size: integer,
      restore: z.looseObject({ files: integer, restoredBytes: integer, totalBytes: integer, state: text }).nullish(),
    })
    .nullish(),
});

/** A policy (2.10). */
export const policyResource = z.looseObject({
  metadata,
  spec: policySpec.nullish(),
  usage: z
    .looseObject({ agents: integer, functions: integer, jobs: integer, models: integer, sandboxes: integer })
    .nullish(),
});

/** An integration provider (2.11). */
export const integrationProvider = z.looseObject({
  name: text,
  additionalInfos: anyObject,
  endpoints: anyObject,
  headers: anyObject,
  params: anyObject,
  organizations: z.array(z.looseObject({ avatar_url: text, displayName: text, id: text, name: text })).nullish(),
  repositories: z.array(z.looseObject({ id: text, name: text, organization: text, url: text, isBl: flag })).nullish(),
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
  variables: z
    .array(z.looseObject({ name: text, description: text, integration: text, path: text, secret: flag }))
    .nullish(),
});
