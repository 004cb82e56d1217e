import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/** An address that may be talked to, in the place of the name that led to it. */
export interface PinnedAddress {
  readonly address: string;
  readonly family: 4 | 6;
  /** Whether it lies in a private network or on this machine. */
  readonly isPrivate: boolean;
}

/** Why a target may not be talked to; it names the host, and never more of an address. */
export class TargetFault extends Error {
  /** Whether it may be otherwise in a moment: a name that is not found now. */
  readonly isPassing: boolean;
  constructor(message: string, isPassing = false) {
    super(message);
    this.isPassing = isPassing;
  }
}

const privateNetworks = blockList([
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['::1', 128],
  ['fc00::', 7],
]);

/** Addresses of no host that anybody means: link-local ones are where clouds tell their machines' secrets. */
const forbiddenNetworks = blockList([
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 128],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 32],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]);

function blockList(networks: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of networks) list.addSubnet(network, prefix, isIP(network) === 6 ? 'ipv6' : 'ipv4');
  return list;
}

/** Where an address lies; an IPv4 address in IPv6 clothes is what it wears them over. */
export function kindOfAddress(address: string): 'public' | 'private' | 'forbidden' {
  const plain = unmapped(address);
  const family = isIP(plain) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(plain) === 0 || forbiddenNetworks.check(plain, family)) return 'forbidden';
  return privateNetworks.check(plain, family) ? 'private' : 'public';
}

function unmapped(address: string): string {
  const text = address.replace(/%.*$/, '').toLowerCase();
  const dotted = /^(?:::ffff:|::)(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1];
  if (dotted !== undefined) return dotted;
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(text) ?? [];
  if (high === undefined || low === undefined) return text;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return `${a >> 8}.${a & 255}.${b >> 8}.${b & 255}`;
}

/** The system's own resolver may take minutes. */
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
 * The address behind a host, looked up once: who connects to it talks to what was looked at, whatever the name says a
 * moment later. Throws TargetFault where any address behind the name is one that may not be talked to.
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
    if (kind === 'forbidden') throw new TargetFault(`${bare} leads to an address that nothing may be sent to`);
    if (kind === 'private' && !allowPrivateNetwork) {
      throw new TargetFault(
        `${bare} leads to a private address, which is refused; allowPrivateNetwork: true in costbook.yaml permits it`,
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
