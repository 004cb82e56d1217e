import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { compress } from 'hono/compress';
import { getCookie } from 'hono/cookie';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { HttpSend, Log } from '../base/effects.ts';
import { CostbookError, exitCodes, MachineError, messageOf } from '../base/errors.ts';
import { listen } from '../base/listen.ts';
import type { LocalConfig, ServeSettings } from '../config/index.ts';
import type { Status } from '../health/index.ts';
import type { LimitedBooks } from '../mcp/index.ts';
import { metricsText } from '../metrics/index.ts';
import { factsOf } from '../reports/formats/index.ts';
import { type AddressPart, decodePart } from '../text/dashboard-address.ts';
import { oneLine } from '../text/safe-text.ts';
import { hourMs, type Instant } from '../time/time.ts';
import { type Access, openAccess } from './access.ts';
import { allocationPage } from './allocation.ts';
import { anomaliesPage, anomalyPage } from './anomalies.ts';
import { type Asset, type AssetUrls, loadAssets } from './assets.ts';
import { linkedBelow, pathBelow, pathOf } from './below-path.ts';
import {
  BooksUnavailableError,
  type BooksView,
  openSnapshots,
  type Snapshots,
  scopeKey,
  ViewerLeftError,
} from './books/index.ts';
import { readBooksState } from './books-state.ts';
import { budgetPage, budgetsPage } from './budgets.ts';
import { changesPage } from './changes.ts';
import { childWork, childWorkMs, type ProjectCommands } from './child-work.ts';
import { explorePage } from './explore.ts';
import { exploreFile } from './explore-file.ts';
import { openExportFile } from './export-files.ts';
import { healthPage } from './health.ts';
import { document, problemDocument } from './layout.ts';
import { limitedBooks } from './limited-books.ts';
import { BusyError, openLimiter } from './limiter.ts';
import { lookedBefore, lookedCookie } from './looked.ts';
import type { Markup } from './markup.ts';
import { menu, type PagePath } from './menu.ts';
import { monthPage } from './month.ts';
import { monthsPage } from './months.ts';
import { openProvider } from './oidc.ts';
import { overviewPage } from './overview.ts';
import type { Download, Page, PageRequest } from './page.ts';
import type { Project } from './project.ts';
import { reportFile, reportPage, reportsPage } from './reports.ts';
import { resourcePage } from './resource.ts';
import { pageFormats } from './rows-file.ts';
import { savingsFile, savingsPage } from './savings.ts';
import { nameParameter, sharePage } from './share.ts';
import { addSignIn, type Env, identify, rememberLook } from './sign-in.ts';
import { problem, sqlFile, sqlPage } from './sql.ts';
import { tableFile, takeTable, withTables } from './table-files.ts';
import { maxTitle, openViews, type ViewFile } from './views.ts';

export interface Dashboard {
  readonly url: string;
  close(): Promise<void>;
}

export interface DashboardOptions {
  readonly dir: string;
  /** Name of the project, shown on every page. */
  readonly project: string;
  readonly host: string;
  readonly port: number;
  readonly settings: ServeSettings;
  /** The address at which people open the dashboard, which may be below a path of a proxy. */
  readonly dashboardUrl?: string | undefined;
  /** Marks this process as a reader of the books. */
  readonly reader: string;
  readonly now: () => number;
  readonly log: Log;
  /** Ends the child processes. */
  readonly signal: AbortSignal;
  /** The configuration as it is now. Throws UsageError with its mistakes. */
  readonly config: () => LocalConfig;
  /** The status of the project now. */
  readonly status: () => Promise<Status>;
  readonly commands: ProjectCommands;
  /** Asks the identity provider. */
  readonly send: HttpSend;
  /** How long the queries of a page may take together, in milliseconds; 30 seconds by default. */
  readonly pageMs?: number;
  /** Answers an agent at /mcp, from limited books if its token sees some costs only; undefined: no such address. */
  readonly mcp?: ((request: Request, limited: LimitedBooks | undefined) => Promise<Response>) | undefined;
  /** What another service in this process adds to the answers for monitors. */
  readonly probes?: DashboardProbes | undefined;
}

