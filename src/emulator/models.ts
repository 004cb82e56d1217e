import type { Instant } from '../time/time.ts';
import { type Call, pathValue } from './call.ts';
import { remember } from './maps.ts';
import { hashText, mix, toUnit, uuidOf } from './random.ts';
import { invalid, Refusal } from './refusal.ts';
import { eventStream, json, type Reply } from './reply.ts';
import { excerpt, workloadOf } from './workloads.ts';
import type { Present } from './world.ts';

/** Tokens that went through a policy in one interval. */
interface Spent {
  readonly input: number;
  readonly output: number;
}

interface Limits {
  readonly granularity?: string;
  readonly input?: number;
  readonly output?: number;
  readonly total?: number;
}

/** The body of a request to a model, as far as the emulator reads it. */
interface Prompt {
  readonly messages?: readonly { readonly role?: string; readonly content?: unknown }[];
  readonly input?: unknown;
  readonly prompt?: unknown;
  readonly stream?: boolean;
}

/** Answers models, and counts tokens against their policies. */
export interface Models {
  answer(call: Call, isChat: boolean): Reply;
  reset(): void;
}

const intervalMs: Readonly<Record<string, number>> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};
const maxIntervals = 10_000;
const maxAnswerWords = 60;
const embeddingLength = 8;

/** Models that nobody has used yet. */
export function openModels(): Models {
  const spent = new Map<string, Spent>();

  /** Refuses with 429 what would exceed a limit of a policy; counts it otherwise. */
  function spend(call: Call, { resource, look }: Present, input: number, output: number): void {
    const rules = (look.policies ?? []).flatMap((name) => limitsOf(call, resource.workspace, name));
    const counts = rules.map(({ name, limits }) => {
      const lengthMs = intervalMs[limits.granularity ?? 'minute'] ?? 60_000;
      const interval = Math.floor(call.now / lengthMs);
      const key = `${resource.workspace}/${name}/${interval}`;
      const before = spent.get(key) ?? { input: 0, output: 0 };
      const after = { input: before.input + input, output: before.output + output };
      const endsAt = (interval + 1) * lengthMs;
      refuseOver(name, limits, after, Math.ceil((endsAt - call.now) / 1000));
      return { key, after };
    });
    for (const { key, after } of counts) remember(spent, key, after, maxIntervals);
  }

  return {
    reset: () => spent.clear(),
    answer(call, isChat) {
      const present = workloadOf(call, 'model', pathValue(call, 'model'));
      const body = call.body as Prompt | null;
      if (typeof body !== 'object' || body === null) throw invalid('invalid_body', 'The body is not an object');
      const text = promptOf(body);
      if (text === undefined) {
        throw invalid('invalid_body', 'The body has none of messages, input and prompt');
      }
      const output = excerpt(text.last);
      const usage = { input: tokensOf(text.all), output: tokensOf(output) };
      spend(call, present, usage.input, usage.output);
      const { type = '', model = '' } = runtimeOf(present);
      const about = { id: uuidOf(present.resource.key, `${model}\n${text.all}`), model, output, usage, now: call.now };
      if (!isChat && model.includes('embedding')) return json(embeddings(about, text.inputs));
      if (!isChat && type === 'anthropic') return json(message(about));
      return body.stream === true ? chunks(about) : json(completion(about));
    },
  };
}

function limitsOf(call: Call, workspace: string, name: string): { name: string; limits: Limits }[] {
  const [policy] = call.account.world.find('policy', name, workspace, call.now);
  const limits = policy?.resource.spec['maxTokens'] as Limits | undefined;
  return limits === undefined ? [] : [{ name, limits }];
}

function refuseOver(policy: string, limits: Limits, { input, output }: Spent, seconds: number): void {
  const found = { input, output, total: input + output };
  for (const part of ['input', 'output', 'total'] as const) {
    const limit = limits[part];
    if (limit === undefined || found[part] <= limit) continue;
    throw new Refusal(
      429,
      'token_limit_exceeded',
      `Policy ${policy} allows ${limit} ${part} tokens a ${limits.granularity ?? 'minute'}; with this request there are ${found[part]}`,
      { 'retry-after': String(seconds) },
    );
  }
}

function runtimeOf({ resource }: Present): { type?: string; model?: string } {
  return (resource.spec['runtime'] ?? {}) as { type?: string; model?: string };
}

/** Four characters are a token, as a rule of thumb. */
function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}

function promptOf({ messages, input, prompt }: Prompt): { all: string; last: string; inputs: string[] } | undefined {
  if (Array.isArray(messages)) {
    const texts = messages.map(({ content }) => textOf(content));
    const last = messages.findLastIndex(({ role }) => role === 'user');
    return { all: texts.join('\n'), last: texts[last] ?? texts.at(-1) ?? '', inputs: texts };
  }
  const given = input ?? prompt;
  if (given === undefined) return undefined;
  const inputs = Array.isArray(given) ? given.map(textOf) : [textOf(given)];
  return { all: inputs.join('\n'), last: inputs.at(-1) ?? '', inputs };
}

/** The text of a message: a string, or a list of parts with texts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(textOf).join(' ');
  if (typeof content === 'object' && content !== null && 'text' in content) return textOf(content.text);
  return JSON.stringify(content ?? '');
}

interface Generated {
  readonly id: string;
  readonly model: string;
  readonly output: string;
  readonly usage: Spent;
  readonly now: Instant;
}

/** The usual form of a chat completion. */
function completion({ id, model, output, usage, now }: Generated): object {
  return {
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: Math.floor(now / 1000),
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: output }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
    },
  };
}

/** The same as a stream of events, a word each. */
function chunks({ id, model, output, now }: Generated): Reply {
  const common = { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created: Math.floor(now / 1000), model };
  const chunk = (delta: object, reason: string | null) =>
    JSON.stringify({ ...common, choices: [{ index: 0, delta, finish_reason: reason }] });
  const words = output.split(/(?<= )/).slice(0, maxAnswerWords + 1);
  return eventStream([
    chunk({ role: 'assistant', content: '' }, null),
    ...words.map((word) => chunk({ content: word }, null)),
    chunk({}, 'stop'),
    '[DONE]',
  ]);
}

/** The message form of another provider. */
function message({ id, model, output, usage }: Generated): object {
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: output }],
    stop_reason: 'end_turn',
    usage: { input_tokens: usage.input, output_tokens: usage.output },
  };
}

function embeddings({ model, usage }: Generated, inputs: readonly string[]): object {
  return {
    object: 'list',
    model,
    data: inputs.map((input, index) => ({
      object: 'embedding',
      index,
      embedding: Array.from({ length: embeddingLength }, (_, at) => 2 * toUnit(mix(hashText(at, input), at)) - 1),
    })),
    usage: { prompt_tokens: usage.input, total_tokens: usage.input },
  };
}
