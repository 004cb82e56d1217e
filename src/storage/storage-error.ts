import { CostbookError, exitCodes, firstLineOf, isSystemError, UsageError } from '../base/errors.ts';
import { act, type NextStep, nextRun, wait } from '../base/next-step.ts';

/** An object store refused a request or could not be reached. */
export class StorageError extends CostbookError {
  override readonly exitCode = exitCodes.platform;
}

/** Parts of the errors of the AWS SDK that matter here. */
interface SdkError {
  readonly name?: string;
  readonly Code?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number };
  readonly cause?: unknown;
}

export function statusOf(error: unknown): number | undefined {
  return (error as SdkError | undefined)?.$metadata?.httpStatusCode;
}

/** The store's own word for an error: `AccessDenied`. */
export function wordOf(error: unknown): string {
  const { name = '', Code, code } = (error ?? {}) as SdkError;
  const word = [Code, code, name].find((text) => typeof text === 'string' && /^[A-Za-z_.]{2,60}$/.test(text));
  return word ?? 'unknown error';
}

/** Whether a conditional write met another object than it expected. */
export function isRefusedCondition(error: unknown): boolean {
  const status = statusOf(error);
  return status === 412 || (status === 409 && wordOf(error) === 'ConditionalRequestConflict');
}

/** Whether there is no such object. A missing bucket is another matter. */
export function isMissing(error: unknown): boolean {
  return ['NoSuchKey', 'NotFound'].includes(wordOf(error)) && statusOf(error) === 404;
}

/** Whether a store refuses one object, whatever it says of others: it is encrypted with another key, or in cold storage. */
export function isRefusedObject(error: unknown): boolean {
  const status = error instanceof StorageError ? statusOf(error.cause) : undefined;
  return status === 400 || status === 403;
}

const credentialAdvice =
  'give Costbook credentials by the AWS standard chain: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, a web ' +
  'identity, or the role of the machine.';

/** Words for what a person must correct, by the store's own word. */
const otherRegion = ['the bucket is in another region', 'correct storage.region.'] as const;
const mistakes: Readonly<Record<string, readonly [found: string, advice: string]>> = {
  CredentialsProviderError: ['found no credentials, expected some', credentialAdvice],
  NoSuchBucket: ['found no such bucket', 'create it, or correct its name.'],
  PermanentRedirect: otherRegion,
  AuthorizationHeaderMalformed: otherRegion,
  IllegalLocationConstraintException: otherRegion,
  InvalidBucketName: ['the store accepts no bucket of this name', 'correct it.'],
};

const refusals: Readonly<Record<string, string>> = {
  ExpiredToken: 'the credentials have expired: renew them.',
  ExpiredTokenException: 'the credentials have expired: renew them.',
  TokenRefreshRequired: 'the credentials have expired: renew them.',
  InvalidAccessKeyId: `the store does not know the access key: ${credentialAdvice}`,
  SignatureDoesNotMatch: 'the secret key does not belong to the access key: correct the credentials.',
  RequestTimeTooSkewed: "correct this machine's clock (NTP).",
};

const rights =
  'give these credentials the right to list the bucket (s3:ListBucket, s3:ListBucketMultipartUploads) and to read, ' +
  'write and remove objects below the prefix (s3:GetObject, s3:PutObject, s3:DeleteObject, s3:AbortMultipartUpload).';

/**
 * An error of the SDK in our words. `doing` says what was attempted, with the object: `store s3://costs/a.csv`. Errors
 * of this machine, and our own, stay as they are.
 */
export function storageFailure(error: unknown, doing: string): unknown {
  if (error instanceof CostbookError) return error;
  if (isSystemError(error) && typeof error.path === 'string') return error;
  const word = wordOf(error);
  const mistake = mistakes[word];
  if (mistake !== undefined) {
    return new UsageError(`cannot ${doing}: ${mistake[0]}`, { cause: error, next: act(mistake[1]) });
  }
  const status = statusOf(error);
  const [found, next] = foundBy(status, word, error);
  return new StorageError(`cannot ${doing}: ${found}.`, { cause: error, code: 'storage', next });
}

function foundBy(status: number | undefined, word: string, error: unknown): [string, NextStep] {
  const refusal = refusals[word];
  if (status === undefined) {
    const first = firstCause(error);
    const isTime = /Timeout/i.test(word) || /timed? ?out/i.test(first);
    return [
      isTime ? 'the store did not answer in time' : `the store cannot be reached (${first})`,
      wait(nextRun('continues from there', 'check storage.endpoint and the network')),
    ];
  }
  const found = `the store answered ${status} ${word}`;
  if (refusal !== undefined) return [found, act(refusal)];
  if (status === 401 || status === 403) return [found, act(rights)];
  if (status === 507 || /Quota|StorageFull|NoSpace/i.test(word)) {
    return [`${found}: it has no room`, act('give the bucket more room, or remove what nobody needs.')];
  }
  if (status >= 500 || status === 429) {
    return [found, wait(nextRun('continues from there', 'ask who runs the store'))];
  }
  return [`${found} (${firstLineOf(error).slice(0, 200)})`, act('check the settings under storage.')];
}

/** The words of the deepest cause: `connect ECONNREFUSED 127.0.0.1:9000`. */
function firstCause(error: unknown): string {
  let at: unknown = error;
  for (let depth = 0; depth < 5 && at instanceof Error && at.cause instanceof Error; depth += 1) at = at.cause;
  const { errors } = (at ?? {}) as { readonly errors?: readonly unknown[] };
  const words = firstLineOf(errors?.[0] ?? at);
  return words === '' ? wordOf(at) : words.slice(0, 200);
}
