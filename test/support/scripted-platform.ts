import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterFile } from './clean-up.ts';
import { listen } from './listen.ts';

/**
 * A platform with scripted answers: real HTTP, written from platform-interface.md by hand. It shares no line with src,
 * so that a misreading of ours shows.
 */

/** One hour of one series as the platform knows it. Amounts have at most twelve decimals (cost) and three (usage). */
export interface Fact {
  /**
   * `acc_one` by default.
   */
  readonly account?: string;
  readonly workspace: string | null;
  readonly type: string;
  readonly name: string | null;
  readonly uuid: string | null;
  readonly dimension: string;
  /** `2026-09-03T05` */
  readonly hour: string;
  readonly cost: number;
  readonly usage: number;
}

/** The sandbox of most stories. */
export const box = {
  workspace: 'north',
  type: 'sandbox',
  name: 'box',
  uuid: 'sbx-1',
  dimension: 'sandbox_compute_runtime_gbs',
};

/** A request as it came in. */
export interface Seen {
  /** 1 for the first one. */
  readonly number: number;
  readonly path: string;
  /**
   * `acc_one`; undefined if the path has none.
   */
  readonly account: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly token: string;
  /** The requested API version; the earliest one by default (9.3). */
  readonly version: string;
  /** The requested window, milliseconds; NaN if there is none. */
  readonly start: number;
  readonly end: number;
}

/** Something that goes wrong for some requests, so many times. */
export interface Failure {
  times: number;
  readonly hits?: (request: Seen) => boolean;
  /** Undefined resets the connection before any answer. */
  readonly status: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text, or what is made into JSON. */
  readonly body?: unknown;
}

export interface ScriptedPlatform {
  readonly url: string;
  tokens: { admin: string; member: string };
  /** Everything asked so far, oldest first. */
  readonly requests: Seen[];
  /** The truth; change it between runs. */
  facts: Fact[];
  accounts: string[];
  /** The API versions that listings know, the earliest first. */
  versions: string[];
  /** Groups on a page, where fewer than were asked for. */
  pageSize: number;
  /** Whether rows without uuid are missing where resource_uuid is grouped by: of the rows only, or of the totals too. */
  leavesOut: 'nothing' | 'rows' | 'rows and totals';
  /** Rows that a request is not shown though its totals hold them: a page that was lost. */
  hides: (request: Seen, fact: Fact) => boolean;
  /** What of the truth a request gets to see. */
  tells: (request: Seen, facts: readonly Fact[]) => readonly Fact[];
  /** USD by which summary.totalCost is off for a request. */
  lie: (request: Seen) => number;
  /** The start and end that an answer claims to be about. */
  echo: (request: Seen) => { startTime: string; endTime: string };
  /** The items of a listing such as `/v0/agents`; undefined is a 404. */
  listed: (request: Seen) => readonly Item[] | undefined;
  /** The platform's lists of values, by the last part of their path: `group-by`. Without one the answer is 404. */
  lists: Readonly<Record<string, readonly string[]>>;
  failures: Failure[];
  /** Called when a request has come in; it is answered when this resolves. */
  onRequest: (request: Seen) => unknown;
  /** The text of an answer as it goes out, made from the one that would be right. */
  edit: (request: Seen, body: string) => string;
  /** The header Date of every answer; undefined for none. */
  date: string | undefined;
  /** Called when half of an answer is on its way; the other half follows when this resolves. */
  onHalf: ((request: Seen) => unknown) | undefined;
  close(): Promise<void>;
}

/** A resource as it is listed. */
type Item = Readonly<Record<string, unknown>>;

/** A refusal has a status of its own; everything else is the body of a 200. */
interface Answer {
  readonly status?: number;
  readonly error?: string;
  readonly message?: string;
  readonly [field: string]: unknown;
}

const dimensions = ['workspace', 'resource_type', 'resource_name', 'resource_uuid', 'billing_dimension'];
const knownParameters = [
  ...['startTime', 'endTime', 'resolution', 'groupBy', 'workspace', 'resourceType', 'resourceName', 'resourceUuid'],
  ...['billingDimension', 'limit', 'cursor'],
];
const hourMs = 3_600_000;
/** From this version on listings have pages (9.6). */
const pagedVersion = '2026-04-28';
/** Totals are rounded to so many decimals, hours are not. */
const totalDecimals = 9;