/** Answers for monitors: what is wrong, undefined if nothing is; metrics in the text format of Prometheus. */
export interface DashboardProbes {
  healthz(): string | undefined;
  readyz(): string | undefined;
  metrics(): Promise<string>;
}

/** Headers of every answer. A page loads nothing but our own files and runs no script in its text. */
const securityHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  // Without a referrer, browsers hide the origin of our own forms too.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** What a file of an export that a browser shows may do: have styles of its own, and nothing else. */
const shownFilePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox";

/** A page, and whether a viewer who may see only some costs can open it: all its rows are then theirs. */
interface PageEntry {
  readonly make: (request: PageRequest) => Promise<Page>;
  readonly isScoped?: true;
  /**
   * It may wait this long for a child process, in milliseconds. Children have turns of their own: it takes none of the other
   * pages.
   */
  readonly childMs?: number;
}

const pages: Readonly<Partial<Record<PagePath, PageEntry>>> = {
  '/': { make: overviewPage, isScoped: true },
  '/explore': { make: explorePage, isScoped: true },
  '/budgets': { make: budgetsPage },
  '/anomalies': { make: anomaliesPage },
  '/savings': { make: savingsPage, isScoped: true },
  '/allocation': { make: allocationPage },
  '/months': { make: monthsPage },
  '/changes': { make: changesPage },
  '/reports': { make: reportsPage },
  '/sql': { make: sqlPage, childMs: childWorkMs.query },
  '/health': { make: healthPage },
};

/** Pages of one thing each, whose names follow in the path. */
const detailPages: Readonly<Record<string, PageEntry>> = {
  '/budgets': { make: budgetPage, childMs: childWorkMs.backtest },
  '/anomalies': { make: anomalyPage },
  '/months': { make: monthPage },
  '/resource': { make: resourcePage, isScoped: true },
  '/reports': { make: reportPage, childMs: childWorkMs.query },
};

/** The page that names another page. */
const sharePath = '/share';

/** The page of a view. Only who sees everything reads what is wrong with the file of one. */
function entryOf(view: ViewFile): PageEntry | undefined {
  if ('page' in view) return pages[view.page];
  return { make: async () => ({ path: undefined, title: view.title, status: 500, body: problem(view.problem) }) };
}

/** How long the queries of a page may take together. */
const usualPageMs = 30_000;
/** Pages that are made at the same time, and those that wait for their turn. */
const maxAtOnce = 8;
const maxWaiting = 100;
/** The same for all viewers of a limited token together. */
const maxAtOnceLimited = 2;
const maxWaitingLimited = 20;
/** Where agents ask: a query may have 100 kB. */
const mcpPath = '/mcp';
const maxMcpBytes = 256 * 1024;

