import { firstSentence } from '../base/errors.ts';

/** What a stored error names by code: it stays the same however the words around it change. */
export interface FailureCodes {
  /** HTTP status of the answer. */
  readonly status: number | undefined;
  /** Code of the system, of TLS or of the HTTP client: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
  readonly system: string | undefined;
  /** Host that did not answer. */
  readonly host: string | undefined;
}

const systemCode = /\b(?:E|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|UND_ERR_)[A-Z_]{3,}\b/;

/** The codes of one failure. The advice after its first sentence is not read. Pure. */
export function codesOf(error: string): FailureCodes {
  const sentence = firstSentence(error);
  const [, status] = /\banswered (\d{3})\b/.exec(sentence) ?? [];
  return {
    status: status === undefined ? undefined : Number(status),
    system: systemCode.exec(sentence)?.[0],
    host: /no answer from ([^\s:]+)/.exec(sentence)?.[1],
  };
}

/** The failures of a run of several accounts: each has its own line. */
export function failuresIn(error: string): readonly string[] {
  return error.split('\n').filter((line) => line.trim() !== '');
}

/** Codes of a connection that fails every night until a person acts: wrong name, closed port, untrusted certificate. */
const settingCodes =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$|CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;

/** Whether the next night will fail in the same way until somebody changes a setting, a token or the network. Pure. */
export function isForPerson({ status, system }: FailureCodes): boolean {
  if (status !== undefined) return status < 500 && status !== 408 && status !== 429;
  return system !== undefined && settingCodes.test(system);
}

/** Whether a line of two errors names the same status, or the same system error of the same host. Pure. */
export function isSameCause(one: string, other: string): boolean {
  return failuresIn(one).some((first) =>
    failuresIn(other).some((second) => {
      const [a, b] = [codesOf(first), codesOf(second)];
      if (a.status !== undefined || b.status !== undefined) return a.status === b.status;
      return a.system !== undefined && a.system === b.system && a.host === b.host;
    }),
  );
}