/** `2026-10-01T00:00:00Z` of milliseconds. */
export function instantText(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

const tellsAll: ScriptedPlatform['tells'] = (_, truth) => truth;
const hidesNothing: ScriptedPlatform['hides'] = () => false;

/** Starts a scripted platform on a free port of 127.0.0.1; it ends when the test file ends. */
export async function startScriptedPlatform(facts: readonly Fact[] = []): Promise<ScriptedPlatform> {
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    // The clock of this machine is none of a scripted platform.
    response.sendDate = false;
    if (platform.date !== undefined) response.setHeader('date', platform.date);
    void handle(request, response);
  });
  const port = await listen(server);

  const platform: ScriptedPlatform = {
    url: `http://127.0.0.1:${port}`,
    tokens: { admin: 'tok-admin-5f2b9c', member: 'tok-member-77aa01' },
    requests: [],
    facts: [...facts],
    accounts: ['acc_one'],
    versions: ['2026-04-16', pagedVersion],
    pageSize: 100,
    leavesOut: 'nothing',
    hides: hidesNothing,
    tells: tellsAll,
    lie: () => 0,
    echo: ({ start, end }) => ({ startTime: instantText(start), endTime: instantText(end) }),
    listed: () => undefined,
    lists: {},
    failures: [],
    onRequest: () => undefined,
    edit: (_, body) => body,
    onHalf: undefined,
    date: undefined,
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  afterFile(() => platform.close());
  let lastLook: (ReturnType<typeof look> & { about: string; facts: readonly Fact[] }) | undefined;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', platform.url);
    const query = Object.fromEntries(url.searchParams);
    const seen: Seen = {
      number: platform.requests.length + 1,
      path: url.pathname,
      account: /^\/v0\/accounts\/([^/]+)\/metrics$/.exec(decodeURIComponent(url.pathname))?.[1],
      query,
      token: /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '',
      version: request.headers['service-version']?.toString() ?? platform.versions[0] ?? '',
      start: Date.parse(query['startTime'] ?? ''),
      end: Date.parse(query['endTime'] ?? ''),
    };
    platform.requests.push(seen);
    await platform.onRequest(seen);
    const failure = platform.failures.find(({ times, hits }) => times > 0 && (hits?.(seen) ?? true));
    if (failure !== undefined) {
      failure.times -= 1;
      if (failure.status === undefined) {
        request.socket.resetAndDestroy();
        return;
      }
      const body = failure.body ?? { error: `failure ${failure.status}`, code: failure.status, message: 'as scripted' };
      send(response, failure.status, body, failure.headers);
      return;
    }
    const answer = answerTo(seen);
    const status = isList(answer) ? undefined : answer.status;
    if (typeof status === 'number') send(response, status, { ...answer, code: status, status: undefined });
    else if (platform.onHalf === undefined) send(response, 200, platform.edit(seen, JSON.stringify(answer)));
    else {
      const body = JSON.stringify(answer);
      const half = Math.floor(body.length / 2);
      response.writeHead(200, { 'content-type': 'application/json' });
      await new Promise((done) => response.write(body.slice(0, half), done));
      await platform.onHalf(seen);
      response.end(body.slice(half));
    }
  }

  function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(text);
  }

  function answerTo(seen: Seen): Answer | readonly Item[] {
    const { admin, member } = platform.tokens;
    const listed = platform.listed(seen);
    if (listed !== undefined) return listing(seen, listed);
    if (seen.token !== admin && seen.token !== member) {
      return { status: 401, error: 'unauthorized', message: 'Invalid credentials' };
    }
    if (seen.path === '/v0/accounts') return { data: platform.accounts.map((id) => ({ id })) };
    if (seen.path.includes('/metrics/enums/')) {
      const values = platform.lists[seen.path.slice(seen.path.lastIndexOf('/') + 1)];
      return values === undefined ? { status: 404, error: 'not_found', message: 'No such list' } : { values };
    }
    if (seen.account === undefined || !platform.accounts.includes(seen.account)) {
      return { status: 404, error: 'not_found', message: 'No such account' };
    }
    return metrics(seen, seen.account, seen.token === admin);
  }

  /** 4.1, of the parameters those that leave nothing out, and a workspace, which `listed` may look at; the answer is a bare list before there were pages (9.6). */
  function listing({ path, query, token, version }: Seen, items: readonly Item[]): Answer | readonly Item[] {
    const known = platform.versions;
    if (!known.includes(version)) {
      const message = `Unknown version ${version}. Valid versions: ${known.join(', ')}`;
      return { status: 400, error: 'invalid_api_version', message };
    }
    const {
      cursor = '',
      sort = 'createdAt:desc',
      limit = '50',
      showTerminated = 'false',
      workspace,
      countResources: _,
      ...others
    } = query;
    const sign = { 'createdAt:asc': 1, 'createdAt:desc': -1 }[sort];
    const isOfSandboxes = path === '/v0/sandboxes';
    const wrong = [
      ...Object.keys(others).map((name) => `${name} is not scripted`),
      ...(sign === undefined ? [`sort ${sort} is not scripted`] : []),
      ...(/^[1-9]\d*$/.test(limit) ? [] : ['limit']),
      ...(isOfSandboxes || query['showTerminated'] === undefined ? [] : ['showTerminated is of sandboxes only']),
    ];
    if (wrong.length > 0) return { status: 400, error: 'invalid_request', message: wrong.join(', ') };

    const isShown = (item: Item) => !isOfSandboxes || showTerminated === 'true' || item['status'] !== 'TERMINATED';
    const shown = items.filter(isShown);
    if (version < pagedVersion) return shown;
    const sorted = shown.toSorted(
      (a, b) => (sign ?? 1) * (createdAt(a) < createdAt(b) ? -1 : Number(createdAt(a) > createdAt(b))),
    );
    const binding = JSON.stringify([path, token, sort, showTerminated, workspace]);
    const [bound, first] = (cursor === '' ? [binding, 0] : JSON.parse(Buffer.from(cursor, 'base64url').toString())) as [
      string,
      number,
    ];
    if (bound !== binding) return { status: 400, error: 'invalid_cursor', message: 'of another query' };
    const end = first + Math.min(200, platform.pageSize, Number(limit));
    const hasMore = end < sorted.length;
    const nextCursor = hasMore ? Buffer.from(JSON.stringify([binding, end])).toString('base64url') : '';
    // 2.13: the total ignores filters.
    const meta = { hasMore, nextCursor, total: items.length, totalIsPartial: false };
    return { data: sorted.slice(first, end), meta };
  }

  function metrics(seen: Seen, account: string, isAdmin: boolean): Answer {
    const { query, start, end } = seen;
    const groupBy = query['groupBy'] === undefined ? [] : query['groupBy'].split(',');
    const resolution = query['resolution'] ?? 'none';
    const wrong = [
      ...Object.keys(query).filter((name) => !knownParameters.includes(name)),
      ...groupBy.filter((dimension) => !dimensions.includes(dimension)),
      ...(groupBy.length > 3 ? ['more than three dimensions'] : []),
      ...(new Set(groupBy).size < groupBy.length ? ['a dimension twice'] : []),
      ...(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(query['startTime'] ?? '') ? [] : ['startTime']),
      ...(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(query['endTime'] ?? '') ? [] : ['endTime']),
      ...(start < end ? [] : ['an empty window']),
      ...(['hourly', 'daily', 'monthly'].includes(resolution) ? [] : [`resolution ${resolution} is not scripted`]),
      ...(resolution === 'hourly' && end - start > 7 * 24 * hourMs ? ['hourly beyond 7 days'] : []),
      ...(resolution === 'daily' && end - start > 90 * 24 * hourMs ? ['daily beyond 90 days'] : []),
    ];
    if (wrong.length > 0) return { status: 400, error: 'invalid_request', message: wrong.join(', ') };
    if (!isAdmin && (groupBy.includes('workspace') || query['workspace'] !== undefined)) {
      return { status: 403, error: 'forbidden', message: 'Access denied' };
    }

    const { cursor: sentCursor = '', ...rest } = query;
    const binding = JSON.stringify(rest);
    // A thousand pages of one answer are looked up once, so that every page has the same numbers.
    const isPlain = platform.tells === tellsAll && platform.hides === hidesNothing;
    const { facts, leavesOut } = platform;
    const about = JSON.stringify([account, leavesOut, facts.length, rest]);
    if (!isPlain || lastLook?.about !== about || lastLook.facts !== facts) {
      lastLook = { about, facts, ...look(seen, account, groupBy) };
    }
    const { costPicos, usageMillis, shown, sorted } = lastLook;
    let first = 0;
    if (sentCursor !== '') {
      const [bound, offset] = JSON.parse(Buffer.from(sentCursor, 'base64url').toString()) as [string, number];
      if (bound !== binding) return { status: 400, error: 'invalid_cursor', message: 'of another query' };
      first = offset;
    }
    const size = Math.min(100, platform.pageSize, Number(query['limit'] ?? 100));
    const page = groupBy.length === 0 ? [shown] : sorted.slice(first, first + size);
    const hasMore = groupBy.length > 0 && first + size < sorted.length;
    const buckets =
      resolution === 'monthly' ? monthsOf(start, end) : stepsOf(start, end, resolution === 'daily' ? 24 : 1);
    return {
      ...platform.echo(seen),
      resolution,
      summary: {
        totalCost: Number((costPicos / 1e12 + platform.lie(seen)).toFixed(totalDecimals)),
        ...(groupBy.includes('billing_dimension') ? { totalUsage: usageMillis / 1e3 } : {}),
      },
      data: page.map((members) => entryOf(members, groupBy, buckets)),
      meta: {
        hasMore,
        nextCursor: hasMore ? Buffer.from(JSON.stringify([binding, first + size])).toString('base64url') : '',
      },
    };
  }

  /** The data for a request, with its groups in the order of the pages. */
  function look(
    seen: Seen,
    account: string,
    groupBy: readonly string[],
  ): { costPicos: number; usageMillis: number; shown: readonly Fact[]; sorted: readonly (readonly Fact[])[] } {
    const { query, start, end } = seen;
    const asked = platform
      .tells(seen, platform.facts)
      .filter(
        (fact) =>
          (fact.account ?? 'acc_one') === account &&
          instantOf(fact) >= start &&
          instantOf(fact) < end &&
          (query['workspace'] === undefined || fact.workspace === query['workspace']) &&
          (query['resourceType'] === undefined || fact.type === query['resourceType']) &&
          (query['resourceName'] === undefined || fact.name === query['resourceName']) &&
          (query['resourceUuid'] === undefined || fact.uuid === query['resourceUuid']) &&
          (query['billingDimension'] === undefined || fact.dimension === query['billingDimension']),
      );
    const isShort = platform.leavesOut !== 'nothing' && groupBy.includes('resource_uuid');
    const told = isShort ? asked.filter((fact) => fact.uuid !== null) : asked;
    const shown = told.filter((fact) => !platform.hides(seen, fact));
    const counted = isShort && platform.leavesOut === 'rows' ? asked : told;

    const groups = new Map<string, Fact[]>();
    for (const fact of shown) {
      const key = JSON.stringify(groupBy.map((dimension) => dimensionOf(fact, dimension)));
      const members = groups.get(key);
      if (members === undefined) groups.set(key, [fact]);
      else members.push(fact);
    }
    const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, members]) => members);
    return { costPicos: picos(counted), usageMillis: millis(counted), shown, sorted };
  }

  return platform;
}

