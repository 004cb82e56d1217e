import { UsageError } from '../base/errors.ts';
import { quoted } from '../text/choices.ts';
import { list, mapping, named, type Parse, parseText, repeatedIn, rule, single, z } from '../yaml/index.ts';
import { type Layer, type Reading, readSetting } from './environment-and-file.ts';
import { parseHeaderName } from './values.ts';

/** Who may open the dashboard from other machines, and under which names it may be reached. */
export interface ServeSettings {
  /** Host names, with the port where it is not 80 or 443, that requests may name besides the address itself. */
  readonly hosts: readonly string[];
  readonly tokens: readonly ServeToken[];
  /** The header in which an authenticating proxy names the user; undefined if there is no such proxy. */
  readonly userHeader: string | undefined;
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
const expectedToken = 'such as { token: "$' + '{DASHBOARD_TOKEN}" }';
const tokenShape = mapping(
  {
    token: single(parseServeToken),
    workspaces: z.optional(list(text, 'a list of workspaces such as [production]')),
    owner: z.optional(text),
  },
  { expected: `a token ${expectedToken}`, needed: { token: 'the token itself' } },
).check(
  rule((token, report) => {
    if ('workspaces' in token && 'owner' in token)
      report('found both workspaces and owner, expected at most one of them; remove one', 'owner');
  }),
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
};

/** Reads the keys of `serve`; mistakes are reported. */
export function readServe(keys: Layer, reading: Reading): ServeSettings {
  const tokens = readSetting(keys.get('serve.tokens'), serveShapes.tokens, reading) ?? {};
  return {
    hosts: readSetting(keys.get('serve.hosts'), serveShapes.hosts, reading) ?? [],
    tokens: Object.entries(tokens).map(([name, { token, workspaces, owner }]) => ({ name, token, workspaces, owner })),
    userHeader: readSetting(keys.get('serve.userHeader'), serveShapes.userHeader, reading),
  };
}
