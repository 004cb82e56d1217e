import { usualHeaders } from '../platform/interface/index.ts';
import { quoted } from '../text/choices.ts';
import { entriesOf, type Given } from '../yaml/index.ts';
import { type Layer, type Reading, read } from './environment-and-file.ts';
import { isHeaderName, parseHeaderName, parseHeaderValue } from './values.ts';

/** The names of the headers that a platform may choose. */
export interface HeaderNames {
  readonly authorizationHeader: string;
  readonly versionHeader: string;
  readonly workspaceHeader: string | undefined;
  readonly threadHeader: string;
}

const usualNames = {
  authorizationHeader: usualHeaders.authorization,
  versionHeader: usualHeaders.version,
  workspaceHeader: undefined,
  threadHeader: usualHeaders.thread,
} as const satisfies HeaderNames;
const keys = ['authorizationHeader', 'versionHeader', 'workspaceHeader', 'threadHeader'] as const;

/** Headers that Costbook or HTTP itself sets. */
const ownHeaders = [
  ...['accept', 'accept-encoding', 'connection', 'content-length', 'content-type', 'host', 'transfer-encoding'],
  ...['user-agent', 'cookie', 'mcp-session-id', 'mcp-protocol-version'],
];

/** Reads the names of headers; two equal ones are reported. */
export function readHeaderNames(layer: Layer, reading: Reading): HeaderNames {
  const given = keys.map((key) => read(layer.get(key), parseHeaderName, reading) ?? usualNames[key]);
  for (const [index, name] of given.entries()) {
    const first = given.findIndex((other) => other?.toLowerCase() === name?.toLowerCase());
    if (name === undefined || first === index) continue;
    const place = layer.get(keys[index] ?? 'versionHeader') ?? layer.get(keys[first] ?? 'authorizationHeader');
    if (place) {
      reading.problems.report(
        place,
        `found the same name for both headers, ${keys[first]} and ${keys[index]}, expected two; change one of them`,
      );
    }
  }
  const [authorizationHeader, versionHeader, workspaceHeader, threadHeader] = given;
  return {
    authorizationHeader: authorizationHeader ?? usualNames.authorizationHeader,
    versionHeader: versionHeader ?? usualNames.versionHeader,
    workspaceHeader,
    threadHeader: threadHeader ?? usualNames.threadHeader,
  };
}

/** Reads `headers`: more headers by name. Values are kept secret. Mistakes are reported. */
export function readHeaders(
  given: Given | undefined,
  taken: readonly (string | undefined)[],
  reading: Reading,
): Readonly<Record<string, string>> {
  if (given === undefined) return {};
  const { problems } = reading;
  const notFree = [...ownHeaders, ...taken.map((name) => name?.toLowerCase())];
  const entries = entriesOf(given, 'headers by name, such as X-Team: finops', problems) ?? new Map<string, Given>();
  return Object.fromEntries(
    [...entries].flatMap(([name, value]): [string, string][] => {
      if (!isHeaderName(name)) {
        problems.report(value, `found ${quoted(name)}, expected the name of an HTTP header: letters, digits and -`);
        return [];
      }
      if (notFree.includes(name.toLowerCase())) {
        problems.report(value, `found ${quoted(name)}, which Costbook sets itself; remove it`);
        return [];
      }
      const text = read(value, parseHeaderValue, reading, true);
      return text === undefined ? [] : [[name, text]];
    }),
  );
}