function entryOf(members: readonly Fact[], groupBy: readonly string[], buckets: readonly number[]): unknown {
  const [first] = members;
  const withUsage = groupBy.includes('billing_dimension');
  function has(...names: string[]): boolean {
    return names.some((name) => groupBy.includes(name));
  }
  // The table "Entry fields populated by groupBy dimension" of 2.15.
  const fields = {
    workspace: has('workspace', 'resource_uuid', 'resource_name') ? first?.workspace : null,
    resourceType: has('resource_type', 'resource_uuid', 'resource_name', 'billing_dimension') ? first?.type : null,
    resourceName: has('resource_name', 'resource_uuid') ? first?.name : null,
    resourceUuid: has('resource_uuid') ? first?.uuid : null,
    billingDimension: has('billing_dimension') ? first?.dimension : null,
  };
  function amounts(of: readonly Fact[]): { cost: number; usage?: number } {
    return { cost: picos(of) / 1e12, ...(withUsage ? { usage: millis(of) / 1e3 } : {}) };
  }
  const total = amounts(members);
  const byBucket: Fact[][] = buckets.map(() => []);
  for (const fact of members) byBucket[buckets.findLastIndex((bucket) => bucket <= instantOf(fact))]?.push(fact);
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)),
    summary: { ...total, cost: Number(total.cost.toFixed(totalDecimals)) },
    timeseries: buckets.map((bucket, index) => ({ timestamp: instantText(bucket), ...amounts(byBucket[index] ?? []) })),
  };
}

