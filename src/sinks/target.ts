import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { kindOfAddress } from '../base/addresses.ts';

/** The checked address of a host name. Connect to it instead of looking the name up again. */
export interface PinnedAddress {
  readonly address: string;
  readonly family: 4 | 6;
  /** Whether it is in a private network or on this machine. */
  readonly isPrivate: boolean;
}

/** Why nothing may be sent to a target. It names the host only, never the rest of a URL. */
export class TargetFault extends Error {
  /** Whether another attempt may succeed, as after a failed lookup. */
  readonly isPassing: boolean;
  constructor(message: string, isPassing = false) {
    super(message);
    this.isPassing = isPassing;
  }
}

/** The system resolver may take minutes. */
const lookupLimitMs = 10_000;

function withinLimit<T>(looking: Promise<T>, host: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new TargetFault(`host name ${host} not found within ${lookupLimitMs / 1000} s`, true)),
      lookupLimitMs,
    );
    looking.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * Looks a host up once and returns the checked address, so that a later change of the name has no effect. Throws
 * TargetFault if any address of the name is not allowed.
 */
export async function pinAddress(
  host: string,
  allowPrivateNetwork: boolean,
  resolve: (host: string) => Promise<readonly { address: string; family: number }[]> = (name) =>
    lookup(name, { all: true, verbatim: true }),
): Promise<PinnedAddress> {
  const bare = host.replace(/^\[|\]$/g, '');
  const literal = isIP(bare);
  let found: readonly { address: string; family: number }[];
  try {
    found = literal === 0 ? await withinLimit(resolve(bare), bare) : [{ address: bare, family: literal }];
  } catch (error) {
    if (error instanceof TargetFault) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new TargetFault(`host name ${bare} not found (${code})`, true);
  }
  for (const { address } of found) {
    const kind = kindOfAddress(address);
    if (kind === 'forbidden') {
      throw new TargetFault(`${bare} has a reserved or cloud metadata address, which is never allowed`);
    }
    if (kind === 'private' && !allowPrivateNetwork) {
      throw new TargetFault(
        `${bare} has a private address; to allow it, set allowPrivateNetwork: true in costbook.yaml`,
      );
    }
  }
  const [first] = found;
  if (first === undefined) throw new TargetFault(`host name ${bare} has no address`, true);
  return {
    address: first.address,
    family: first.family === 6 ? 6 : 4,
    isPrivate: kindOfAddress(first.address) === 'private',
  };
}
