import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { LocalConfig } from '../config/index.ts';
import type { Log } from '../effects.ts';
import { CostbookError, MachineError, messageOf } from '../errors.ts';
import { type AddressPart, decodePart } from './addresses.ts';
import { allocationPage } from './allocation.ts';
import { anomaliesPage, anomalyPage } from './anomalies.ts';
import { loadAssets } from './assets.ts';
import { readBooksState } from './books-state.ts';
import { budgetPage, budgetsPage } from './budgets.ts';
import { childWork, type ProjectCommands } from './child-work.ts';
import { explorePage } from './explore.ts';
import { healthPage } from './health.ts';
import { document } from './layout.ts';
import { monthsPage } from './months.ts';
import { overviewPage } from './overview.ts';
import { menu, type Page, type PagePath, type PageRequest } from './page.ts';
import { reportPage, reportsPage } from './reports.ts';
import { resourcePage } from './resource.ts';
import type { Viewer } from './scope.ts';
import { openSnapshots } from './snapshots.ts';
import { sqlPage } from './sql.ts';

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
  /** Host names besides the address itself that requests may name. */
  readonly hosts: readonly string[];
  /** Marks this process as a reader of the books. */
  readonly reader: string;
  readonly now: () => number;
  readonly log: Log;
  /** Ends the child processes. */
  readonly signal: AbortSignal;
  /** The configuration as it is now. Throws UsageError with its mistakes. */
  readonly config: () => LocalConfig;
  readonly commands: ProjectCommands;
}

/** Headers of every answer. A page loads nothing but our own files and runs no script in its text. */
const securityHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

type MakePage = (request: PageRequest) => Promise<Page>;

const pages: Readonly<Partial<Record<PagePath, MakePage>>> = {
  '/': ({ view }) => overviewPage(view),
  '/explore': explorePage,
  '/budgets': budgetsPage,
  '/anomalies': anomaliesPage,
  '/allocation': allocationPage,
  '/months': ({ view }) => monthsPage(view),
  '/reports': reportsPage,
  '/sql': sqlPage,
  '/health': healthPage,
};

/** Pages of one thing each, whose names follow in the path. */
const detailPages: Readonly<Record<string, MakePage>> = {
  '/budgets': budgetPage,
  '/anomalies': anomalyPage,
  '/resource': resourcePage,
  '/reports': reportPage,
};

/** Serves the dashboard over HTTP until closed. Throws MachineError if the port is not available. */
export async function serveDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { dir, host, port, reader } = options;
  const assets = await loadAssets();
  const snapshots = openSnapshots(dir, reader);
  const app = new Hono();
  const project = { dir, config: options.config, work: childWork(dir, options.commands, options.signal) };
  const state = { hosts: new Set<string>() };

  app.use(async (context, next) => {
    for (const [name, value] of Object.entries(securityHeaders)) context.header(name, value);
    if (!state.hosts.has((context.req.header('host') ?? '').toLowerCase())) {
      return context.text(
        'This server does not answer for the host that the request names. Open its own address.\n',
        421,
      );
    }
    if (context.req.method !== 'GET' && context.req.method !== 'HEAD') {
      return context.text('Expected GET: nothing can be changed here.\n', 405);
    }
    await next();
    return undefined;
  });
  app.get('/healthz', (context) => context.text('ok\n'));
  app.get('/readyz', async (context) => {
    await snapshots.read(everything, async () => undefined);
    return context.text('ok\n');
  });
  app.get('/assets/:name', (context) => {
    const asset = assets.byPath.get(context.req.path);
    if (asset === undefined) return context.text('not found\n', 404);
    context.header('content-type', asset.type);
    context.header('cache-control', 'public, max-age=31536000, immutable');
    context.header('vary', 'accept-encoding');
    const accepted = context.req.header('accept-encoding') ?? '';
    const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : undefined;
    if (encoding !== undefined) context.header('content-encoding', encoding);
    const body = encoding === 'br' ? asset.brotli : encoding === 'gzip' ? asset.gzip : asset.plain;
    return context.body(new Uint8Array(body));
  });
  app.get('/api/snapshot', (context) => snapshots.read(everything, async ({ version }) => context.json({ version })));
  for (const [path, make] of Object.entries(pages)) {
    app.get(path, (context) => answerPage(context, make, path));
  }
  for (const [path, make] of Object.entries(detailPages)) {
    app.get(`${path}/*`, (context) => answerPage(context, make, path));
  }
  app.notFound((context) => context.text('There is no such page. Start at /\n', 404));
  app.onError((error, context) => {
    if (!(error instanceof CostbookError))
      options.log.warn('page.failed', 'A page failed', { path: context.req.path, reason: messageOf(error) });
    return context.text(
      `${error instanceof CostbookError ? messageOf(error) : 'This page failed. The log of the server has the reason.'}\n`,
      500,
    );
  });

  async function answerPage(context: Context, make: MakePage, path: string): Promise<Response> {
    const { searchParams: query, pathname } = new URL(context.req.url);
    const parts = partsAfter(path, pathname);
    if (parts === undefined) return context.text('There is no such page: its address is not readable.\n', 404);
    return snapshots.read(everything, async (view) => {
      const [page, { completeThrough }] = await Promise.all([
        make({ view, query, parts, project, now: options.now() }),
        readBooksState(view),
      ]);
      context.header('cache-control', 'private, no-cache');
      const frame = {
        ...{ project: options.project, viewer: undefined, warning: undefined, completeThrough },
        allowed: menu.map((entry) => entry.path).filter((path) => Object.hasOwn(pages, path)),
        ...{ version: view.version, assets: assets.urls },
      };
      return context.html(document(page, frame), page.status ?? 200);
    });
  }

  const server = createAdaptorServer({ fetch: app.fetch });
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    snapshots.close();
    throw new MachineError(`--port: cannot listen on ${host}:${port}: ${messageOf(error)}`, { cause: error });
  }
  const { address, port: real, family } = server.address() as AddressInfo;
  const shown = family === 'IPv6' ? `[${address}]` : address;
  state.hosts = new Set([`${shown}:${real}`, `localhost:${real}`, ...options.hosts.map((name) => name.toLowerCase())]);
  return {
    url: `http://${shown}:${real}`,
    async close() {
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      snapshots.close();
    },
  };
}

/** The names that follow the path of a page; undefined if they cannot be read. */
function partsAfter(path: string, pathname: string): AddressPart[] | undefined {
  const rest = pathname.slice(path.length).replace(/^\//, '');
  const parts = rest === '' ? [] : rest.split('/').map(decodePart);
  return parts.every((part) => part !== undefined) ? parts : undefined;
}

const everything: Viewer['scope'] = { kind: 'all' };
