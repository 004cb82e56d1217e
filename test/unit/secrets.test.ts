import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import { readToken, type TokenReading, type TokenSource } from '../../src/config/secrets.ts';
import { openHttp } from '../../src/platform/http.ts';
import { redactor, redactParts } from '../../src/text/redactor.ts';
import fc, { anyCharacter } from '../support/fast-check.ts';
import { type Reply, startServer } from '../support/http-server.ts';

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'costbook-secrets-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const kept: string[] = [];
function reading(more: Partial<TokenReading> = {}): TokenReading {
  kept.length = 0;
  return { keepSecret: (secret) => kept.push(secret), dir, signal: new AbortController().signal, ...more };
}

function file(name: string, text: string): TokenSource {
  const path = join(dir, name);
  writeFileSync(path, text);
  return { kind: 'file', path };
}

function command(line: string): TokenSource {
  return { kind: 'command', command: line };
}

async function refusal(source: TokenSource, more: Partial<TokenReading> = {}): Promise<string> {
  const error: unknown = await readToken(source, reading(more)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  return error instanceof Error ? error.message.replaceAll(dir, '<dir>') : '';
}

describe('readToken(source, reading)', () => {
  test('returns a value as the token, and registers it as a secret', async () => {
    expect(await readToken({ kind: 'value', value: 'tok-1234' }, reading())).toBe('tok-1234');
    expect(kept).toEqual(['tok-1234']);
  });

  test('reads and trims a file', async () => {
    expect(await readToken(file('token', '\n tok-1234 \r\n'), reading())).toBe('tok-1234');
    expect(kept).toEqual(['tok-1234']);
  });

  test('reads the file each time, so that a rotated token is used', async () => {
    const source = file('rotated', 'tok-before');
    await readToken(source, reading());
    file('rotated', 'tok-after');
    expect(await readToken(source, reading())).toBe('tok-after');
  });

  test('waits for client credentials to become a token no longer than for a command', async () => {
    const drips: Reply = (response) => {
      const clock = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(clock));
    };
    const server = await startServer(drips);
    const http = openHttp({ connections: 1, env: {} });
    const source = { kind: 'oauth', tokenPath: '/token', clientId: 'a', clientSecret: 'secret-of-it' } as const;
    const platform = { url: server.url, http: http.send };
    await expect(readToken(source, reading({ platform, timeoutMs: 200 }))).rejects.toMatchObject({
      code: 'timeout',
      retryable: true,
    });
    await http.close();
  });

  test('refuses a token that is longer than any, and keeps it nowhere', async () => {
    const value = 'x'.repeat(65_537);
    expect(await refusal({ kind: 'value', value })).toContain('found 65537 characters');
    expect(kept).toEqual([]);
  });

  test('names a missing file', async () => {
    expect(await refusal({ kind: 'file', path: join(dir, 'nowhere') })).toMatchInlineSnapshot(
      `"token file <dir>/nowhere: found no such file, expected a file with the token; create it or correct tokenFile"`,
    );
  });

  test('refuses an empty file', async () => {
    expect(await refusal(file('empty', ' \n'))).toMatchInlineSnapshot(
      `"token file <dir>/empty: found nothing, expected a token; the file must contain only the token"`,
    );
  });

  test('refuses a folder', async () => {
    expect(await refusal({ kind: 'file', path: dir })).toMatchInlineSnapshot(
      `"token file <dir>: found a folder, expected a file with a token"`,
    );
  });

  test('refuses a file with more than a token, without showing it', async () => {
    const text = await refusal(file('two', 'tok-1234\ntok-5678\n'));
    expect(text).toMatchInlineSnapshot(
      `"token file <dir>/two: found a space or a character that an HTTP header cannot carry, expected printable ASCII without spaces; the file must contain only the token"`,
    );
    expect(kept).toEqual(['tok-1234\ntok-5678']);
  });

  test('reports the word Bearer before the token', async () => {
    expect(await refusal(file('bearer', 'Bearer tok-1234'))).toMatchInlineSnapshot(
      `"token file <dir>/bearer: found the word Bearer before the token, expected the token alone; the file must contain only the token"`,
    );
  });

  test('does not read a file that is far too large', async () => {
    expect(await refusal(file('large', 'x'.repeat(70_000)))).toMatchInlineSnapshot(
      `"token file <dir>/large: found 70000 bytes, expected a token of at most 64 KiB"`,
    );
  });

  test('runs a command in the project folder, through the shell', async () => {
    writeFileSync(join(dir, 'here'), 'tok-from-command');
    expect(await readToken(command('cat here | tr a-z A-Z; echo'), reading())).toBe('TOK-FROM-COMMAND');
    expect(kept).toEqual(['TOK-FROM-COMMAND']);
  });

  test('reports a failed command by its exit code, not by its output', async () => {
    expect(await refusal(command('echo tok-1234; echo tok-5678 >&2; exit 3'))).toMatchInlineSnapshot(
      `"tokenCommand: found exit code 3, expected exit code 0 and the token on standard output; run it yourself in <dir> to see its errors"`,
    );
  });

  test('refuses a command that prints nothing', async () => {
    expect(await refusal(command('true'))).toMatchInlineSnapshot(
      `"tokenCommand: found nothing, expected a token; the command must print only the token"`,
    );
  });

  test('stops a command that prints without end', async () => {
    expect(await refusal(command('yes tok-1234'))).toMatchInlineSnapshot(
      `"tokenCommand: found more than 64 KiB on standard output, expected the token alone"`,
    );
  });

  test('stops a command that takes too long, with its child processes', async () => {
    const text = await refusal(command('(sleep 1; touch survived) & sleep 60'), { timeoutMs: 200 });
    expect(text).toMatchInlineSnapshot(
      `"tokenCommand: still running after 0.2 s, expected the token on standard output; run it yourself in <dir> to see what it waits for"`,
    );
    await sleep(1500); // real time: the child would have written by now
    await expect(readToken({ kind: 'file', path: join(dir, 'survived') }, reading())).rejects.toThrow('no such file');
  });

  test("ends a command on abort with the signal's reason", async () => {
    const abort = new AbortController();
    const reason = new Error('ended by SIGINT');
    const token = readToken(command('sleep 60'), reading({ signal: abort.signal }));
    setTimeout(() => abort.abort(reason), 50);
    await expect(token).rejects.toBe(reason);
  });

  test('reads nothing after an abort', async () => {
    const reason = new Error('ended by SIGTERM');
    const signal = AbortSignal.abort(reason);
    await expect(readToken(file('aborted', 'tok-1234'), reading({ signal }))).rejects.toBe(reason);
    expect(kept).toEqual([]);
  });

  test('reports a folder in which no shell can start as a failure of this machine', async () => {
    const token = readToken(command('true'), reading({ dir: join(dir, 'nowhere') }));
    await expect(token).rejects.toMatchObject({ name: 'MachineError', exitCode: 7 });
  });
});

