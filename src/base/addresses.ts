import { BlockList, isIP } from 'node:net';
import { once } from './once.ts';

/** Names that lead to this machine itself, where nobody can listen in between. */
const loopback = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/** Whether the host name of a URL leads to this machine itself. */
export function isLoopbackHost(hostname: string): boolean {
  return loopback.test(hostname);
}

/** Whether a URL sends everything readable over a network: plain HTTP to another machine. */
export function isPlainToOthers(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopbackHost(hostname);
}

/** Names of cloud metadata services. */
const metadataHosts = new Set(['metadata.google.internal', 'metadata.goog', 'instance-data', 'metadata']);

/**
 * Whether the host name of a URL names a cloud metadata service, or is an address that `kindOfAddress` forbids. A name
 * is not looked up.
 */
export function isForbiddenHost(hostname: string): boolean {
  const bare = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  return isIP(bare) === 0 ? metadataHosts.has(bare) : kindOfAddress(bare) === 'forbidden';
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

/** Reserved networks, and cloud metadata services, which hand out credentials. */
const forbiddenNetworks = blockList([
  // Cloud metadata. Most clouds use 169.254.169.254, which is link-local.
  ['100.100.100.200', 32], // Alibaba Cloud
  ['168.63.129.16', 32], // Azure
  ['fd00:ec2::', 32], // AWS: fd00:ec2::254, of pods fd00:ec2::23
  ['fd20:ce::', 32], // Google Cloud: fd20:ce::254
  ['fd00:c1::', 32], // Oracle Cloud: fd00:c1::a9fe:a9fe
  ['fd00:42::', 32], // Scaleway: fd00:42::42
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
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 32],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]);

/** Made with the first address: most commands meet none. */
function blockList(networks: readonly (readonly [string, number])[]): () => BlockList {
  return once(() => {
    const list = new BlockList();
    for (const [network, prefix] of networks) list.addSubnet(network, prefix, isIP(network) === 6 ? 'ipv6' : 'ipv4');
    return list;
  });
}

/**
 * Classifies an address. An IPv6 address that embeds an IPv4 address also counts as that one, because a translator or the
 * kernel would route it there.
 */
export function kindOfAddress(address: string): 'public' | 'private' | 'forbidden' {
  const plain = address.replace(/%.*$/, '');
  const family = isIP(plain);
  if (family === 0) return 'forbidden';
  const kinds = [plain, ...(family === 6 ? embeddedIpv4(plain) : [])].map(kindOfPlain);
  if (kinds.includes('forbidden')) return 'forbidden';
  return kinds.includes('private') ? 'private' : 'public';
}

function kindOfPlain(address: string): 'public' | 'private' | 'forbidden' {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (forbiddenNetworks().check(address, family)) return 'forbidden';
  return privateNetworks().check(address, family) ? 'private' : 'public';
}

/** IPv6 forms that embed an IPv4 address, and the index of the first of its two groups. */
const embeddings: readonly { readonly prefix: RegExp; readonly at: number }[] = [
  { prefix: /^0:0:0:0:0:0:/, at: 6 }, // IPv4-compatible (RFC 4291 2.5.5.1)
  { prefix: /^0:0:0:0:0:ffff:/, at: 6 }, // IPv4-mapped (2.5.5.2)
  { prefix: /^0:0:0:0:ffff:0:/, at: 6 }, // IPv4-translated (RFC 7915)
  { prefix: /^64:ff9b:0:0:0:0:/, at: 6 }, // NAT64 (RFC 6052)
  { prefix: /^64:ff9b:1:/, at: 6 }, // local NAT64 (RFC 8215)
  { prefix: /^2002:/, at: 1 }, // 6to4 (RFC 3056)
  { prefix: /^(?:[\da-f]+:){4}(?:0|200):5efe:/, at: 6 }, // ISATAP (RFC 5214)
];

/** The IPv4 addresses embedded in an IPv6 address; none in `::` and `::1`. */
function embeddedIpv4(address: string): string[] {
  const groups = groupsOf(address);
  const text = groups.map((group) => group.toString(16)).join(':');
  if (/^(?:0:){7}[01]$/.test(text)) return [];
  const found = embeddings.filter(({ prefix }) => prefix.test(text)).map(({ at }) => groups.slice(at, at + 2));
  // Teredo (RFC 4380): the server, and the client with all bits inverted.
  if (/^2001:0:/.test(text))
    found.push(
      groups.slice(2, 4),
      groups.slice(6).map((group) => group ^ 0xffff),
    );
  return found.map(([high = 0, low = 0]) => [high >> 8, high & 255, low >> 8, low & 255].join('.'));
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  // URL normalizes it: no dotted IPv4 part, and the longest run of zeros as `::`.
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const numbers = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const [first, last] = [numbers(head), numbers(tail ?? '')];
  return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last];
}
