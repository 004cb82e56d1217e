import { type Operation, operations } from '../platform/interface/index.ts';
import { formatInstant, type Instant } from '../time/time.ts';
import { type Call, pathValue } from './call.ts';
import { demandWorkspace } from './callers.ts';
import { callbackOf, isPublic, memoryOf } from './listed-items.ts';
import { hashText, uuidOf } from './random.ts';
import { denied, notFound, Refusal } from './refusal.ts';
import { json, type Reply } from './reply.ts';
import type { ResourceKind } from './sample-listings.ts';
import type { Present } from './world.ts';

/** How long one task or call takes: whole seconds, always the same for the same input. */
function secondsOf({ resource }: Present, input: string): number {
  return 1 + (hashText(resource.key, input) % 20);
}

const dimensionOf = {
  agent: 'agent_compute_runtime_gbs',
  job: 'job_compute_runtime_gbs',
  function: 'mcp_server_compute_runtime_gbs',
} as const;

/** Adds the compute of one call to the hour in which it happens: gigabytes of memory times seconds. */
export function chargeCompute(
  { account, now }: Pick<Call, 'account' | 'now'>,
  present: Present,
  kind: keyof typeof dimensionOf,
  input: string,
): { readonly seconds: number; readonly gigabyteSeconds: number } {
  const seconds = secondsOf(present, input);
  const gigabyteSeconds = (memoryOf(present.look) / 1024) * seconds;
  const { workspace, name } = present.resource;
  account.changes.add({ workspace, name, dimension: dimensionOf[kind] }, now, gigabyteSeconds);
  return { seconds, gigabyteSeconds };
}

/**
 * The workload that a call is for. Refuses with 401 and 403 a caller without access, with 404 an unknown one, with 403
 * one that is switched off, and with 503 one that is not deployed yet.
 */
export function workloadOf(call: Call, kind: ResourceKind, name: string): Present {
  const { account, caller, now } = call;
  const workspace = pathValue(call, 'workspace');
  const [found] = account.world.find(kind, name, workspace, now);
  const isOpen = found !== undefined && isPublic(found.resource, found.look);
  if (!isOpen) {
    if (caller === undefined) throw new Refusal(401, 'unauthorized', 'Invalid or missing credentials');
    if (caller.scope !== undefined) throw denied(`This token has the scope ${caller.scope} only`);
    demandWorkspace(caller, workspace);
  }
  if (found === undefined) throw notFound(`There is no ${kind} ${name} in workspace ${workspace}`);
  if (found.look.isEnabled === false) throw new Refusal(403, 'disabled', `${kind} ${name} is switched off`);
  const readyAt = found.resource.createdAt + deployMs;
  if (now < readyAt) {
    const seconds = Math.ceil((readyAt - now) / 1000);
    throw new Refusal(503, 'not_deployed', `${kind} ${name} is not deployed yet`, { 'retry-after': String(seconds) });
  }
  return found;
}

/** A resource serves from the end of its first deployment; later ones leave the active revision in place. */
const deployMs = 10 * 60_000;

/** POST <workspace>/agents/<agent> (4.7). */
export function answerAgent(call: Call): Reply {
  const agent = workloadOf(call, 'agent', pathValue(call, 'agent'));
  const { inputs } = call.body as { inputs: string };
  const threadId = call.values['threadId'];
  const { seconds, gigabyteSeconds } = chargeCompute(call, agent, 'agent', inputs);
  return json({
    ...reply(call, agent, inputs, threadId),
    usage: { seconds, gigabyteSeconds },
  });
}

/** What an agent says to an input; with a thread, it knows the earlier inputs of that thread. */
function reply(call: Call, { resource }: Present, inputs: string, threadId: string | undefined): object {
  const said = threadId === undefined ? [inputs] : call.account.world.say(resource, threadId, inputs);
  const earlier = said.slice(0, -1);
  const first = earlier[0];
  const memory = first === undefined ? '' : ` Earlier in this thread you said: ${excerpt(first)}`;
  return {
    id: uuidOf(resource.key, [threadId ?? '', said.length, inputs].join('\n')),
    agent: resource.name,
    workspace: resource.workspace,
    ...(threadId === undefined ? {} : { threadId, remembered: earlier.length }),
    output: `${resource.name} read: ${excerpt(inputs)}${memory}`,
    createdAt: formatInstant(call.now),
  };
}

/** The first words of a text: an invented answer must not contain facts of its own. */
export function excerpt(text: string): string {
  const words = text.split(/\s+/).filter((word) => word !== '');
  return words.length > 60 ? `${words.slice(0, 60).join(' ')} …` : words.join(' ');
}

