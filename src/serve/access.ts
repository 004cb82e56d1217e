import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ServeSettings, ServeToken } from '../config/index.ts';
import type { Scope, Viewer } from './books/index.ts';

/** The name of the only cookie: a session of this server, which a restart ends. */
export const sessionCookie = 'costbook_session';
/** How long a session lasts. */
export const sessionSeconds = 12 * 3600;
/** Sessions of one token; its oldest one ends when there are more. */
const maxSessionsPerToken = 1000;
/**
 * Wrong tokens that are answered in a minute, from everybody together, in the form and in requests. A right one is always let in: whoever guesses must
 * not lock others out, and a token of 20 characters cannot be guessed.
 */
const maxWrongPerMinute = 20;

/** What of a request says who asks. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly session: string | undefined;
  /** The value of the proxy's header. */
  readonly user: string | undefined;
}

export interface Access {
  /** Whether anybody must say who they are. */
  readonly isGuarded: boolean;
  /** Whether a person can sign in with a token. */
  readonly hasTokens: boolean;
  /** Who asks; undefined if they may not come in, `wait` after too many wrong tokens. */
  viewerOf(credentials: Credentials): Viewer | 'wait' | undefined;
  /** Starts a session for a token; undefined if the token is wrong, `wait` after too many wrong ones. */
  signIn(token: string): string | 'wait' | undefined;
}

interface Session {
  readonly viewer: Viewer;
  readonly until: number;
}

/**
 * Who may see what. Without tokens and without a proxy's header everybody may see everything: such a server listens on
 * this machine only. Tokens are compared by their hashes, in constant time. `now` counts milliseconds.
 */
export function openAccess({ tokens, userHeader }: ServeSettings, now: () => number): Access {
  const known = tokens.flatMap((entry) =>
    entry.token === undefined ? [] : [{ hash: hashOf(entry.token), viewer: viewerOf(entry) }],
  );
  const sessions = new Map<string, Session>();
  const wrong = { minute: 0, count: 0 };
  const isGuarded = tokens.length > 0 || userHeader !== undefined;

  function viewerOfToken(token: string): Viewer | undefined {
    const hash = hashOf(token);
    return known.filter((entry) => timingSafeEqual(entry.hash, hash))[0]?.viewer;
  }
  function countWrong(): 'wait' | undefined {
    const minute = Math.floor(now() / 60_000);
    if (wrong.minute !== minute) Object.assign(wrong, { minute, count: 0 });
    wrong.count += 1;
    return wrong.count > maxWrongPerMinute ? 'wait' : undefined;
  }

  function forgetOld(viewer: Viewer): void {
    for (const [id, { until }] of sessions) if (until <= now()) sessions.delete(id);
    const own = [...sessions].filter(([, session]) => session.viewer === viewer);
    if (own.length >= maxSessionsPerToken) sessions.delete(own[0]?.[0] ?? '');
  }

  return {
    isGuarded,
    hasTokens: tokens.length > 0,
    viewerOf({ authorization, session, user }) {
      if (!isGuarded) return { name: undefined, scope: { kind: 'all' } };
      if (userHeader !== undefined && user !== undefined && user !== '') return { name: user, scope: { kind: 'all' } };
      const bearer = /^Bearer ([\x21-\x7e]{1,1024})$/i.exec(authorization ?? '')?.[1];
      if (bearer !== undefined) return viewerOfToken(bearer) ?? countWrong();
      const found = session === undefined ? undefined : sessions.get(session);
      return found !== undefined && found.until > now() ? found.viewer : undefined;
    },
    signIn(token) {
      const viewer = viewerOfToken(token);
      if (viewer === undefined) return countWrong();
      forgetOld(viewer);
      const id = randomBytes(32).toString('base64url');
      sessions.set(id, { viewer, until: now() + sessionSeconds * 1000 });
      return id;
    },
  };
}

function viewerOf({ name, workspaces, owner }: ServeToken): Viewer {
  return { name, scope: scopeOf(workspaces, owner) };
}

function scopeOf(workspaces: readonly string[] | undefined, owner: string | undefined): Scope {
  if (workspaces !== undefined) return { kind: 'workspaces', workspaces };
  return owner === undefined ? { kind: 'all' } : { kind: 'owner', owner };
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
