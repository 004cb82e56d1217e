import { isLoopbackHost } from '../base/addresses.ts';
import { UsageError } from '../base/errors.ts';
import { quoted } from '../text/choices.ts';
import {
  flag,
  inOrder,
  list,
  mapping,
  named,
  type Parse,
  parseText,
  repeatedIn,
  rule,
  type Shape,
  single,
  z,
} from '../yaml/index.ts';
import { type Layer, type Reading, readSetting } from './environment-and-file.ts';
import { parseHeaderName } from './values.ts';

/** Who may open the dashboard from other machines, and under which names it may be reached. */
export interface ServeSettings {
  /** Host names, with the port where it is not 80 or 443, that requests may name besides the address itself. */
  readonly hosts: readonly string[];
  readonly tokens: readonly ServeToken[];
  /** The header in which an authenticating proxy names the user; undefined if there is no such proxy. */
  readonly userHeader: string | undefined;
  /** The header in which that proxy names the user's groups, with commas between them. */
  readonly groupsHeader: string | undefined;
  /** Where people sign in with OpenID Connect. */
  readonly oidc: OidcSettings | undefined;
  /** What people see by their groups: the first rule that names one of theirs decides. */
  readonly groups: readonly ServeGroup[];
}

/** The name of the rule for everybody who has signed in. */
export const everyGroup = '*';

/** What a group sees: everything, or only some costs. */
export interface ServeGroup {
  readonly name: string;
  readonly workspaces: readonly string[] | undefined;
  readonly owner: string | undefined;
}

/** An identity provider, and Costbook as its client. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a client without a secret. */
  readonly clientSecret: string | undefined;
  /** What is asked for. */
  readonly scopes: readonly string[];
  /** The claim that names a person's groups. */
  readonly groupsClaim: string;
}

/** An access token of the dashboard and what it may see: everything, or only some costs. */
export interface ServeToken {
  readonly name: string;
  /** Undefined if its variable is not set: that token then opens nothing. */
  readonly token: string | undefined;
  readonly workspaces: readonly string[] | undefined;
  readonly owner: string | undefined;
}

const shortestToken = 20;
/** A token that a program drew has more; a word or a key held down has less. */
const fewestCharacters = 10;
/** The value is never quoted: it is a secret. */
const parseServeToken: Parse<string> = (value) => {
  const text = parseText(value, 1024);
  if (text.length < shortestToken || !/^[\x21-\x7e]+$/.test(text) || new Set(text).size < fewestCharacters) {
    throw new UsageError(
      `found a token that is short, has spaces or is easy to guess, expected at least ${shortestToken} printable characters, ` +
        `${fewestCharacters} of them different, such as the output of "openssl rand -hex 24"`,
    );
  }
  return text;
};

const parseHostHeader: Parse<string> = (value) => {
  const text = parseText(value, 260);
  if (/^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(:\d{1,5})?$/.test(text))
    return text.toLowerCase();
  throw new UsageError(
    `found ${quoted(text)}, expected a host name such as costs.example.com or costs.example.com:8443`,
  );
};

const text = single((value) => parseText(value, 500));
const expectedWorkspaces = 'a list of workspaces such as [production]';
const expectedToken = 'such as { token: "$' + '{DASHBOARD_TOKEN}" }';
const tokenShape = mapping(
  {
    token: single(parseServeToken),
    workspaces: z.optional(list(text, expectedWorkspaces)),
    owner: z.optional(text),
  },
  { expected: `a token ${expectedToken}`, needed: { token: 'the token itself' } },
).check(
  rule((token, report) => {
    if ('workspaces' in token && 'owner' in token)
      report('found both workspaces and owner, expected at most one of them; remove one', 'owner');
  }),
);

const groupShape = mapping(
  { all: z.optional(flag), workspaces: z.optional(list(text, expectedWorkspaces)), owner: z.optional(text) },
  { expected: 'what the group sees, such as { workspaces: [research] }' },
).check(
  rule((group, report) => {
    const names = (['all', 'workspaces', 'owner'] as const).filter((name) => name in group);
    if (names.length !== 1 || group.all === false)
      report('expected exactly one of all: true, workspaces: [research] and owner: Payments');
  }),
);

const parseIssuer: Parse<string> = (value) => {
  const given = parseText(value, 500);
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (isSafe && url.search === '' && url.hash === '' && url.username === '') return given;
  throw new UsageError(`found ${quoted(given)}, expected an address such as https://login.example.com`);
};
/** Without `openid` there is no ID token. */
const usualScopes = ['openid', 'profile', 'email'];
const parseScope: Parse<string> = (value) => {
  const given = parseText(value, 200);
  if (/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(given)) return given;
  throw new UsageError(`found ${quoted(given)}, expected a scope such as groups, without spaces`);
};
const oidcShape = mapping(
  {
    issuer: single(parseIssuer),
    clientId: text,
    clientSecret: z.optional(text),
    scopes: z.optional(list(single(parseScope), 'a list of scopes such as [openid, email, groups]')),
    groupsClaim: z.optional(text),
  },
  {
    expected: 'an identity provider such as { issuer: "https://login.example.com", clientId: costbook }',
    needed: { issuer: 'the address of the identity provider', clientId: 'the name of Costbook there' },
  },
);

/** What the keys of `serve` may have. */
export const serveShapes = {
  hosts: list(single(parseHostHeader), 'a list of host names such as [costs.example.com]'),
  tokens: named(tokenShape, `tokens by name, such as finance: ${expectedToken}`).check(
    rule((tokens, report) => {
      const names = Object.keys(tokens);
      // It would see what the other one sees.
      for (const { index } of repeatedIn(names.map((name) => tokens[name]?.token))) {
        const name = names[index] ?? '';
        report(`the token ${quoted(name)} is that of another entry; write one of its own`, name);
      }
    }),
  ),
  userHeader: single(parseHeaderName),
  groupsHeader: single(parseHeaderName),
  oidc: oidcShape,
  groups: named(groupShape, 'groups by name, such as finance: { all: true }'),
};

/** Reads the keys of `serve`; mistakes are reported. */
export function readServe(keys: Layer, reading: Reading): ServeSettings {
  const setting = <T>(name: keyof typeof serveShapes, shape: Shape<T>) =>
    readSetting(keys.get(`serve.${name}`), shape, reading);
  const tokens = setting('tokens', serveShapes.tokens) ?? {};
  const given = keys.get('serve.groups');
  const groups = setting('groups', serveShapes.groups) ?? {};
  const oidc = setting('oidc', serveShapes.oidc);
  return {
    hosts: setting('hosts', serveShapes.hosts) ?? [],
    tokens: Object.entries(tokens).map(([name, { token, workspaces, owner }]) => ({ name, token, workspaces, owner })),
    userHeader: setting('userHeader', serveShapes.userHeader),
    groupsHeader: setting('groupsHeader', serveShapes.groupsHeader),
    oidc: oidc && {
      ...{ issuer: oidc.issuer, clientId: oidc.clientId, clientSecret: oidc.clientSecret },
      scopes: [...new Set(['openid', ...(oidc.scopes ?? usualScopes)])],
      groupsClaim: oidc.groupsClaim ?? 'groups',
    },
    groups: (given === undefined ? [] : inOrder(given, groups)).map(([name, { workspaces, owner }]) => ({
      ...{ name, workspaces, owner },
    })),
  };
}
