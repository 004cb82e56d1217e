import { UsageError } from '../base/errors.ts';
import type { Instant } from '../time/time.ts';
import { loadReadable } from './config.ts';
import { readToken, type TokenSource } from './secrets.ts';

/**
 * Registers every secret that the project's configuration has, so that answers to others hide it: tokens, also those in
 * files, sinks and headers. A configuration with mistakes is read as far as possible. No command is run for a token.
 */
export async function keepConfiguredSecrets(
  { dir, env, now }: { readonly dir: string; readonly env: Record<string, string | undefined>; readonly now: Instant },
  { keepSecret, signal }: { keepSecret(secret: string): void; readonly signal: AbortSignal },
): Promise<void> {
  // The commands that need it report what is wrong.
  const { config } = loadReadable({ dir, env, now, requireAccounts: false, keepSecret });
  const sources = config.accounts.flatMap(({ token, inventory }): (TokenSource | undefined)[] => [
    token,
    ...(inventory?.tokens.map((own) => own.token) ?? []),
  ]);
  for (const source of sources) {
    if (source?.kind !== 'file') continue;
    await readToken(source, { dir, signal, keepSecret }).catch((error: unknown) => {
      if (!(error instanceof UsageError)) throw error;
    });
  }
}
