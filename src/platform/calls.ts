import { PlatformError, RefusedAnswerError } from '../base/errors.ts';
import { parseBytes, type RawBody, unpackBody } from './body.ts';
import type { Client, Sending } from './client.ts';
import { answerLimits } from './interface/limits.ts';
import type { Operation } from './interface/operations.ts';
import type { Texts } from './interface/request.ts';
import { firstDifference } from './interface/schema.ts';
import { readListingPage } from './listings.ts';
import { type Page, pages } from './paging.ts';

/** The answer of a call. */
export interface Answer {
  /** The JSON value; the text of an answer that is not JSON, where the document does not show it; undefined if empty. */
  readonly value: unknown;
  /** Where it differs from the documented shape, first difference first; undefined if it does not. */
  readonly deviation: string | undefined;
}

/** A call of an operation and what it is about, for messages. */
export interface Call {
  readonly operation: Operation;
  readonly values: Texts;
  readonly sending?: Sending | undefined;
}

/** `agent scout, workspace north`: the call in messages, without values that may be secret. */
function aboutCall({ operation, values }: Call): string {
  const named = operation.parameters
    .filter(({ name, in: place }) => (place === 'path' || place === 'host') && values[name] !== undefined)
    .map(({ name }) => `${name} ${values[name]}`);
  return named.length === 0 ? `section ${operation.section}` : named.join(', ');
}

/** Sends one call and reads its whole answer. Throws as the client does. */
export function callOnce(client: Client, call: Call, signal: AbortSignal): Promise<Answer> {
  const { operation, values, sending } = call;
  return client.call(operation, values, aboutCall(call), (body) => readAnswer(operation, body), signal, sending);
}

/** Sends one call and passes its answer on as it comes. Throws as the client does. */
export async function callStreamed(
  client: Client,
  call: Call,
  onChunk: (chunk: Buffer) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { operation, values, sending } = call;
  await client.call(operation, values, aboutCall(call), async () => undefined, signal, { ...sending, onChunk });
}

async function readAnswer(operation: Operation, body: RawBody): Promise<Answer> {
  const bytes = await unpackBody(body);
  if (operation.answer === 'any')
    return { value: bytes.length === 0 ? undefined : jsonOrText(bytes), deviation: undefined };
  const value = bytes.length === 0 && operation.changes ? undefined : parseBytes(bytes);
  return { value, deviation: deviationOf(operation, value) };
}

function jsonOrText(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  if (!/^\s*[[{"\d-]|^\s*(true|false|null)\b/.test(text)) return text;
  try {
    return parseBytes(bytes);
  } catch (error) {
    // A stream of events, or lines of JSON.
    if (error instanceof PlatformError && error.retryable) return text;
    throw error;
  }
}

/** `metadata.name: expected string`: the first place where an answer differs from the documented shape. Pure. */
function deviationOf({ response }: Operation, value: unknown): string | undefined {
  const checked = response.safeParse(value);
  return checked.success ? undefined : firstDifference(checked.error, 'the answer');
}

/** One page of an answer with pages. */
export interface AnswerPage extends Page {
  readonly items: readonly unknown[];
  /** The whole answer of this page. */
  readonly value: unknown;
  readonly deviation: string | undefined;
}

/**
 * The pages of a listing or of grouped metrics, from the first or from the cursor among the values to the last. A listing
 * without pages, as in earlier versions, is one page. Throws as the client and `pages` do, CursorRefusedError among it: a
 * caller may start again.
 */
export function answerPages(
  client: Client,
  call: Call,
  signal: AbortSignal,
): AsyncGenerator<AnswerPage, void, undefined> {
  const { operation, values, sending } = call;
  if (operation.paging === undefined) throw new TypeError(`${operation.name} has no pages`);
  const maxPages = operation.paging === 'items' ? answerLimits.maxListingPages : answerLimits.maxMetricsPages;
  const about = aboutCall(call);
  return pages(about, maxPages, (number, cursor = values['cursor']) =>
    client.call(
      operation,
      cursor === undefined ? values : { ...values, cursor },
      `${about}, page ${number}`,
      async (body) => readPage(call, await readAnswer(operation, body), `${about}, page ${number}`, cursor),
      signal,
      sending,
    ),
  );
}

function readPage({ operation }: Call, answer: Answer, about: string, cursor: string | undefined): AnswerPage {
  if (operation.paging === 'items') {
    const { items, keys, hasMore, nextCursor } = readListingPage(answer.value, { about, limit: undefined, cursor });
    return { ...answer, items, keys, hasMore, nextCursor };
  }
  if (answer.deviation !== undefined) throw new RefusedAnswerError(`${about}: ${answer.deviation}`);
  const { data, meta } = answer.value as {
    data: readonly Readonly<Record<string, unknown>>[];
    meta: { hasMore: boolean; nextCursor?: string | null };
  };
  const keys = data.map((entry) =>
    JSON.stringify(
      ['workspace', 'resourceType', 'resourceName', 'resourceUuid', 'billingDimension'].map((name) => entry[name]),
    ),
  );
  return { ...answer, items: data, keys, hasMore: meta.hasMore, nextCursor: meta.nextCursor || undefined };
}