/** Serves the dashboard over HTTP until closed. Throws MachineError if the port is not available. */
export async function serveDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { dir, host, port, reader, settings, now } = options;
  const { urls, byPath } = await loadAssets();
  const project = {
    dir,
    config: options.config,
    views: openViews(dir),
    status: options.status,
    work: childWork(dir, options.commands, options.signal),
  };
  const snapshots = openSnapshots({
    dir,
    reader,
    log: options.log,
    warm: (view) => warm(view, project, options, now()),
  });
  const hourly = warmEveryHour(snapshots, project, options);
  const access = openAccess(settings, now);
  const hosts = new Set(settings.hosts);
  if (options.dashboardUrl !== undefined) hosts.add(new URL(options.dashboardUrl).host);
  const base = pathOf(options.dashboardUrl);
  const app = new Hono<Env>({ getPath: ({ url }) => pathBelow(base, url) });
  app.use(secure(hosts, options.mcp !== undefined));
  app.use(async (context, next) => {
    context.set('assets', urls);
    context.set('base', base);
    await next();
  });
  const { probes } = options;
  app.get('/healthz', (context) => {
    const problem = probes?.healthz();
    return problem === undefined ? context.text('ok\n') : context.text(`${problem}\n`, 503);
  });
  app.get('/readyz', async (context) => {
    const problem = probes?.readyz();
    if (problem !== undefined) return context.text(`${problem}\n`, 503);
    await snapshots.check();
    return context.text('ok\n');
  });
  app.get('/assets/:name', (context) => sendAsset(context, byPath.get(context.req.path)));
  const callback = () => `${options.dashboardUrl ?? url}/sign-in/callback`;
  const provider = settings.oidc && openProvider(settings.oidc, { callback, send: options.send, now });
  const signIn = { access, settings, urls, hosts, address: options.dashboardUrl, provider, log: options.log };
  addSignIn(app, signIn);
  app.use(identify(signIn));
  app.get('/metrics', async (context) => {
    // They name workspaces and what they cost.
    if (context.get('viewer').scope.kind !== 'all') return say(context, noPage(context), 404);
    context.header('content-type', 'text/plain; version=0.0.4; charset=utf-8');
    return context.body(await (probes?.metrics() ?? metricsText(dir)));
  });
  app.get('/api/snapshot', (context) =>
    snapshots.read({ kind: 'all' }, async ({ version }) => context.json({ version })),
  );
  const limited = limitersByScope();
  addAgents(app, options, hosts, (context) => limitedBooksOf(context, { snapshots, limited, log: options.log }));
  addPages(app, limited, { options, snapshots, project, urls });
  addDownloads(app, limited, { options, snapshots, project });
  app.get('/exports', (context) => answerExport(context, dir));
  app.notFound((context) => say(context, noPage(context), 404));
  app.onError((error, context) => answerError(error, context, access, options.log));
  const answer = getRequestListener(app.fetch as Parameters<typeof getRequestListener>[0]);
  const server = await listen(answer, { host, port, option: '--port' }).catch((error: unknown) => {
    clearInterval(hourly);
    snapshots.close();
    throw error;
  });
  const { url } = server;
  hosts.add(new URL(url).host);
  // A proxy on this machine may ask by the address of its loopback.
  for (const name of ['localhost', '127.0.0.1', '[::1]']) hosts.add(`${name}:${server.address.port}`);
  return {
    url,
    async close() {
      server.close();
      clearInterval(hourly);
      snapshots.close();
    },
  };
}

/** Adds all pages and the named views. */
function addPages(app: Hono<Env>, limited: ReturnType<typeof limitersByScope>, place: PagePlace): void {
  function send(context: Context<Env>, entry: PageEntry, path: string, shown?: ViewFile): Promise<Response> {
    const answer = () => answerPage(context, entry, { ...place, path, shown });
    return entry.childMs === undefined ? limited(context, answer) : answer();
  }
  function addPage(route: string, path: string, entry: PageEntry): void {
    app.get(route, compress(), (context) => send(context, entry, path));
  }
  for (const [path, entry] of Object.entries(pages)) addPage(path, path, entry);
  for (const [path, entry] of Object.entries(detailPages)) addPage(`${path}/*`, path, entry);
  addPage(sharePath, sharePath, { make: sharePage, isScoped: true });
  app.get('/views/:name', compress(), async (context) => {
    const shown = (await place.project.views()).find(({ name }) => name === context.req.param('name'));
    const entry = shown === undefined ? undefined : entryOf(shown);
    return entry === undefined ? say(context, noPage(context), 404) : send(context, entry, context.req.path, shown);
  });
}

/** Adds the files with the numbers of pages. */
function addDownloads(
  app: Hono<Env>,
  limited: ReturnType<typeof limitersByScope>,
  place: Omit<PagePlace, 'urls'>,
): void {
  function addBooks(
    path: string,
    make: (request: Pick<PageRequest, 'view' | 'query' | 'signal'>) => Promise<Download>,
  ) {
    app.get(path, (context) => limited(context, () => answerDownload(context, make, place)));
  }
  for (const format of pageFormats) {
    addBooks(`/savings.${format}`, (request) => savingsFile(request, format));
    addBooks(`/explore.${format}`, (request) => exploreFile(request, format));
    const [sql, reports] = [`/sql.${format}`, `/reports.${format}`];
    app.get(sql, (context) => answerOfAll(context, (request) => sqlFile(request, format), sql, place));
    app.get(`${reports}/*`, (context) =>
      answerOfAll(context, (request) => reportFile(request, format), reports, place),
    );
  }
}

