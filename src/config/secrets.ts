import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import type { HttpSend } from '../base/effects.ts';
import { MachineError, UsageError } from '../base/errors.ts';
import type { IssuedToken } from '../platform/index.ts';

/** Where a token comes from; only `value` contains the token itself. */
export type TokenSource =
  | { readonly kind: 'value'; readonly value: string }
  /** `path` is absolute. */
  | { readonly kind: 'file'; readonly path: string }
  /** `command` is a shell command; its standard output is the token. */
  | { readonly kind: 'command'; readonly command: string }
  /** Client credentials, which become a token at this path of the platform. */
  | { readonly kind: 'oauth'; readonly tokenPath: string; readonly clientId: string; readonly clientSecret: string };

/** A token has some hundred characters, a JWT some thousand; anything longer is not a token. */
const maxTokenBytes = 64 * 1024;
/** Longer than any password manager needs without waiting for a person, and than any platform to issue a token. */
const usualTimeoutMs = 30_000;
const headerText = /^[\x21-\x7e]+$/;

/** The fault of a text that should be a token, without quoting it; undefined if it is valid. */
export function tokenFault(text: string): string | undefined {
  if (text.length > maxTokenBytes) return `found ${text.length} characters, expected a token of at most 64 KiB`;
  if (text === '') return 'found nothing, expected a token';
  if (/^bearer\s/i.test(text)) return 'found the word Bearer before the token, expected the token alone';
  if (!headerText.test(text)) {
    return 'found a space or a character that an HTTP header cannot carry, expected printable ASCII without spaces';
  }
  return undefined;
}

export interface TokenReading {
  /** Called with the token before it is used. */
  keepSecret(secret: string): void;
  /** The working directory of a command: the project folder. */
  readonly dir: string;
  readonly signal: AbortSignal;
  /** The time limit of a command, and of an exchange of client credentials; 30 seconds by default. */
  readonly timeoutMs?: number;
  /** Where client credentials become a token. */
  readonly platform?: { readonly url: string; readonly http: HttpSend };
}

/**
 * Reads a token from its source, again on every call, so that a rotated token is used.
 * Throws UsageError if there is no valid token, PlatformError if the platform issues none, and the signal's reason if
 * aborted. No message contains the file's
 * contents, the command's output, or the command itself, which may contain secrets.
 */
export async function readToken(source: TokenSource, reading: TokenReading): Promise<string | IssuedToken> {
  reading.signal.throwIfAborted();
  switch (source.kind) {
    case 'value':
      return checkToken(source.value, 'token', 'write the token alone', reading);
    case 'file': {
      const text = await readTokenFile(source.path, reading.signal);
      return checkToken(text, `token file ${source.path}`, 'the file must contain only the token', reading);
    }
    case 'command': {
      const text = await runTokenCommand(source.command, reading);
      return checkToken(text, 'tokenCommand', 'the command must print only the token', reading);
    }
    case 'oauth': {
      const { platform, signal, keepSecret, timeoutMs = usualTimeoutMs } = reading;
      if (platform === undefined) throw new TypeError('client credentials need a platform');
      keepSecret(source.clientSecret);
      const { issueToken } = await import('../platform/index.ts');
      const tokenUrl = `${platform.url}${source.tokenPath}`;
      const { text, expiresAt } = await issueToken({ ...source, tokenUrl, timeoutMs }, platform.http, signal);
      return { text: checkToken(text, 'oauth', 'the platform must issue one token', reading), expiresAt };
    }
  }
}

function checkToken(text: string, label: string, whatToDo: string, { keepSecret }: TokenReading): string {
  const token = text.trim();
  const fault = tokenFault(token);
  if (token.length <= maxTokenBytes) keepSecret(token);
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
        `token file ${path}: found no such file, expected a file with the token; create it or correct tokenFile`,
        { cause: error },
      );
    }
    throw new UsageError(
      `token file ${path}: cannot be read (${code}); make it readable for the user who runs Costbook, or correct tokenFile`,
      { cause: error },
    );
  }
}

/** The command's output. Its stderr is discarded, because password managers print secrets there too. */
function runTokenCommand(command: string, { dir, signal, timeoutMs = usualTimeoutMs }: TokenReading): Promise<string> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, timeout]);
  return new Promise((resolve, reject) => {
    // A process group of its own, so that killing it also kills the shell's children.
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
              `tokenCommand: still running after ${timeoutMs / 1000} s, expected the token on standard output; ` +
                `run it yourself in ${dir} to see what it waits for`,
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
      end(new MachineError(`tokenCommand: could not start a shell in ${dir} (${errorCode(error)})`, { cause: error }));
    });
    child.on('close', (code, endedBy) => {
      either.removeEventListener('abort', abort);
      if (code === 0) {
        resolve(Buffer.concat(chunks).toString('utf8'));
        return;
      }
      const ending = code === null ? `an end by signal ${endedBy}` : `exit code ${code}`;
      reject(
        new UsageError(
          `tokenCommand: found ${ending}, expected exit code 0 and the token on standard output; ` +
            `run it yourself in ${dir} to see its errors`,
        ),
      );
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
