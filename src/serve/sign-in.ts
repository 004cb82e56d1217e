import type { Context, Hono, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';
import type { Log } from '../base/effects.ts';
import type { ServeSettings } from '../config/index.ts';
import { oneLine } from '../text/safe-text.ts';
import { type Access, type Refusal, type StartedSession, sessionCookie } from './access.ts';
import type { AssetUrls } from './assets.ts';
import { linkedBelow, ownPage } from './below-path.ts';
import type { Viewer } from './books/index.ts';
import { signedInDocument, signInDocument } from './layout.ts';
import { openLimiter } from './limiter.ts';
import { lookedCookie, lookedSeconds } from './looked.ts';
import type { Markup } from './markup.ts';
import { flowSeconds, type Provider, SignInError, type SignInFault } from './oidc.ts';
import { isEncrypted, isForeign, type RequestOrigin } from './origin.ts';

/** What every request has: the assets, the path of the dashboard, and, behind `identify`, who asks. */
export type Env = { Variables: { viewer: Viewer; hasSession: boolean; assets: AssetUrls; base: string } };
type Status = 200 | 400 | 401 | 403 | 429 | 502;

/** What signing in needs. */
export interface SignInOptions {
  readonly access: Access;
  readonly settings: ServeSettings;
  readonly urls: AssetUrls;
  /** The names of this server. */
  readonly hosts: ReadonlySet<string>;
  readonly address: string | undefined;
  readonly provider: Provider | undefined;
  readonly log: Log;
}

/** What a person brings back from the provider; it also goes with requests that begin on the provider's site. */
const flowCookie = 'costbook_sign_in';
/** Answers of the provider that are waited for at the same time. */
const providerLimits = { atOnce: 8, maxWaiting: 100, busy: 'Too many sign-ins at once. Try again in a moment.' };
const maxBodyBytes = 4096;
/** Groups that a refusal names. */
const maxGroupsNamed = 20;

const tooManyWrong = 'Too many wrong tokens. Wait a minute.';
const faultWords: Readonly<Record<SignInFault, string>> = {
  stale: 'This sign-in did not begin in this browser, or took too long. Sign in again.',
  refused: 'The identity provider refused this sign-in. Sign in again, or ask the people who look after it.',
  provider: 'The identity provider does not answer as expected. The log of the server has the reason. Try again later.',
};
const faultStatus: Readonly<Record<SignInFault, Status>> = { stale: 400, refused: 403, provider: 502 };

/** The addresses at which people sign in and out. */
export function addSignIn(app: Hono<Env>, options: SignInOptions): void {
  const { access, urls, provider, log } = options;
  const inTurn = openLimiter(providerLimits);
  const page = (context: Context<Env>, status: Status, to: string, reason?: string) =>
    show(context, signInDocument({ ...access, to, reason }, urls), status);

  app.get('/sign-in', (context) => page(context, 200, ownPage(context.req.query('to'))));
  app.post('/sign-in', bodyLimit({ maxSize: maxBodyBytes }), async (context) => {
    if (isForeign(originOf(context), options.hosts)) return foreign(context);
    const body = await context.req.parseBody().catch(() => undefined);
    if (body === undefined) return context.text('Expected the fields of a form.\n', 400);
    const to = ownPage(body['to']);
    const started = access.signIn(typeof body['token'] === 'string' ? body['token'].trim() : '');
    if (started === undefined) return page(context, 401, to, 'This token is not known here.');
    if ('refused' in started) return page(context, 429, to, tooManyWrong);
    keepSession(context, started, isSecure(context, options.address));
    return context.redirect(`${context.get('base')}${to}`, 303);
  });
  app.post('/sign-out', (context) => {
    if (isForeign(originOf(context), options.hosts)) return foreign(context);
    access.signOut(sessionOf(context, options) ?? '');
    deleteCookie(context, sessionCookie, ownCookie(context, isSecure(context, options.address)));
    return context.redirect(`${context.get('base')}/sign-in`, 303);
  });
  if (provider === undefined) return;
  // The provider sends browsers to the configured address; what they ask with then does not always show its scheme.
  const secure = options.address?.startsWith('https:') ?? false;
  async function failed(context: Context<Env>, error: unknown): Promise<Response> {
    if (!(error instanceof SignInError)) throw error;
    const { fault, detail } = error;
    if (fault !== 'stale') log.warn('sign_in.failed', 'A sign-in at the identity provider failed', { fault, detail });
    return page(context, faultStatus[fault], '/', faultWords[fault]);
  }
  app.get('/sign-in/provider', async (context) => {
    try {
      const { address, flow } = await inTurn(() => provider.begin(ownPage(context.req.query('to'))));
      setCookie(context, flowCookie, flow, { ...ownCookie(context, secure), sameSite: 'Lax', maxAge: flowSeconds });
      return context.redirect(address);
    } catch (error) {
      return failed(context, error);
    }
  });
  app.get('/sign-in/callback', async (context) => {
    try {
      const { search } = new URL(context.req.url);
      const how = ownCookie(context, secure);
      const { person, to } = await inTurn(() => provider.end(search, getCookie(context, flowCookie, how.prefix)));
      deleteCookie(context, flowCookie, how);
      const started = access.signInAs(person);
      if ('refused' in started) return page(context, 403, to, refusalWords(started));
      keepSession(context, started, secure);
      return show(context, signedInDocument(to, context.get('base'), urls), 200);
    } catch (error) {
      return failed(context, error);
    }
  });
}

/** Lets in whom the settings name, and sends people without a session to the page on which they sign in. */
export function identify(options: SignInOptions): MiddlewareHandler<Env> {
  const { access, settings, urls } = options;
  const { userHeader, groupsHeader } = settings;
  return async (context, next) => {
    const header = (name: string | undefined) => (name === undefined ? undefined : context.req.header(name));
    const session = sessionOf(context, options);
    const viewer = access.viewerOf({
      ...{ authorization: header('authorization'), session, user: header(userHeader), groups: header(groupsHeader) },
    });
    const isPerson = (header('accept') ?? '').includes('text/html');
    if (viewer === undefined) {
      const { search } = new URL(context.req.url);
      const to =
        context.req.path === '/' && search === '' ? '' : `?to=${encodeURIComponent(context.req.path + search)}`;
      if ((access.hasTokens || access.hasProvider) && isPerson)
        return context.redirect(`${context.get('base')}/sign-in${to}`);
      context.header('www-authenticate', 'Bearer realm="Costbook"');
      return context.text(
        `Expected an access token of serve.tokens: "Authorization: Bearer …", or sign in at ${context.get('base')}/sign-in\n`,
        401,
      );
    }
    if ('refused' in viewer) {
      if (viewer.refused === 'wait') return context.text(`${tooManyWrong}\n`, 429);
      const reason = refusalWords(viewer);
      if (!isPerson) return context.text(`${reason}\n`, 403);
      return show(context, signInDocument({ hasTokens: false, hasProvider: false, to: '/', reason }, urls), 403);
    }
    context.set('viewer', viewer);
    context.set('hasSession', session !== undefined && access.hasSession(session));
    await next();
    return undefined;
  };
}

/** What somebody reads whose groups no rule names: they can pass it on to whoever writes the rules. */
function refusalWords(refusal: Refusal): string {
  if (refusal.refused === 'wait') return tooManyWrong;
  const { name, groups } = refusal.person;
  const shown = groups.filter((group) => group !== '').slice(0, maxGroupsNamed);
  const known =
    shown.length === 0 ? 'no groups are known' : `the groups are ${shown.map((one) => oneLine(one, 80)).join(', ')}`;
  return `${oneLine(name, 80)} sees no costs here: no rule of serve.groups names one of their groups (${known}).`;
}

/** Keeps in the browser when it looked. */
export function rememberLook(context: Context<Env>, looked: string, address: string | undefined): void {
  const { prefix: _, ...how } = ownCookie(context, isSecure(context, address));
  setCookie(context, lookedCookie, looked, { ...how, sameSite: 'Lax', maxAge: lookedSeconds });
}

function keepSession(context: Context<Env>, { id, seconds }: StartedSession, secure: boolean): void {
  setCookie(context, sessionCookie, id, { ...ownCookie(context, secure), sameSite: 'Strict', maxAge: seconds });
}

function sessionOf(context: Context<Env>, { address }: SignInOptions): string | undefined {
  const { prefix } = ownCookie(context, isSecure(context, address));
  // A proxy may not say that the browser came by https.
  return getCookie(context, sessionCookie, 'host') ?? (prefix ? undefined : getCookie(context, sessionCookie));
}

/**
 * A cookie of this dashboard, which scripts cannot read. Where it can be, it is a `__Host-` cookie, which no neighbouring host
 * and no plain http can set.
 */
function ownCookie(context: Context<Env>, secure: boolean): CookieOptions & { readonly prefix?: 'host' } {
  const base = context.get('base');
  return { path: base || '/', httpOnly: true, secure, ...(secure && base === '' ? { prefix: 'host' } : {}) };
}

/** Whether the browser reaches this server by https; `address` is the configured one. */
function isSecure(context: Context<Env>, address: string | undefined): boolean {
  return isEncrypted(originOf(context), address);
}

function foreign(context: Context<Env>): Response {
  return context.text('Expected a request of the page of this server itself.\n', 403);
}

function originOf({ req }: Context<Env>): RequestOrigin {
  return {
    fetchSite: req.header('sec-fetch-site'),
    origin: req.header('origin'),
    host: req.header('host')?.toLowerCase(),
    forwardedProto: req.header('x-forwarded-proto'),
  };
}

async function show(context: Context<Env>, page: Markup, status: Status): Promise<Response> {
  return context.html(await linkedBelow(context.get('base'), page), status);
}
