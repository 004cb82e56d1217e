import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterFile } from './clean-up.ts';

/** People whom the provider knows, with their groups. Any password is right. */
export type People = Readonly<Record<string, { readonly groups?: unknown }>>;

export interface IdentityProvider {
  readonly issuer: string;
  /** What each person's account says from now on. */
  people: People;
}

/** Where groups are: in the ID token, or only where the client asks for more about the person. */
export type GroupsPlace = 'token' | 'userinfo';

interface Told {
  readonly clientSecret: string;
  readonly redirect: () => string;
  readonly groupsIn: GroupsPlace;
}

/** A certified implementation of OpenID Connect on this machine. It asks for a name and a password, and signs with its keys. */
export async function startIdentityProvider(
  people: People,
  { clientSecret, redirect, groupsIn }: Told,
): Promise<IdentityProvider> {
  const { Provider } = (await import('oidc-provider' as string)) as {
    readonly Provider: new (issuer: string, settings: unknown) => { callback(): Parameters<typeof createServer>[1] };
  };
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const told: IdentityProvider = { issuer, people };
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'costbook', client_secret: clientSecret, redirect_uris: [redirect()] }],
    claims: { openid: ['sub'], email: ['email'], profile: ['name'], groups: ['groups'] },
    conformIdTokenClaims: groupsIn === 'userinfo',
    cookies: { keys: ['for-tests-only'] },
    pkce: { required: () => true },
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@example.com`, ...told.people[sub] }),
    }),
  });
  server.on('request', provider.callback() as never);
  afterFile(async () => {
    server.closeAllConnections();
    server.close();
  });
  return told;
}