/** What all pages are made from. */
interface PagePlace {
  readonly options: DashboardOptions;
  readonly snapshots: Snapshots;
  readonly project: Project;
  readonly urls: AssetUrls;
}

/** Adds the address at which agents ask. */
function addAgents(
  app: Hono<Env>,
  { mcp }: DashboardOptions,
  hosts: ReadonlySet<string>,
  limitedBooksFor: (context: Context<Env>) => LimitedBooks,
): void {
  if (mcp === undefined) return;
  app.all(mcpPath, bodyLimit({ maxSize: maxMcpBytes }), async (context): Promise<Response> => {
    // A page of another site is no agent.
    const origin = context.req.header('origin');
    const isForeign = origin !== undefined && !(URL.canParse(origin) && hosts.has(new URL(origin).host));
    if (isForeign) return context.text('This address is not for pages of other sites.\n', 403);
    const isAll = context.get('viewer').scope.kind === 'all';
    return mcp(context.req.raw, isAll ? undefined : limitedBooksFor(context));
  });
}

/** The books of a viewer who sees some costs only. Its questions take turns with the pages of the same scope. */
function limitedBooksOf(
  context: Context<Env>,
  {
    snapshots,
    limited,
    log,
  }: {
    readonly snapshots: Snapshots;
    readonly limited: ReturnType<typeof limitersByScope>;
    readonly log: Log;
  },
): LimitedBooks {
  const { scope } = context.get('viewer');
  return limitedBooks(
    (work, signal) => limited(context, () => snapshots.read(scope, work, signal)),
    (reason) => log.warn('mcp.failed', 'A request of an agent failed', { reason }),
  );
}

/** Limits how many pages are made at once; viewers of one scope wait for each other only. */
function limitersByScope(): <T>(context: Context<Env>, job: () => Promise<T>) => Promise<T> {
  const limiters = new Map<string, ReturnType<typeof openLimiter>>();
  const busy = 'Too many requests at once. Try again in a moment.';
  return (context, job) => {
    const { scope } = context.get('viewer');
    const key = scopeKey(scope);
    const limits =
      scope.kind === 'all'
        ? { atOnce: maxAtOnce, maxWaiting }
        : { atOnce: maxAtOnceLimited, maxWaiting: maxWaitingLimited };
    const limiter = limiters.get(key) ?? openLimiter({ ...limits, busy });
    limiters.set(key, limiter);
    return limiter(job, viewerSignal(context));
  };
}

function noPage(context: Context<Env>): string {
  return `There is no such page. Start at ${context.get('base')}/`;
}

/** Sends a page. */
async function show(context: Context<Env>, page: Markup, status: ContentfulStatusCode): Promise<Response> {
  return context.html(await linkedBelow(context.get('base'), page), status);
}

function isPerson(context: Context<Env>): boolean {
  return (context.req.header('accept') ?? '').includes('text/html');
}

/** Says why there is no page: to people on a small page, to programs as text. */
function say(context: Context<Env>, words: string, status: 400 | 404 | 500 | 503): Response | Promise<Response> {
  const assets = context.get('assets') as AssetUrls | undefined;
  if (isPerson(context) && assets !== undefined) return show(context, problemDocument(words, assets), status);
  return context.text(`${words}\n`, status);
}

