import { UsageError } from '../base/errors.ts';
import { quoted } from '../text/choices.ts';
import { parseHeaderName } from './values.ts';
import { entriesOf, type Given, itemsOf, keysOf, type Parse, type Problems, parseText, type ReadText } from './yaml.ts';

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

export const serveTokenKeys = ['token', 'workspaces', 'owner'] as const;

const shortestToken = 20;
/** A token that a program drew has more; a word or a key held down has less. */
const fewestCharacters = 10;
const expected = 'tokens by name, such as finance: { token: "$' + '{DASHBOARD_TOKEN}" }';

/** Reads the keys of `serve`; mistakes are reported. */
export function readServe(
  { hosts, tokens, userHeader }: Readonly<Record<'hosts' | 'tokens' | 'userHeader', Given | undefined>>,
  read: ReadText,
  problems: Problems,
): ServeSettings {
  return {
    hosts:
      hosts === undefined
        ? []
        : listOf(hosts, 'a list of host names such as [costs.example.com]', parseHostHeader, read, problems),
    tokens: tokens === undefined ? [] : readTokens(tokens, read, problems),
    userHeader: read(userHeader, parseHeaderName),
  };
}

function readTokens(given: Given, read: ReadText, problems: Problems): readonly ServeToken[] {
  const seen = new Set<string>();
  return [...(entriesOf(given, expected, problems) ?? [])].flatMap(([name, entry]) => {
    const keys = keysOf(
      entry,
      { keys: serveTokenKeys, expected: 'a token such as { token: "$' + '{DASHBOARD_TOKEN}" }' },
      problems,
    );
    if (keys === undefined) return [];
    const [workspaces, owner] = [keys.get('workspaces'), keys.get('owner')];
    if (!keys.has('token')) problems.report(entry, `the token ${quoted(name)} has no "token"; write it`);
    if (workspaces !== undefined && owner !== undefined) {
      problems.report(owner, 'found both workspaces and owner, expected at most one of them; remove one');
    }
    const token = read(keys.get('token'), parseServeToken);
    // It would see what the other one sees.
    if (token !== undefined && seen.has(token))
      problems.report(entry, `the token ${quoted(name)} is that of another entry; write one of its own`);
    if (token !== undefined) seen.add(token);
    return [
      {
        name,
        token,
        workspaces:
          workspaces === undefined
            ? undefined
            : listOf(
                workspaces,
                'a list of workspaces such as [production]',
                (value) => parseText(value, 500),
                read,
                problems,
              ),
        owner: read(owner, (value) => parseText(value, 500)),
      },
    ];
  });
}

function listOf(
  given: Given,
  words: string,
  parse: Parse<string>,
  read: ReadText,
  problems: Problems,
): readonly string[] {
  const items = itemsOf(given, words, problems);
  return items.flatMap((item) => read(item, parse) ?? []);
}

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