function isList(answer: Answer | readonly Item[]): answer is readonly Item[] {
  return Array.isArray(answer);
}

function createdAt(item: Item): string {
  return String((item['metadata'] as Item | undefined)?.['createdAt'] ?? '');
}

function dimensionOf(fact: Fact, dimension: string): string | null {
  switch (dimension) {
    case 'workspace':
      return fact.workspace;
    case 'resource_type':
      return fact.type;
    case 'resource_name':
      return fact.name;
    case 'resource_uuid':
      return fact.uuid;
    default:
      return fact.dimension;
  }
}

function instantOf(fact: Fact): number {
  return Date.parse(`${fact.hour}:00:00Z`);
}

function stepsOf(start: number, end: number, hours: number): number[] {
  const length = Math.ceil((end - start) / (hours * hourMs));
  return Array.from({ length }, (_, index) => start + index * hours * hourMs);
}

function monthsOf(start: number, end: number): number[] {
  const first = new Date(start);
  const months: number[] = [];
  for (let month = first.getUTCMonth(); ; month += 1) {
    const instant = Date.UTC(first.getUTCFullYear(), month);
    if (instant >= end) return months;
    months.push(instant);
  }
}

/** Sums in whole numbers, so that the platform's own totals are right to the last digit. */
function picos(facts: readonly Fact[]): number {
  return facts.reduce((sum, fact) => sum + Math.round(fact.cost * 1e12), 0);
}