/** What a failed request is answered with. */
function answerError(
  error: Error,
  context: Context<Env>,
  { isGuarded }: Access,
  log: Log,
): Response | Promise<Response> {
  if (error instanceof HTTPException) return error.getResponse();
  context.header('cache-control', 'no-store');
  // Also one that left before its request was whole: whoever does so without a token must not fill the log.
  if (error instanceof ViewerLeftError || context.req.raw.signal.aborted)
    return context.text('The viewer left.\n', 503);
  if (error instanceof BooksUnavailableError) {
    // The reason names folders of this machine.
    const words = isGuarded ? 'The books cannot be read. The log of the server has the reason.' : error.message;
    return say(context, words, 503);
  }
  if (error instanceof BusyError || error instanceof PageTimeError) return say(context, messageOf(error), 503);
  if (error instanceof MachineError && error.failureCode === 'out_of_memory') {
    log.warn('page.too_large', 'A page needs more memory than it may use', { path: context.req.path });
    return say(context, 'This needs more memory than a page may use. Choose a shorter range or fewer groups.', 503);
  }
  if (error instanceof CostbookError && error.exitCode === exitCodes.usage) {
    return say(context, messageOf(error), 400);
  }
  log.warn('page.failed', 'A page failed', { path: context.req.path, reason: messageOf(error) });
  // The reason may name folders of this machine.
  if (error instanceof CostbookError && !isGuarded) return say(context, messageOf(error), 500);
  return say(context, 'This page failed. The log of the server has the reason.', 500);
}

/** What pages say while a newer snapshot cannot be opened. */
const outdated =
  'Newer numbers cannot be read; the log of the server has the reason. These are from the snapshot before.';

/** Pages that most people open first, in that order; none of them waits for a child process. */
const warmedPages = ['/', '/budgets', '/allocation', '/explore', '/months', '/anomalies', '/health'] as const;

/** Makes the usual pages once, so that their answers are stored. */
async function warm(view: BooksView, project: Project, { signal }: DashboardOptions, now: Instant): Promise<void> {
  for (const path of warmedPages) {
    signal.throwIfAborted();
    // A page that cannot be made says why to those who open it.
    await pages[path]
      ?.make({ view, query: new URLSearchParams(), parts: [], project, now, signal })
      .catch(() => undefined);
  }
}

const minuteMs = 60_000;

/** Budgets are evaluated again each hour: a minute before it, so that nobody waits. */
function warmEveryHour(snapshots: Snapshots, project: Project, options: DashboardOptions): NodeJS.Timeout {
  let warmed = Math.floor(options.now() / hourMs);
  return setInterval(() => {
    const soon = options.now() + minuteMs;
    if (Math.floor(soon / hourMs) === warmed) return;
    warmed = Math.floor(soon / hourMs);
    snapshots.read({ kind: 'all' }, (view) => warm(view, project, options, soon)).catch(() => undefined);
  }, minuteMs / 4).unref();
}

/**
 * Answers only for our own names, which defeats DNS rebinding, and changes nothing whatever is asked. A page of another site
 * may lead people here, but start no work of ours behind their backs: neither as its image or frame nor in advance.
 */
function secure(hosts: ReadonlySet<string>, hasMcp: boolean): MiddlewareHandler<Env> {
  return async (context, next) => {
    for (const [name, value] of Object.entries(securityHeaders)) context.header(name, value);
    const [site, destination] = ['sec-fetch-site', 'sec-fetch-dest'].map((name) => context.req.header(name));
    if ((site === 'cross-site' || site === 'same-site') && destination !== 'document')
      return context.text('This server answers no requests of pages of other sites.\n', 403);
    // A page of another site may have the browser load ours in advance: it then does not say which site asks.
    if (context.req.header('sec-purpose') !== undefined)
      return context.text('This server answers no requests in advance.\n', 403);
    if (!hosts.has((context.req.header('host') ?? '').toLowerCase())) {
      return context.text(
        'This server does not answer under the name that the request has. Open its own address, or add the name to serve.hosts.\n',
        421,
      );
    }
    const isSignIn = context.req.method === 'POST' && ['/sign-in', '/sign-out'].includes(context.req.path);
    const isAgent = hasMcp && context.req.path === mcpPath;
    if (context.req.method !== 'GET' && context.req.method !== 'HEAD' && !isSignIn && !isAgent) {
      return context.text('Expected GET: nothing can be changed here.\n', 405);
    }
    await next();
    // Also to answers that no page made: of agents, and of what is too large.
    const { headers } = context.res;
    for (const [name, value] of Object.entries(securityHeaders)) if (!headers.has(name)) headers.set(name, value);
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
    return undefined;
  };
}

