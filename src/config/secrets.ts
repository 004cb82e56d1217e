import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { kill } from 'node:process';
import { MachineError, UsageError } from '../errors.ts';

/** Where a token comes from; only `value` holds the token itself. */
export type TokenSource =
  | { readonly kind: 'value'; readonly value: string }
  /** `path` is absolute. */
  | { readonly kind: 'file'; readonly path: string }
  /** `command` is a line for the shell; its standard output is the token. */
  | { readonly kind: 'command'; readonly command: string };

/** A token is some hundred characters, a JWT some thousand: what is longer is not one. */
const maxTokenBytes = 64 * 1024;
/** Longer than any password manager takes that waits for nobody. */
const commandTimeoutMs = 30_000;
const headerText = /^[\x21-\x7e]+$/;

/** What is wrong with a text that should be a token, without the text; undefined where nothing is. */
export function tokenFault(text: string): string | undefined {
  if (text === '') return 'found nothing, expected a token';
  if (/^bearer\s/i.test(text)) return 'found the word Bearer before the token, expected the token alone';
  if (!headerText.test(text)) {
    return 'found a space or a character that an HTTP header cannot carry, expected printable ASCII without spaces';
  }
  return undefined;
}

export interface TokenReading {
  /** Called with the token before anything else is done with it. */
  keepSecret(secret: string): void;
  /** The folder in which a command runs: the project folder. */
  readonly dir: string;
  readonly signal: AbortSignal;
  /** How long a command may run; 30 seconds unless told otherwise. */
  readonly timeoutMs?: number;
}

/**
 * Reads a token from its source, anew on every call, so that a rotated token is seen.
 * Throws UsageError where there is none to be had, and the signal's reason where it is aborted. No message holds what
 * the file contains, what the command printed, or the command's own text, into which secrets may have been filled.
 */
export async function readToken(source: TokenSource, reading: TokenReading): Promise<string> {
  reading.signal.throwIfAborted();
  switch (source.kind) {
    case 'value':
      return checkToken(source.value, 'token', 'write the token alone', reading);
    case 'file': {
      const text = await readTokenFile(source.path, reading.signal);
      return checkToken(text, `token file ${source.path}`, 'let the file hold the token and nothing else', reading);
    }
    case 'command': {
      const text = await runTokenCommand(source.command, reading);
      return checkToken(text, 'tokenCommand', 'let the command print the token and nothing else', reading);
    }
  }
}

function checkToken(text: string, label: string, whatToDo: string, { keepSecret }: TokenReading): string {
  const token = text.trim();
  keepSecret(token);
  const fault = tokenFault(token);
  if (fault !== undefined) throw new UsageError(`${label}: ${fault}; ${whatToDo}`);
  return token;
}

async function readTokenFile(path: string, signal: AbortSignal): Promise<string> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw new UsageError(`token file ${path}: found a folder, expected a file with a token`);
    if (found.size > maxTokenBytes) {
      throw new UsageError(`token file ${path}: found ${found.size} bytes, expected a token of at most 64 KiB`);
    }
    return await readFile(path, { encoding: 'utf8', signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UsageError) throw error;
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new UsageError(
        `token file ${path}: found no such file, expected one with the token; write it or correct tokenFile`,
        { cause: error },
      );
    }
    throw new UsageError(
      `token file ${path}: cannot be read (${code}); let the user who runs costbook read it, or correct tokenFile`,
      { cause: error },
    );
  }
}