/** POST <workspace>/jobs/<job>/executions (4.7): the tasks become usage of this hour. */
export function answerExecution(call: Call): Reply {
  const job = workloadOf(call, 'job', pathValue(call, 'job'));
  const { tasks } = call.body as { tasks: readonly object[] };
  if (tasks.length === 0) throw new Refusal(400, 'invalid_body', 'tasks: found an empty list, expected a task or more');
  return json(execution(call, job, tasks));
}

/** POST /v0/jobs/<job>/executions: the same for the workspace of the header, or for the only one that has such a job. */
export function answerStart(call: Call): Reply {
  const job = pathValue(call, 'jobId');
  const found = call.account.world.find('job', job, call.caller?.workspace, call.now);
  if (found.length > 1) throw new Refusal(409, 'ambiguous_name', `Several workspaces have a job ${job}: name one`);
  const workspace = call.caller?.workspace ?? found[0]?.resource.workspace ?? '';
  return answerExecution({ ...call, values: { workspace, job } });
}

function execution(call: Call, job: Present, tasks: readonly object[]): object {
  const { resource } = job;
  const text = JSON.stringify(tasks);
  const run = tasks.map((task, index) => {
    const { seconds, gigabyteSeconds } = chargeCompute(call, job, 'job', `${index} ${JSON.stringify(task)}`);
    return { index, status: 'SUCCEEDED', seconds, gigabyteSeconds };
  });
  const id = uuidOf(resource.key, `${call.now} ${text}`);
  call.account.world.start(resource, { id, at: call.now, seconds: run.map(({ seconds }) => seconds) });
  return {
    id,
    executionId: id,
    job: resource.name,
    workspace: resource.workspace,
    status: 'SUCCEEDED',
    createdAt: formatInstant(call.now),
    tasks: run,
  };
}

/** Kinds with asynchronous triggers, by their name in a path. */
const asyncKinds = { agents: 'agent', functions: 'function', jobs: 'job' } as const;

/** An asynchronous trigger on the inference host: `/<workspace>/agents/<agent>/async`, and likewise for functions and jobs. */
export interface AsyncTrigger {
  readonly name: 'async';
  readonly operation: Operation;
  readonly values: Readonly<Record<string, string>>;
}

/** It takes any JSON, as far as the document shows. */
const asyncOperation: Operation = {
  ...operations.queryModel,
  name: 'async-trigger',
  path: '/{workspace}/{kind}/{name}/async',
  parameters: [],
  body: { ...operations.queryModel.body, required: false },
};

/** The trigger at a path of the inference host. Pure. */
export function asyncTrigger(path: string): AsyncTrigger | undefined {
  const match = /^\/(?<workspace>[^/]+)\/(?<kind>agents|functions|jobs)\/(?<name>[^/]+)\/async$/.exec(path);
  return match === null ? undefined : { name: 'async', operation: asyncOperation, values: { ...match.groups } };
}

/**
 * POST <workspace>/<kind>/<name>/async: the asynchronous trigger of an agent, function or job. The document does not show
 * where it listens. Answers 202; the result goes to the trigger's callbackUrl.
 */
export function answerAsync(call: Call): Reply {
  const kind = asyncKinds[pathValue(call, 'kind') as keyof typeof asyncKinds];
  const present = workloadOf(call, kind, pathValue(call, 'name'));
  const { resource } = present;
  const text = JSON.stringify(call.body ?? null);
  const id = uuidOf(resource.key, `async ${call.now} ${text}`);
  const result = asyncResult(call, present, kind, text);
  const body = JSON.stringify({
    id,
    resource: resource.name,
    workspace: resource.workspace,
    status: 'succeeded',
    result,
  });
  const target = callbackOf(resource, call.now, call.surroundings.callbackUrl);
  call.callbacks.send({ ...target, body, time: secondsSince1970(call.now) });
  return json({ id, status: 'accepted', callbackUrl: target.callbackUrl }, 202);
}

function asyncResult(call: Call, present: Present, kind: 'agent' | 'function' | 'job', text: string): unknown {
  if (kind === 'job') {
    const { tasks } = (call.body ?? {}) as { tasks?: unknown };
    return execution(call, present, Array.isArray(tasks) && tasks.length > 0 ? tasks : [{}]);
  }
  chargeCompute(call, present, kind, text);
  if (kind === 'function') return { accepted: call.body ?? null };
  const { workspace, name } = present.resource;
  call.account.changes.add({ workspace, name, dimension: 'agent_async_requests_count' }, call.now, 1);
  const { inputs } = (call.body ?? {}) as { inputs?: unknown };
  return reply(call, present, typeof inputs === 'string' ? inputs : text, undefined);
}

function secondsSince1970(instant: Instant): number {
  return Math.floor(instant / 1000);
}