async function sendAsset(context: Context<Env>, asset: Asset | undefined): Promise<Response> {
  if (asset === undefined) return context.text('There is no such file.\n', 404);
  context.header('content-type', asset.type);
  context.header('cache-control', 'public, max-age=31536000, immutable');
  context.header('vary', 'accept-encoding');
  const accepted = context.req.header('accept-encoding') ?? '';
  const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : 'identity';
  if (encoding !== 'identity') context.header('content-encoding', encoding);
  // The bytes themselves: a copy for each client that does not read them would fill the memory.
  return context.body(await asset.bytes(encoding));
}

async function answerPage(
  context: Context<Env>,
  { make, isScoped = undefined, childMs = 0 }: PageEntry,
  {
    path,
    options,
    snapshots,
    project,
    urls,
    shown,
  }: PagePlace & { readonly path: string; readonly shown?: ViewFile | undefined },
): Promise<Response> {
  const { name, scope } = context.get('viewer');
  const isAll = scope.kind === 'all';
  // As if the page did not exist: not even its name is told.
  if (!isAll && !isScoped) return say(context, noPage(context), 404);
  const address = new URL(context.req.url).searchParams;
  const file = takeTable(address);
  const query = shown !== undefined && 'query' in shown ? shown.query : address;
  const views = (await project.views()).filter((view) => isAll || entryOf(view)?.isScoped);
  const parts = partsAfter(path, context.req.path);
  if (parts === undefined) return say(context, 'There is no such page: its address is not readable.', 404);
  const looked = lookedBefore(getCookie(context, lookedCookie), options.now());
  return withinTime(context, childMs + (options.pageMs ?? usualPageMs), async (signal) => {
    const made = await snapshots.read(
      scope,
      async (view) => {
        const asked = { view, query, parts, project, now: options.now(), lookedAt: looked.before, signal };
        const [{ made: page, tables }, state] = await Promise.all([
          withTables(file !== undefined, () => make(asked)),
          readBooksState(view),
        ]);
        return { page, tables, state, version: view.version };
      },
      signal,
    );
    const { page, tables, state, version } = made;
    const { completeThrough, settledThrough } = state;
    if (file !== undefined) {
      const table = tables.get(file.name);
      if (table === undefined) return say(context, `This page has no table ${file.name}.`, 404);
      const facts = factsOf({ completeThrough, settledThrough, completeFrom: null, asOf: null, closedAt: null });
      return sendFile(context, await tableFile(table, file, { facts, signal }));
    }
    context.header('cache-control', 'private, no-cache');
    if (isPerson(context)) rememberLook(context, looked.cookie, options.dashboardUrl);
    const frame = {
      ...{
        project: options.project,
        viewer: name,
        hasSession: context.get('hasSession'),
        warning: snapshots.isOutdated() ? outdated : undefined,
        completeThrough,
      },
      allowed: menu
        .map((entry) => entry.path)
        .filter((each) => pages[each] !== undefined && (isAll || pages[each].isScoped)),
      ...{ views, shownView: shown?.name, version, assets: urls, query: address },
      address: path === sharePath || (page.status ?? 200) !== 200 ? undefined : context.req.path,
    };
    const called = path === sharePath ? '' : oneLine(address.get(nameParameter) ?? '', maxTitle);
    const title = shown?.title ?? (called || undefined);
    const named = title === undefined ? page : { ...page, title, about: page.title };
    return show(context, document(named, frame), page.status ?? 200);
  });
}

