import type { Instant } from '../time/time.ts';
import { parseJson } from './bodies.ts';
import { type Headers, issuedToken } from './callers.ts';
import { Refusal } from './refusal.ts';
import { json, type Reply } from './reply.ts';
import type { Story } from './sample-costs.ts';

/** Where client credentials become a token, and where a client finds that out. */
export const tokenPath = '/v0/oauth/token';
const discoveryPath = '/v0/.well-known/openid-configuration';

/** How long an issued token is valid. */
const lifeMs = 2 * 3_600_000;

/** The credentials of a service account, which belongs to one workspace. */
export interface ServiceAccount {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The service accounts of a platform's account by workspace. */
export function serviceAccountsOf({ account, workspaceTokens }: Story): Readonly<Record<string, ServiceAccount>> {
  return Object.fromEntries(
    [...workspaceTokens].map(([workspace, token]) => [
      workspace,
      { clientId: `${account.id}.${workspace}`, clientSecret: token.replace('workspace', 'secret') },
    ]),
  );
}

/**
 * Answers what needs no token: the exchange of client credentials for one, and its discovery; undefined for other paths.
 * Refuses with 400 a wrong secret as a wrong grant type.
 */
export function answerOAuth(
  stories: readonly Story[],
  request: { readonly method: string; readonly path: string; readonly headers: Headers; readonly body: Buffer },
  now: Instant,
): Reply | undefined {
  const { method, path, headers, body } = request;
  if (path === discoveryPath) {
    const base = `http://${headers['host'] ?? 'localhost'}`;
    return json({
      ...{ issuer: base, token_endpoint: `${base}${tokenPath}` },
      grant_types_supported: ['client_credentials'],
    });
  }
  if (path !== tokenPath) return undefined;
  if (method !== 'POST')
    throw new Refusal(405, 'method_not_allowed', `${tokenPath} answers POST only`, { allow: 'POST' });
  const fields = fieldsOf(body, String(headers['content-type'] ?? ''));
  if (fields['grant_type'] !== 'client_credentials') {
    throw new Refusal(400, 'unsupported_grant_type', 'Expected the grant type client_credentials');
  }
  const [id, secret] = basicIn([headers['authorization']].flat()[0]) ?? [fields['client_id'], fields['client_secret']];
  for (const story of stories) {
    for (const [workspace, { clientId, clientSecret }] of Object.entries(serviceAccountsOf(story))) {
      if (clientId !== id || clientSecret !== secret) continue;
      const token = issuedToken(story.workspaceTokens.get(workspace) ?? '', now + lifeMs);
      return json({ access_token: token, token_type: 'Bearer', expires_in: lifeMs / 1000 });
    }
  }
  throw new Refusal(400, 'invalid_client', 'Unknown client or wrong secret');
}

function fieldsOf(body: Buffer, type: string): Readonly<Record<string, unknown>> {
  if (/x-www-form-urlencoded/.test(type)) return Object.fromEntries(new URLSearchParams(body.toString('utf8')));
  const fields = body.length === 0 ? {} : parseJson(body);
  return typeof fields === 'object' && fields !== null ? (fields as Readonly<Record<string, unknown>>) : {};
}

/** Client ID and secret of HTTP Basic; undefined for another header. */
function basicIn(header: string | undefined): readonly [string, string] | undefined {
  const encoded = /^basic +([\w+/=-]+)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  // Each part is encoded as a form first (RFC 6749 2.3.1).
  const [id, secret] = text.split(/:(.*)/s, 2).map((part) => new URLSearchParams(`part=${part}`).get('part'));
  return [id ?? '', secret ?? ''];
}
