import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { everyGroup, type ServeSettings } from '../config/index.ts';
import type { Viewer } from './books/index.ts';

/** The name of the only cookie: a session of this server, which a restart ends. */
export const sessionCookie = 'costbook_session';
/** How long a session of a token lasts. */
const tokenSeconds = 12 * 3600;
/** The same of a person whom an identity provider names: who leaves a group soon sees its costs no more. */
const personSeconds = 3600;
/** Sessions of one token or person; the oldest one ends when there are more. */
const maxSessionsEach = 1000;
/**
 * Wrong tokens that are answered in a minute, from everybody together, in the form and in requests. A right one is always let in: whoever guesses must
 * not lock others out, and a token of 20 characters cannot be guessed.
 */
const maxWrongPerMinute = 20;

/** What of a request says who asks. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly session: string | undefined;
  /** The values of the proxy's headers. */
  readonly user: string | undefined;
  readonly groups: string | undefined;
}

/** Somebody who has signed in elsewhere: at an identity provider, or at a proxy. */
export interface Person {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Why somebody does not come in: too many wrong tokens, or no rule for any of their groups. */
export type Refusal = { readonly refused: 'wait' } | { readonly refused: 'no rule'; readonly person: Person };

export interface StartedSession {
  readonly id: string;
  readonly seconds: number;
}

export interface Access {
  /** Whether anybody must say who they are. */
  readonly isGuarded: boolean;
  /** Whether a person can sign in with a token, and at an identity provider. */
  readonly hasTokens: boolean;
  readonly hasProvider: boolean;
  /** Who asks; undefined if they do not say it. */
  viewerOf(credentials: Credentials): Viewer | Refusal | undefined;
  /** Starts a session for a token; undefined if the token is wrong. */
  signIn(token: string): StartedSession | Refusal | undefined;
  /** Starts a session for whom the identity provider names. */
  signInAs(person: Person): StartedSession | Refusal;
  hasSession(session: string): boolean;
  signOut(session: string): void;
}

interface Session {
  readonly viewer: Viewer;
  readonly until: number;
}

/**
 * Who may see what. Without tokens, a provider and a proxy's header everybody may see everything: such a server listens on
 * this machine only. Tokens are compared by their hashes, in constant time. `now` counts milliseconds.
 */
export function openAccess({ tokens, userHeader, oidc, groups }: ServeSettings, now: () => number): Access {
  const known = tokens.flatMap((entry) =>
    entry.token === undefined ? [] : [{ hash: hashOf(entry.token), viewer: viewerBy(entry.name, entry) }],
  );
  const sessions = new Map<string, Session>();
  const wrong = { minute: 0, count: 0 };
  const isGuarded = tokens.length > 0 || userHeader !== undefined || oidc !== undefined;

  function viewerOfToken(token: string): Viewer | undefined {
    const hash = hashOf(token);
    return known.filter((entry) => timingSafeEqual(entry.hash, hash))[0]?.viewer;
  }
  function countWrong(): Refusal | undefined {
    const minute = Math.floor(now() / 60_000);
    if (wrong.minute !== minute) Object.assign(wrong, { minute, count: 0 });
    wrong.count += 1;
    return wrong.count > maxWrongPerMinute ? { refused: 'wait' } : undefined;
  }
  function viewerOfPerson(person: Person): Viewer | Refusal {
    const rule = groups.find(({ name }) => name === everyGroup || person.groups.includes(name));
    return rule === undefined ? { refused: 'no rule', person } : viewerBy(person.name, rule);
  }

  function start(viewer: Viewer, seconds: number): StartedSession {
    for (const [id, { until }] of sessions) if (until <= now()) sessions.delete(id);
    const own = [...sessions].filter(([, session]) => session.viewer.name === viewer.name);
    if (own.length >= maxSessionsEach) sessions.delete(own[0]?.[0] ?? '');
    const id = randomBytes(32).toString('base64url');
    sessions.set(id, { viewer, until: now() + seconds * 1000 });
    return { id, seconds };
  }

  return {
    isGuarded,
    hasTokens: tokens.length > 0,
    hasProvider: oidc !== undefined,
    viewerOf({ authorization, session, user, groups: named = '' }) {
      if (!isGuarded) return { name: undefined, scope: { kind: 'all' } };
      if (userHeader !== undefined && user !== undefined && user !== '')
        return viewerOfPerson({ name: user, groups: named.split(',').map((group) => group.trim()) });
      const bearer = /^Bearer ([\x21-\x7e]{1,1024})$/i.exec(authorization ?? '')?.[1];
      if (bearer !== undefined) return viewerOfToken(bearer) ?? countWrong();
      const found = session === undefined ? undefined : sessions.get(session);
      return found !== undefined && found.until > now() ? found.viewer : undefined;
    },
    signIn(token) {
      const viewer = viewerOfToken(token);
      return viewer === undefined ? countWrong() : start(viewer, tokenSeconds);
    },
    signInAs(person) {
      const viewer = viewerOfPerson(person);
      return 'refused' in viewer ? viewer : start(viewer, personSeconds);
    },
    hasSession: (session) => sessions.has(session),
    signOut(session) {
      sessions.delete(session);
    },
  };
}

/** What a token or a rule lets somebody see. */
function viewerBy(
  name: string,
  { workspaces, owner }: { readonly workspaces: readonly string[] | undefined; readonly owner: string | undefined },
): Viewer {
  if (workspaces !== undefined) return { name, scope: { kind: 'workspaces', workspaces } };
  return { name, scope: owner === undefined ? { kind: 'all' } : { kind: 'owner', owner } };
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