/** Aborted with a ViewerLeftError when the client of a request is gone. */
function viewerSignal({ req: { raw } }: Context<Env>): AbortSignal {
  const left = new AbortController();
  const leave = () => left.abort(new ViewerLeftError('the viewer left'));
  if (raw.signal.aborted) leave();
  else raw.signal.addEventListener('abort', leave, { once: true });
  return left.signal;
}

/** The time limit of a page has passed. */
class PageTimeError extends CostbookError {
  override readonly exitCode = 2;
}

/** Runs work for a viewer. Its signal is aborted when the viewer has left, and with a PageTimeError when the time is over. */
async function withinTime<T>(
  context: Context<Env>,
  limitMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => {
    const words = `This page took longer than ${limitMs / 1000} seconds, so its queries were stopped. Choose a shorter range or fewer filters, or try again later.`;
    late.abort(new PageTimeError(words));
  }, limitMs);
  const signal = AbortSignal.any([viewerSignal(context), late.signal]);
  setMaxListeners(0, signal); // each question of the page listens
  try {
    signal.throwIfAborted();
    return await work(signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The names that follow the path of a page; undefined if they cannot be read. */
function partsAfter(path: string, pathname: string): AddressPart[] | undefined {
  const rest = pathname.slice(path.length).replace(/^\//, '');
  const parts = rest === '' ? [] : rest.split('/').map(decodePart);
  return parts.every((part) => part !== undefined) ? parts : undefined;
}

/** Streams a file of an export. Exports are of all costs: for unrestricted viewers only. */
async function answerExport(context: Context<Env>, dir: string): Promise<Response> {
  const query = new URL(context.req.url).searchParams;
  const isAll = context.get('viewer').scope.kind === 'all';
  const file = isAll ? await openExportFile(dir, query.get('folder') ?? '', query.get('file') ?? '') : undefined;
  if (file === undefined) return say(context, noPage(context), 404);
  context.header('content-type', file.type);
  context.header('content-length', String(file.bytes));
  const isShown = file.isPage && query.has('open');
  // Anybody may have written the file: shown, it runs nothing, loads nothing and is of no origin.
  if (isShown) context.header('content-security-policy', shownFilePolicy);
  context.header('content-disposition', `${isShown ? 'inline' : 'attachment'}; filename="${file.name}"`);
  context.header('cache-control', 'private, no-cache');
  if (context.req.raw.method !== 'HEAD')
    return context.body(Readable.toWeb(file.handle.createReadStream()) as ReadableStream);
  await file.handle.close();
  return context.body(null);
}

/** A file of an answer over all costs: for unrestricted viewers only. */
async function answerOfAll(
  context: Context<Env>,
  make: (request: Omit<PageRequest, 'view'>) => Promise<Download>,
  path: string,
  { options, project }: Pick<PagePlace, 'options' | 'project'>,
): Promise<Response> {
  const parts = partsAfter(path, context.req.path);
  if (context.get('viewer').scope.kind !== 'all' || parts === undefined) return say(context, noPage(context), 404);
  const query = new URL(context.req.url).searchParams;
  const limitMs = childWorkMs.query + (options.pageMs ?? usualPageMs);
  return withinTime(context, limitMs, async (signal) =>
    sendFile(context, await make({ query, parts, project, now: options.now(), signal })),
  );
}

function sendFile(context: Context<Env>, { name, type, body }: Download): Response {
  context.header('content-type', type);
  context.header('content-disposition', `attachment; filename="${name}"`);
  context.header('cache-control', 'private, no-cache');
  return context.body(typeof body === 'string' ? body : new Uint8Array(body));
}

async function answerDownload(
  context: Context<Env>,
  make: (request: Pick<PageRequest, 'view' | 'query' | 'signal'>) => Promise<Download>,
  { snapshots, options }: { readonly snapshots: Snapshots; readonly options: DashboardOptions },
): Promise<Response> {
  const query = new URL(context.req.url).searchParams;
  return withinTime(context, options.pageMs ?? usualPageMs, async (signal) => {
    const { scope } = context.get('viewer');
    return sendFile(context, await snapshots.read(scope, (view) => make({ view, query, signal }), signal));
  });
}