/** What the command printed. Its stderr is thrown away: password managers put secrets there too. */
function runTokenCommand(
  command: string,
  { dir, signal, timeoutMs = commandTimeoutMs }: TokenReading,
): Promise<string> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, timeout]);
  return new Promise((resolve, reject) => {
    // A group of its own, so that ending it also ends what the shell has started.
    const child = spawn(command, { shell: true, cwd: dir, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
    const chunks: Buffer[] = [];
    let bytes = 0;

    function end(reason: unknown): void {
      either.removeEventListener('abort', abort);
      killGroup(child.pid);
      child.stdout.destroy();
      reject(reason);
    }
    function abort(): void {
      end(
        signal.aborted
          ? signal.reason
          : new UsageError(
              `tokenCommand: found no end after ${timeoutMs / 1000} s, expected the token on standard output; ` +
                `run it by hand in ${dir} and see what it waits for`,
            ),
      );
    }

    either.addEventListener('abort', abort);
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxTokenBytes) {
        end(new UsageError('tokenCommand: found more than 64 KiB on standard output, expected the token alone'));
      }
    });
    child.on('error', (error) => {
      end(
        new MachineError(`tokenCommand: no shell could be started in ${dir} (${errorCode(error)})`, { cause: error }),
      );
    });
    child.on('close', (code, endedBy) => {
      either.removeEventListener('abort', abort);
      if (code === 0) {
        resolve(Buffer.concat(chunks).toString('utf8'));
        return;
      }
      const ending = code === null ? `an end by ${endedBy}` : `exit code ${code}`;
      reject(
        new UsageError(
          `tokenCommand: found ${ending}, expected exit code 0 and the token on standard output; ` +
            `run it by hand in ${dir} and see what it says`,
        ),
      );
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    kill(-pid, 'SIGKILL');
  } catch {
    // The group is gone already, which is what was wanted.
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

/** Makes kept secrets unprintable. */
export interface Redactor {
  keep(secret: string): void;
  redact(text: string): string;
}

/** Below this a "secret" would be found in every sentence, and hides nothing that could not be guessed. */
const minSecretLength = 4;

/** Of a text that was cut, so much of a token's beginning is enough to be hidden. */
const headLength = 16;
/** Shorter codes of a secret are found in ordinary words. */
const minCodeLength = 8;

/**
 * A redactor that puts `***` for each kept secret, in whatever case, also where it is escaped for JSON or HTML, encoded for
 * a URL (once or twice), as hex, or as base64 within a longer text, and where a token is cut after its first 16
 * characters.
 */
export function redactor(): Redactor {
  const needles = new Set<string>();
  let longestFirst: string[] | undefined;
  let heads: ReadonlySet<string> = new Set();
  return {
    keep(secret) {
      if (secret.length < minSecretLength) return;
      for (const form of printedForms(secret)) needles.add(lowerCase(form));
      if (isToken(secret)) heads = new Set([...heads, ...printedForms(secret).map(lowerCase)]);
      longestFirst = undefined;
    },
    redact(text) {
      // A secret that begins with another one must not leave its ending behind.
      longestFirst ??= [...needles].sort((a, b) => b.length - a.length);
      return longestFirst.reduce((rest, needle) => hide(rest, needle, heads.has(needle)), text);
    },
  };
}

/** Puts `***` for a needle in lower case wherever it stands, or, where it may be cut, for as much of it as stands there. */
function hide(text: string, needle: string, mayBeCut: boolean): string {
  const haystack = lowerCase(text);
  const head = mayBeCut && needle.length > headLength ? needle.slice(0, headLength) : needle;
  const pieces: string[] = [];
  let from = 0;
  for (let at = haystack.indexOf(head); at >= 0; at = haystack.indexOf(head, from)) {
    let length = head.length;
    while (length < needle.length && haystack[at + length] === needle[length]) length += 1;
    pieces.push(text.slice(from, at));
    from = at + length;
  }
  return from === 0 ? text : [...pieces, text.slice(from)].join('***');
}

/** ASCII alone, so that every character keeps its place. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Whether a secret opens the door by itself, and has no beginning that others share, as an address has. */
function isToken(secret: string): boolean {
  return secret.length > headLength && !secret.startsWith('/') && !secret.includes('://');
}

function printedForms(secret: string): string[] {
  // encodeURIComponent throws on half a surrogate pair; what holds one cannot stand in a URL as it is anyway.
  const url = encodeURIComponent(secret.replace(/\p{Cs}/gu, '\ufffd'));
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const json = JSON.stringify(secret).slice(1, -1);
  const plain = [
    secret,
    secret.toUpperCase(),
    secret.toLowerCase(), // of letters beyond ASCII, which are not compared in small letters
    json,
    json.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`),
    json.replaceAll('/', '\\/'),
    secret.replace(/[&<>"']/g, (character) => htmlEntities[character] ?? character),
    url,
    encodeURIComponent(url),
    hex.replace(/../g, '%$&'),
    ...(['base64', 'base64url'] as const).map((code) => bytes.toString(code)),
  ];
  const codes = [
    hex,
    ...(['base64', 'base64url'] as const).flatMap((code) =>
      [0, 1, 2].map((offset) => base64Within(bytes, offset, code)),
    ),
  ];
  return [...new Set([...plain, ...codes.filter(({ length }) => length >= minCodeLength)])];
}

const htmlEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * The letters that bytes give in base64 behind `offset` other bytes (times three), whatever those are and whatever follows.
 * The first and the last letter may be shared with a neighbour and are left out.
 */
function base64Within(bytes: Buffer, offset: number, code: 'base64' | 'base64url'): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString(code);
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}