function millis(facts: readonly Fact[]): number {
  return facts.reduce((sum, fact) => sum + Math.round(fact.usage * 1e3), 0);
}

/** A series' facts for hours that follow one another: cost in USD, usage a thousand times as much. */
export function series(
  dimensionsOf: Omit<Fact, 'hour' | 'cost' | 'usage'>,
  firstHour: string,
  costs: readonly number[],
): Fact[] {
  const start = Date.parse(`${firstHour}:00:00Z`);
  return costs.map((cost, index) => ({
    ...dimensionsOf,
    hour: instantText(start + index * hourMs).slice(0, 13),
    cost,
    usage: Math.round(cost * 1e6) / 1e3,
  }));
}

/** The costs of an agent in a workspace, in two hours of 2026-09-02: `north-1` in `north`. */
export function agentOf(workspace: string): Fact[] {
  const agent = {
    workspace,
    type: 'agent',
    name: `${workspace}-1`,
    uuid: null,
    dimension: 'agent_compute_runtime_gbs',
  };
  return series(agent, '2026-09-02T05', [1, 2]);
}

/**
 * What the books must hold of these facts, a line a row, sorted: workspace, type, name, uuid, dimension, hour, cost,
 * usage. A member cannot tell the workspaces of rows without uuid apart.
 */
export function expectedCosts(facts: readonly Fact[], role: 'admin' | 'member'): string[] {
  const sums = new Map<string, Fact[]>();
  for (const fact of facts) {
    const workspace = role === 'member' && fact.uuid === null ? null : fact.workspace;
    const key = [workspace, fact.type, fact.name, fact.uuid, fact.dimension, `${fact.hour}:00:00Z`]
      .map((value) => value ?? '-')
      .join('|');
    sums.set(key, [...(sums.get(key) ?? []), fact]);
  }
  return [...sums]
    .filter(([, members]) => picos(members) !== 0 || millis(members) !== 0)
    .map(([key, members]) => `${key}|${fixed(picos(members), 12, 12)}|${fixed(millis(members), 3, 6)}`)
    .sort();
}

/** A whole number of 10^-decimals as text with so many digits. */
function fixed(scaled: number, decimals: number, digits: number): string {
  const sign = scaled < 0 ? '-' : '';
  const text = String(Math.abs(scaled)).padStart(decimals + 1, '0');
  return `${sign}${text.slice(0, -decimals)}.${text.slice(-decimals).padEnd(digits, '0')}`;
}
