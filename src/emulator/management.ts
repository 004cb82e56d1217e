import { operations } from '../platform/interface/index.ts';
import { formatInstant } from '../time/time.ts';
import { type Call, pathValue } from './call.ts';
import { environment, itemAt, memoryOf, secretOf } from './listed-items.ts';
import { uuidOf } from './random.ts';
import { denied, notFound, Refusal } from './refusal.ts';
import { json, type Reply } from './reply.ts';
import { revisionOf } from './resource-states.ts';
import { integrations, templates } from './sample-catalog.ts';
import type { ResourceKind } from './sample-listings.ts';
import { type Snapshot, snapshotsOf } from './snapshots.ts';
import type { Present } from './world.ts';

/** GET /v0/integrations/{integrationName} (4.2). */
export function answerIntegration(call: Call): Reply {
  const name = pathValue(call, 'integrationName');
  if (!Object.hasOwn(integrations, name)) throw notFound(`There is no integration ${name}`);
  return json(integrations[name]);
}

/** GET /v0/templates/{templateName} (4.4). */
export function answerTemplate(call: Call): Reply {
  return json(templateOf(call).template);
}

/** GET /v0/templates/{templateName}/contents (4.4). */
export function answerContents(call: Call): Reply {
  return json(templateOf(call).contents);
}

function templateOf(call: Call) {
  const name = pathValue(call, 'templateName');
  const template = Object.hasOwn(templates, name) ? templates[name] : undefined;
  if (template === undefined) throw notFound(`There is no template ${name}`);
  return template;
}

/** POST /v0/sandboxes/{sandboxName}/snapshots/{snapshotId}/restore (4.3). */
export function answerRestore(call: Call): Reply {
  const { account, now } = call;
  const { resource } = onlyOne(call, 'sandbox', pathValue(call, 'sandboxName'));
  if (now >= resource.terminatedAt) throw notFound(`Sandbox ${resource.name} is terminated`);
  const snapshot = findSnapshot(call, resource.workspace, resource.name, pathValue(call, 'snapshotId'));
  account.world.restore(resource, snapshot, now);
  return json({ name: resource.name, snapshotId: snapshot.id });
}

/** A snapshot by its name among those of the sandbox, or by its ID in the whole workspace. */
function findSnapshot({ account, now }: Call, workspace: string, sandbox: string, wanted: string): Snapshot {
  const inWorkspace = account.world.all('sandbox').filter((each) => each.workspace === workspace);
  const found =
    inWorkspace
      .filter(({ name, createdAt, terminatedAt }) => name === sandbox && createdAt <= now && now < terminatedAt)
      .flatMap((each) => snapshotsOf(each, now))
      .find(({ name }) => name === wanted) ??
    inWorkspace
      .filter(({ createdAt }) => createdAt <= now)
      .flatMap((each) => snapshotsOf(each, now))
      .find(({ id }) => id === wanted);
  if (found !== undefined) return found;
  throw notFound(`Sandbox ${sandbox} has no snapshot ${wanted}, and workspace ${workspace} has none with this ID`);
}

/** DELETE /v0/models/{modelName} (4.5). */
export function answerDeleteModel(call: Call): Reply {
  const { account, now, surroundings } = call;
  const { resource, look } = onlyOne(call, 'model', pathValue(call, 'modelName'));
  const item = itemAt(resource, look, now, surroundings) as { spec: { runtime: object }; events: object[] };
  account.world.remove(resource, now);
  const revision = revisionOf(resource, look.from);
  const ended = { type: 'deployment', status: 'DELETING', message: 'deleted', revision, time: formatInstant(now) };
  return json({
    ...item,
    events: [...item.events, ended],
    status: 'DELETING',
    spec: {
      ...item.spec,
      configurations: {
        API_KEY: { secret: true, value: secretOf(resource, 'configuration', now) },
        BASE_PATH: { secret: false, value: '/v1' },
      },
      revision: { active: revision, canary: '', canaryPercent: 0, stickySessionTtl: 0, traffic: 100 },
      runtime: {
        ...item.spec.runtime,
        args: [],
        command: ['gateway'],
        configuration: { retries: 2 },
        cpu: 1,
        envs: environment(resource, now),
        expires: '',
        generation: 'mk3',
        image: `models/${resource.name}:latest`,
        maxConcurrentTasks: 10,
        maxRetries: 2,
        maxScale: 10,
        minScale: 0,
        memory: memoryOf(look),
        metricPort: 9090,
        ports: [{ target: 8080, name: 'http', protocol: 'HTTP' }],
        startupProbe: { path: '/health', periodSeconds: 5 },
        timeout: 60,
        transport: 'http-stream',
        ttl: '',
      },
    },
  });
}

