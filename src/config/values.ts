import { dirname, resolve } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { trimmedDecimal } from '../money/money.ts';
import { refuseSeparators } from '../money/typed-number.ts';
import { accountIdFault, earliestVersion } from '../platform/interface/index.ts';
import { quoted } from '../text/choices.ts';
import {
  floorHour,
  formatInstant,
  hourMs,
  type Instant,
  parseDuration,
  parseInstant,
  parseRfc3339,
} from '../time/time.ts';
import { type Parse, parseText } from '../yaml/index.ts';
import { type TokenSource, tokenFault } from './secrets.ts';

/** USD as plain decimal text. A YAML number becomes its shortest decimal: 1e-6 is 0.000001. */
export const parseTolerance: Parse<string> = (value, source) => {
  refuseSeparators(value, source);
  // The books store twelve decimals; toFixed writes no exponent below 1e21.
  const text = typeof value === 'number' ? trimmedDecimal(value.toFixed(12)) : value;
  const isExact = typeof value !== 'number' || Number(text) === value;
  if (typeof text === 'string' && isExact && /^(0|[1-9]\d{0,5})(\.\d{1,12})?$/.test(text)) return text;
  const found = typeof value === 'string' ? quoted(value) : typeof value === 'number' ? (source ?? value) : 'no number';
  throw new UsageError(`found ${found}, expected USD such as 0.01: from 0 to 999999, with at most 12 decimals`);
};

/** A duration in whole hours from `26h` or `2d`, at most a year. */
export function parseHours(value: unknown): number {
  const hours = ((typeof value === 'string' ? parseDuration(value) : undefined) ?? 0) / hourMs;
  if (Number.isInteger(hours) && hours >= 1 && hours <= 8760) return hours;
  throw new UsageError(
    `found ${typeof value === 'string' ? quoted(value) : 'no text'}, expected a duration such as 26h or 2d`,
  );
}

/** Throws UsageError with the given text unless the condition holds. */
function demand(condition: boolean, message: string): asserts condition {
  if (!condition) throw new UsageError(message);
}

function textParser(isRight: (text: string) => boolean, expected: string, maxLength?: number): Parse<string> {
  return (value) => {
    const text = parseText(value, maxLength);
    demand(isRight(text), `found ${quoted(text)}, expected ${expected}`);
    return text;
  };
}

export const parseName = textParser(
  (text) => !/[\p{Cc}\p{Cs}]/u.test(text),
  'a text without control characters; remove them',
  200,
);

export const parseAccountId: Parse<string> = (value) => {
  const id = parseName(value);
  const fault = accountIdFault(id);
  demand(fault === undefined, `found ${quoted(id)}, which is ${fault}, expected an account ID; correct it`);
  return id;
};

/** Whether a text can be the name of an HTTP header (RFC 9110 5.6.2). */
export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}

export const parseHeaderName = textParser(isHeaderName, 'the name of an HTTP header: letters, digits and -');

export const parseApiVersion = textParser(
  (text) => parseRfc3339(`${text.replace(/\.preview$/, '')}T00:00:00Z`) !== undefined,
  `a version such as ${earliestVersion} or 2026-04-28.preview`,
);

export const parseUrl: Parse<string> = (value) => {
  const text = parseText(value);
  // The value is never quoted: it may contain a password.
  const url = /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  demand(url !== undefined, 'found no http or https address, expected one such as https://api.example.com');
  demand(
    url.username === '' && url.password === '',
    'found credentials in the address, expected none; give them as token, tokenFile or tokenCommand',
  );
  demand(!/[?#]/.test(text), 'found a query or fragment in the address, expected none; remove it');
  let end = url.href.length;
  while (url.href[end - 1] === '/') end -= 1;
  // Every path of the interface begins with it, so it is often copied with the address.
  return url.href.slice(0, end).replace(/\/+v0$/, '');
};

/** The address of a sandbox's own host, with the parts of its name in braces. */
export const parseSandboxUrl: Parse<string> = (value) => {
  const text = parseText(value);
  const names = ['sandbox', 'workspace', 'region'];
  const other = [...text.matchAll(/\{([^}]*)\}/g)].find(([, name = '']) => !names.includes(name));
  demand(other === undefined, `found ${quoted(other?.[0] ?? '')}, expected only {sandbox}, {workspace} and {region}`);
  demand(
    text.includes('{sandbox}'),
    'found no {sandbox}, expected an address such as https://sbx-{sandbox}-{workspace}.{region}.example.com',
  );
  // Braces are no part of an address; whatever they stand for is.
  parseUrl(text.replaceAll(/\{\w+\}/g, 'x'));
  return text.replace(/\/+$/, '');
};

/** The value of an HTTP header; it may be a secret, so messages never quote it. */
export const parseHeaderValue: Parse<string> = (value) => {
  const text = parseText(value, 8192);
  demand(
    /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text),
    'found a text that no HTTP header can carry, expected ASCII without line breaks',
  );
  return text;
};

export const parseToken: Parse<TokenSource> = (value) => {
  const text = parseText(value);
  const fault = tokenFault(text);
  demand(fault === undefined, `${fault}; write only the token`);
  return { kind: 'value', value: text };
};

/** A path below the platform's address. */
export const parseTokenPath = textParser(
  (text) => /^\/[\w.~!$&'()*+,;=:@%/-]*$/.test(text),
  'a path of the platform such as /v0/oauth/token',
);

/** A path, relative to the file that contains it. */
export function tokenFileParser(file: string): Parse<TokenSource> {
  return (value) => {
    const path = parseSystemText(value);
    demand(!path.startsWith('~/'), 'found ~, which only a shell expands, expected a path; write an absolute one');
    return { kind: 'file', path: resolve(dirname(file), path) };
  };
}

export const parseTokenCommand: Parse<TokenSource> = (value) => {
  const command = parseSystemText(value);
  demand(command.trim() !== '', 'found only spaces, expected a command line; write one');
  return { kind: 'command', command };
};

/** A text that the system accepts as a path or a command line. */
const parseSystemText: Parse<string> = (value) => {
  const text = parseText(value, 8192);
  demand(!text.includes('\0'), 'found a NUL character, expected none; remove it');
  return text;
};

export function sinceParser(now: Instant): Parse<Instant> {
  return (value) => {
    const text = parseText(value);
    const found = `found ${quoted(text)}, expected`;
    let instant: Instant;
    try {
      instant = parseInstant(text, 'since', now);
    } catch (error) {
      // Its own message quotes the text, which may be anything.
      if (!(error instanceof UsageError)) throw error;
      throw new UsageError(`${found} a date: 2026-10-01, 2026-10, 2026-10-01T00:00:00Z or -7d (all UTC)`);
    }
    const hour = floorHour(instant);
    demand(instant === hour, `${found} a whole hour of UTC; write ${formatInstant(hour)}`);
    demand(
      instant <= now,
      `${found} an instant that is not in the future. By the clock of this machine it is ${formatInstant(now)}: correct the clock if that is wrong, or else since`,
    );
    return instant;
  };
}