describe('redactor()', () => {
  test('hides nothing without secrets', () => {
    expect(redactor().redact('a text')).toBe('a text');
  });

  test('hides every occurrence of every secret', () => {
    const { keep, redact } = redactor();
    keep('first-one');
    keep('second.*');
    expect(redact('first-one, second.*, first-one; second42')).toBe('***, ***, ***; second42');
  });

  test('hides a secret that starts with another one completely', () => {
    const { keep, redact } = redactor();
    keep('tok-1234');
    keep('tok-1234-and-more');
    expect(redact('tok-1234-and-more')).toBe('***');
  });

  test('hides the forms for JSON and for URLs', () => {
    const { keep, redact } = redactor();
    keep('a"b\\c/d+é');
    expect(redact(JSON.stringify({ token: 'a"b\\c/d+é' }))).toBe('{"token":"***"}');
    expect(redact(`?token=${encodeURIComponent('a"b\\c/d+é')}&`)).toBe('?token=***&');
    expect(redact('?token=a%22b%5cc%2fd%2b%c3%a9&')).toBe('?token=***&');
  });

  test('hides base64, in which a header carries a password', () => {
    const { keep, redact } = redactor();
    keep('user:a-password');
    expect(redact('Basic dXNlcjphLXBhc3N3b3Jk')).toBe('Basic ***');
  });

  test.each([
    ['in capitals', (secret: string) => secret.toUpperCase()],
    ['in small letters', (secret: string) => secret.toLowerCase()],
    ['as hex', (secret: string) => Buffer.from(secret).toString('hex')],
    ['as hex in capitals', (secret: string) => Buffer.from(secret).toString('hex').toUpperCase()],
    ['with each byte encoded for a URL', (secret: string) => Buffer.from(secret).toString('hex').replace(/../g, '%$&')],
    ['encoded for a URL twice', (secret: string) => encodeURIComponent(encodeURIComponent(secret))],
    ['as base64', (secret: string) => Buffer.from(secret).toString('base64')],
    ['as base64 behind one byte', (secret: string) => Buffer.from(`:${secret}!`).toString('base64')],
    ['as base64 behind two bytes', (secret: string) => Buffer.from(`::${secret}`).toString('base64')],
    [
      'as base64 for a URL, within a text',
      (secret: string) => Buffer.from(`Bearer ${secret}, or`).toString('base64url'),
    ],
    ['in HTML', (secret: string) => secret.replaceAll('&', '&amp;').replaceAll('"', '&quot;')],
    ['in JSON that escapes slashes', (secret: string) => JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/')],
  ])('hides a secret %s', (_, echo) => {
    for (const secret of ['tok_Live-7f3AQz', 'p"4/&s+W?rd éX', 'short-1?']) {
      const { keep, redact } = redactor();
      keep(secret);
      const shown = redact(`the platform said <${echo(secret)}> to it`);
      expect(shown).toMatch(/^the platform said <.{0,14}\*\*\*.{0,12}> to it$/);
      // Of base64 a letter that belongs to a neighbour as well may stay on each side.
      const left = shown.slice('the platform said <'.length, -'> to it'.length).replace('***', '');
      if (!echo('x'.repeat(30)).includes('eHh4')) expect(left).toBe('');
    }
  });

  test('hides the rest of a cut token, but shows the host of a cut address', () => {
    const { keep, redact } = redactor();
    const token = `tok-${'0123456789abcdef'.repeat(20)}`;
    keep(token);
    expect(redact(`it began "${token.slice(0, 60)}…", and so on`)).toBe('it began "***…", and so on');
    expect(redact(`${Buffer.from(token).toString('base64').slice(0, 50)}…`)).toBe('***…');
    keep('https://hooks.example.com/services/T0/B0/verysecretindeed');
    expect(redact('https://hooks.example.com/other')).toBe('https://hooks.example.com/other');
    expect(redact('HTTPS://HOOKS.example.com/services/T0/B0/verysecretindeed')).toBe('***');
  });

  test('does not tell who knows how a token begins how much of a guess is right', () => {
    const { keep, redact } = redactor();
    const secret = 'cb_live_0123456789abcdef0123';
    keep(secret);
    const forms = [
      (text: string) => text,
      encodeURIComponent,
      (text: string) => Buffer.from(text).toString('hex'),
      (text: string) => Buffer.from(text).toString('hex').replace(/../g, '%$&'),
      (text: string) => Buffer.from(text).toString('base64'),
      (text: string) => Buffer.from(text).toString('base64url'),
    ];
    for (const form of forms) {
      for (const length of [6, 9, 12, 18, 24, 27]) {
        const guesses = [secret.charAt(length), 'x', 'Z', '_', '..'].map((next) =>
          form(secret.slice(0, length) + next),
        );
        const shown = guesses.map((guess) => redact(`${guess}|`).replace(guess, 'as typed'));
        expect(new Set(shown), form(secret.slice(0, length))).toEqual(new Set([length < 16 ? 'as typed|' : '***|']));
      }
    }
    expect(redact(`${secret}zz, and`)).toBe('***, and');
  });

  test('hides a secret that comes in two pieces, wherever it is cut', () => {
    const { keep, redact } = redactor();
    keep('cb_live_0123456789abcdef0123');
    const text = `a cb_live_0123456789abcdef0123, and\n${'x'.repeat(9000)}cb_live_0123456789abcdef0123`;
    for (let cut = 0; cut <= text.length; cut += cut < 60 || cut > 9000 ? 1 : 1000) {
      const pieces = redactParts(redact);
      const shown = [text.slice(0, cut), text.slice(cut), undefined].map(pieces).join('');
      expect(shown, String(cut)).toBe(`a ***, and\n${'x'.repeat(9000)}***`);
    }
    expect(redactParts(redact)('data: at once\n')).toBe('data: at once\n');
  });

  test('takes less than a second for millions of characters, in capitals and in long words', () => {
    const { keep, redact } = redactor();
    keep('cb_live_0123456789abcdef0123');
    for (const long of ['aB'.repeat(1_000_000), 'é'.repeat(500_000), `${'x'.repeat(60_000)}\n`]) {
      const before = process.cpuUsage();
      const pieces = redactParts(redact);
      expect(pieces(long) + pieces(undefined)).toBe(long);
      expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
    }
  });

  test('does not treat texts of fewer than four characters as secrets', () => {
    const { keep, redact } = redactor();
    keep('');
    keep('abc');
    expect(redact('abc')).toBe('abc');
  });

  test('lets no registered secret through, for any secret and any surrounding text', () => {
    const text = fc.string({ unit: anyCharacter });
    const secret = fc.string({ unit: anyCharacter, minLength: 4 }).filter((candidate) => !candidate.includes('*'));
    fc.assert(
      fc.property(fc.array(secret, { minLength: 1, maxLength: 4 }), text, text, (secrets, before, after) => {
        const { keep, redact } = redactor();
        for (const each of secrets) keep(each);
        const shown = redact(before + secrets.join(after) + after);
        for (const each of secrets) expect(shown).not.toContain(each);
      }),
    );
  });
});