/** The resource of this name that the caller may change. Refuses an unknown name, and one that several workspaces have. */
function onlyOne({ account, caller, now }: Call, kind: ResourceKind, name: string): Present {
  if (caller?.mayChange !== true) throw denied('Insufficient permissions');
  const [found, ...others] = account.world.find(kind, name, caller.workspace, now);
  if (found === undefined) throw notFound(`There is no ${kind} ${name}`);
  if (others.length === 0) return found;
  const workspaces = [found, ...others].map(({ resource }) => resource.workspace).join(', ');
  throw new Refusal(
    409,
    'ambiguous_name',
    `Several workspaces have a ${kind} ${name} (${workspaces}): use the token of one of them`,
  );
}

/** GET /v0/workspaces: an array in every version, of what the token reaches. */
export function answerWorkspaces(call: Call): Reply {
  return json(reachedBy(call).map((name) => workspaceOf(call, name)));
}

/** GET /v0/workspaces/{workspaceName}, with the number of items of each listing if asked for. */
export function answerWorkspace(call: Call): Reply {
  const name = pathValue(call, 'workspaceName');
  const { story, shelves } = call.account;
  if (!story.workspaceTokens.has(name)) throw notFound(`There is no workspace ${name}`);
  if (!reachedBy(call).includes(name)) throw denied(`This token has no access to workspace ${name}`);
  if (call.parameters.get('countResources') !== true) return json(workspaceOf(call, name));
  const everything = { ...call, workspace: name, isPaged: false, calledExpired: false };
  const resourceCounts = Object.fromEntries(
    workloadKinds.map(([kind, operation]) => {
      const listed = shelves.answer(kind, new Map([['showTerminated', true]]), everything);
      return [operation.name, Array.isArray(listed) ? listed.length : 0];
    }),
  );
  return json({ ...workspaceOf(call, name), resourceCounts });
}

const workloadKinds = [
  ['sandbox', operations.sandboxes],
  ['agent', operations.agents],
  ['function', operations.functions],
  ['job', operations.jobs],
  ['model', operations.models],
  ['policy', operations.policies],
  ['volume', operations.volumes],
] as const;

/** The workspaces that a caller reaches. */
function reachedBy({ account: { story }, caller }: Call): readonly string[] {
  return [...story.workspaceTokens.keys()].filter((name) => (caller?.workspace ?? name) === name);
}

/** Labels that people gave workspaces. */
const workspaceLabels: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  production: { stage: 'live', 'cost-center': '4100' },
  research: { 'cost-center': '5000' },
};

function workspaceOf({ account: { story } }: Call, name: string): object {
  return {
    name,
    displayName: name,
    id: uuidOf(0, `workspace ${story.account.id} ${name}`).slice(0, 8),
    accountId: story.account.id,
    labels: workspaceLabels[name] ?? {},
    region: 'us-pdx-1',
    status: 'ready',
    createdAt: formatInstant(story.since),
    updatedAt: formatInstant(story.since),
  };
}

/** GET /v0/accounts (4.6). Its shape is not shown; the other listings have a list of envelopes (2.1). */
export function answerAccounts(accounts: readonly Call['account'][], { caller }: Call): Reply {
  const first = accounts[0]?.story;
  const seen = accounts.filter(
    ({ story }) => story === caller?.story || (caller?.story === first && caller?.isAdmin === true),
  );
  return json(
    seen.map(({ story: { account, since } }) => ({
      id: account.id,
      metadata: { name: account.id, displayName: account.displayName, createdAt: formatInstant(since) },
      spec: {},
    })),
  );
}
