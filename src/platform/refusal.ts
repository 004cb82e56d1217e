import type { HttpResponse } from '../base/effects.ts';
import { PlatformError } from '../base/errors.ts';
import { asSentence } from '../base/next-step.ts';
import { headerOf, isGzipped, parseBody } from './body.ts';
import { redirectWords, textIn } from './failure-words.ts';
import { answerLimits } from './interface/limits.ts';
import { parseRetryAfter } from './retry.ts';

/** What a refusal says of itself. */
interface Said {
  readonly code?: string | undefined;
  readonly text: string;
  /** Whether the same request may succeed later; undefined if it does not say. */
  readonly retryable?: boolean | undefined;
}

/**
 * The error for an answer with another status than 200, of whatever host. Its body may hold a text or an object under
 * `error` (2.14, and the general error page of the public description), a web page, or nothing. What it says of retrying
 * comes before the status.
 */
export async function refusalOf(response: HttpResponse): Promise<PlatformError> {
  const { status } = response;
  const { code, text, retryable = isPassing(status) } = await saidIn(response);
  const date = headerOf(response, 'date');
  const pauseMs = millisecondsOf(headerOf(response, 'retry-after-ms'));
  return new PlatformError(`${status}${text}`, {
    status,
    code,
    retryable,
    retryAfterMs: retryable ? (pauseMs ?? parseRetryAfter(headerOf(response, 'retry-after'), date)) : undefined,
  });
}

function isPassing(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

async function saidIn(response: HttpResponse): Promise<Said> {
  const inHeader = codeInHeaders(response);
  try {
    const bytes = { bytes: response.body, gzipped: isGzipped(response), maxBodyMib: answerLimits.otherBodyMib };
    const body = await parseBody(bytes);
    const said = saidInBody(body);
    if (said !== undefined) return { ...said, code: said.code ?? inHeader };
  } catch {
    // A proxy's web page, or nothing at all.
  }
  const { status } = response;
  return { code: inHeader, text: redirectWords(status, headerOf(response, 'location')) || titleIn(response) };
}

/** The error in a body of either form; undefined for another body. */
function saidInBody(body: unknown): Said | undefined {
  const { error, message } = asObject(body);
  if (typeof error === 'string') {
    return { code: error, text: textIn({ error, message: typeof message === 'string' ? message : undefined }) };
  }
  const { code, message: own, action, do_not: doNot, retryable } = asObject(error);
  if (typeof code !== 'string' && typeof own !== 'string') return undefined;
  const advice = [action, doNot].filter((words) => typeof words === 'string' && words.trim() !== '').join(' ');
  const said = typeof own === 'string' ? own : '';
  const text = textIn({
    error: typeof code === 'string' ? code : '',
    message: advice === '' ? said : `${said === '' ? '' : `${asSentence(said)} `}${advice}`,
  });
  return {
    code: typeof code === 'string' ? code : undefined,
    text,
    retryable: typeof retryable === 'boolean' ? retryable : undefined,
  };
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** The code in the header `X-<Maker>-Error-Code`, which repeats that of the body. */
function codeInHeaders({ headers }: HttpResponse): string | undefined {
  const [, code] = Object.entries(headers).find(([name]) => /^x-[\w-]+-error-code$/.test(name)) ?? [];
  const first = Array.isArray(code) ? code[0] : code;
  return first !== undefined && /^\w{1,100}$/.test(first) ? first : undefined;
}

/** The title of a web page, which a proxy sent. */
function titleIn({ body }: HttpResponse): string {
  const title = /<title>([^<]{1,80})/i.exec(body.subarray(0, 4096).toString('utf8'))?.[1];
  return title === undefined ? '' : textIn({ error: 'a web page', message: title });
}

/** Milliseconds as a public client reads them from Retry-After-Ms: they may have a fraction. */
function millisecondsOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,9}(\.\d+)?$/.test(header.trim()) ? Math.ceil(Number(header.trim())) : undefined;
}
