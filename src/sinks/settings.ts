import { UsageError } from '../base/errors.ts';
import { oneOf } from '../text/choices.ts';
import { choice, flag, mapping, type Parse, parseText, z } from '../yaml/index.ts';

/** What a sink has that sends to an address. */
export interface Target {
  /** Whether the address may be in a private network or on this machine, also without TLS. */
  readonly allowPrivateNetwork: boolean;
}

export const allowPrivateNetwork = z._default(flag, false);

/** The settings of a type of sink. */
export function sinkMapping<N extends string, T extends Record<string, z.ZodMiniType>>(type: N, keys: T) {
  return mapping({ type: choice([type]), ...keys }, { expected: 'a sink such as { type: log }' });
}

/** An address, and its part after the host: each alone gives access. */
export function urlSecrets(url: string): string[] {
  const { pathname, search } = new URL(url);
  return [url, ...[`${pathname}${search}`, pathname].filter((path) => path.length > 8)];
}

interface TargetGiven {
  readonly url?: string | undefined;
  readonly apiUrl?: string | undefined;
  readonly allowPrivateNetwork: boolean;
}

/** Reports addresses that a secret must not be sent to. `known` are those of the service whose token it is. */
export function targetCheck(known: readonly string[] = []) {
  return (sink: TargetGiven, report: (message: string, ...path: string[]) => void): void => {
    const key = 'url' in sink ? 'url' : 'apiUrl';
    const target = sink[key];
    if (target === undefined || sink.allowPrivateNetwork) return;
    if (target.startsWith('http:')) report(plainAddress, key);
    else if (key === 'apiUrl' && known.every((each) => new URL(each).hostname !== new URL(target).hostname))
      report(`found an address of another host, expected ${oneOf(known)}`, key);
  };
}

/** What is wrong with an address that a secret must not be sent to. */
export const plainAddress =
  'found http, which is not encrypted, expected https; allowPrivateNetwork: true permits http to private addresses';

/** The value is never quoted: it may contain a secret. */
export const parseTargetUrl: Parse<string> = (value) => {
  const text = parseText(value, 4096);
  const url = /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined)
    throw new UsageError('found no http or https address, expected one such as https://hooks.example.com/…');
  if (url.username !== '' || url.password !== '')
    throw new UsageError('found credentials in the address, expected none');
  if (url.hash !== '') throw new UsageError('found a fragment (#) in the address, expected none; remove it');
  return url.href;
};

/** Host, port and whether it speaks TLS, of an address. */
export function placeOf(address: string, { allowPrivateNetwork }: Target) {
  const { hostname: host, protocol, port } = new URL(address);
  const isTls = protocol === 'https:';
  return { host, port: Number(port || (isTls ? 443 : 80)), isTls, allowPrivateNetwork };
}
