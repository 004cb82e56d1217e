import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type * as openid from 'openid-client';
import type { HttpSend } from '../base/effects.ts';
import { CostbookError, exitCodes } from '../base/errors.ts';
import type { OidcSettings } from '../config/index.ts';
import type { Person } from './access.ts';

/** How long somebody may take to sign in at the provider. */
export const flowSeconds = 600;
/** How long one answer of the provider may take, in seconds. */
const answerSeconds = 10;
const maxGroups = 1000;
/** A session keeps so much of a name. */
const maxName = 200;

/**
 * Why a sign-in did not end well: the browser brings no sign-in that began here (`stale`), the provider or the person
 * refused it (`refused`), or the provider does not answer as it must (`provider`).
 */
export type SignInFault = 'stale' | 'refused' | 'provider';

/** `detail` is for the log: a code of the standard, never an answer's text. */
export class SignInError extends CostbookError {
  override readonly exitCode = exitCodes.platform;
  readonly fault: SignInFault;
  readonly detail: string;
  constructor(fault: SignInFault, detail: string) {
    super(`sign-in: ${fault}`);
    this.fault = fault;
    this.detail = detail;
  }
}

/** An identity provider where people sign in. */
export interface Provider {
  /** Where to send the browser, and what it must bring back in a cookie. `to` is the page that was asked for. */
  begin(to: string): Promise<{ address: string; flow: string }>;
  /** Who has signed in, and the page that was asked for. `search` is what the provider added to our address. */
  end(search: string, flow: string | undefined): Promise<{ person: Person; to: string }>;
}

interface Flow {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly to: string;
  readonly until: number;
}

/**
 * Signs people in with the authorization code of OpenID Connect, PKCE, state and nonce. What a sign-in needs again goes
 * with the browser, signed, so that nobody fills the memory with sign-ins that they begin. `callback` gives our own address.
 */
export function openProvider(
  settings: OidcSettings,
  { callback, send, now }: { readonly callback: () => string; readonly send: HttpSend; readonly now: () => number },
): Provider {
  const key = randomBytes(32);
  let opened: Promise<{ oidc: typeof openid; config: openid.Configuration }> | undefined;

  /** The provider's own description, read once; after a failure it is read again. */
  function open() {
    opened ??= discover(settings, send).catch((error: unknown) => {
      opened = undefined;
      throw faultOf(error);
    });
    return opened;
  }
  const signature = (text: string) => createHmac('sha256', key).update(text).digest('base64url');

  function read(flow: string | undefined): Flow {
    const [text = '', signed = ''] = flow?.split('.') ?? [];
    const [given, expected] = [Buffer.from(signed), Buffer.from(signature(text))];
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw new SignInError('stale', 'flow');
    const read = JSON.parse(Buffer.from(text, 'base64url').toString()) as Flow;
    if (read.until <= now()) throw new SignInError('stale', 'expired');
    return read;
  }

  return {
    async begin(to) {
      const { oidc, config } = await open();
      const verifier = oidc.randomPKCECodeVerifier();
      const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
      const address = oidc.buildAuthorizationUrl(config, {
        ...{ redirect_uri: callback(), scope: settings.scopes.join(' '), state, nonce },
        ...{ code_challenge: await oidc.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
      });
      const flow: Flow = { state, nonce, verifier, to, until: now() + flowSeconds * 1000 };
      const text = Buffer.from(JSON.stringify(flow)).toString('base64url');
      return { address: address.href, flow: `${text}.${signature(text)}` };
    },
    async end(search, given) {
      const { state, nonce, verifier, to } = read(given);
      // Another tab of this browser began a newer sign-in, or somebody made this address up.
      if (new URLSearchParams(search).get('state') !== state) throw new SignInError('stale', 'state');
      const { oidc, config } = await open();
      try {
        const tokens = await oidc.authorizationCodeGrant(config, new URL(callback() + search), {
          ...{ pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
        });
        const claims: Readonly<Record<string, unknown>> = tokens.claims() ?? {};
        const subject = String(claims['sub']);
        // Many providers name groups only when they are asked again.
        const more =
          settings.groupsClaim in claims ? {} : await oidc.fetchUserInfo(config, tokens.access_token, subject);
        return { person: personOf({ ...more, ...claims }, settings.groupsClaim), to };
      } catch (error) {
        throw faultOf(error);
      }
    },
  };
}

async function discover({ issuer, clientId, clientSecret }: OidcSettings, send: HttpSend) {
  const oidc = await import('openid-client');
  const config = await oidc.discovery(new URL(issuer), clientId, undefined, authentication(oidc, clientSecret), {
    timeout: answerSeconds,
    [oidc.customFetch]: fetchWith(send),
    execute: [
      oidc.enableNonRepudiationChecks,
      // Only a provider on this machine may have an address without TLS: the settings say so.
      ...(issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : []),
    ],
  });
  return { oidc, config };
}

/** Sends the secret as the provider takes it; by the standard in the header, where it does not say. */
function authentication(oidc: typeof openid, secret: string | undefined): openid.ClientAuth {
  if (secret === undefined) return oidc.None();
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const accepted = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (accepted.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

/** `fetch` by our own client, with its proxies and limits. */
function fetchWith(send: HttpSend): openid.CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const answer = await send({
      ...{ method, url, headers, maxBodyMib: 1 },
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      signal: signal ?? AbortSignal.timeout(answerSeconds * 1000),
    });
    const { 'content-type': type = '', 'www-authenticate': challenge } = answer.headers;
    return new Response(answer.status === 204 || answer.status === 304 ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: { 'content-type': String(type), ...(challenge ? { 'www-authenticate': String(challenge) } : {}) },
    });
  };
}

/** Claims come from outside: only texts count. */
function personOf(claims: Readonly<Record<string, unknown>>, groupsClaim: string): Person {
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
  const given = claims[groupsClaim];
  const name = ['email', 'preferred_username', 'name', 'sub'].map((claim) => claims[claim]).find(isText) ?? '';
  return {
    name: name.slice(0, maxName),
    groups: (Array.isArray(given) ? given : [given]).filter(isText).slice(0, maxGroups),
  };
}

/** What went wrong, by the codes of the library and of the standard. */
function faultOf(error: unknown): SignInError {
  const { code, error: said } = error as { readonly code?: unknown; readonly error?: unknown };
  const codes = [code, said].filter((each) => typeof each === 'string' && /^\w{1,60}$/.test(each));
  const isRefused = code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR';
  return new SignInError(isRefused ? 'refused' : 'provider', codes.join(' ') || 'no answer');
}
