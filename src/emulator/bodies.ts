import type { Operation } from '../platform/interface/index.ts';
import type { Headers } from './callers.ts';
import { invalid, Refusal } from './refusal.ts';

/** The longest body of a request. */
export const maxBodyBytes = 8 * 1024 * 1024;

/** The JSON body of a request, checked by its operation; undefined if there is none. Refuses with 400 what is wrong. */
export function readBody({ name, body: rule, headers: wanted }: Operation, headers: Headers, bytes: Buffer): unknown {
  const type = String(headers['content-type'] ?? '');
  const demanded = wanted?.['content-type'];
  if (demanded !== undefined && !type.startsWith(demanded)) {
    throw invalid('invalid_parameter', `Header content-type: found ${JSON.stringify(type)}, expected ${demanded}`);
  }
  if (rule === undefined) {
    if (bytes.length > 0) throw invalid('invalid_body', `${name} has no request body`);
    return undefined;
  }
  if (bytes.length === 0) {
    if (rule.required) throw invalid('invalid_body', `The body is empty; expected ${rule.rule}`);
    return undefined;
  }
  if (type !== '' && !/\bjson\b/.test(type)) {
    throw new Refusal(415, 'unsupported_media_type', `The body is ${type}; expected application/json`);
  }
  const checked = rule.type.safeParse(parseJson(bytes));
  if (checked.success) return checked.data;
  const problems = checked.error.issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`);
  throw invalid('invalid_body', `${problems.join('; ')}; expected ${rule.rule}`);
}

/** The JSON of a body. Refuses with 400 what is none. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw invalid('invalid_body', 'The body is not JSON');
  }
}
