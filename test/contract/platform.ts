import { get } from 'node:http';
import { afterAll, beforeAll } from 'vitest';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts';

/** The instant that these tests call now, unless they say otherwise: a Wednesday. */
export const now = Date.UTC(2026, 9, 21, 3, 30);

/** An entry as these tests read it; written out from 2.15, not taken from src. */
export interface Entry {
  workspace?: string;
  resourceType?: string;
  resourceName?: string;
  resourceUuid?: string;
  billingDimension?: string;
  summary: { cost: number; usage?: number };
  timeseries: { timestamp: string; cost: number; usage?: number }[];
}

/** A 200 of the metrics operation, likewise. */
export interface Metrics {
  startTime: string;
  endTime: string;
  resolution: string;
  summary: { totalCost: number; totalUsage?: number };
  data: Entry[];
  meta: { hasMore: boolean; nextCursor: string };
}

/** What came back, with whichever body. */
export interface Answer {
  status: number;
  headers: Headers;
  body: Metrics & { error: string; code: number; message: string; values: string[] };
}

/** An emulator for all tests of a file. */
export function useEmulator(options: Partial<EmulatorOptions> = {}): { current: Emulator } {
  const holder: { current: Emulator } = {
    get current(): Emulator {
      throw new Error('the emulator is not yet started');
    },
  };
  beforeAll(async () => {
    const emulator = await startEmulator({ now: () => now, storyEnd: Date.UTC(2026, 9, 21), ...options });
    Object.defineProperty(holder, 'current', { value: emulator });
  });
  afterAll(() => holder.current.close());
  return holder;
}

/** Asks for a path, as the account's admin unless the headers say otherwise. */
export async function ask(emulator: Emulator, path: string, headers?: Record<string, string>): Promise<Answer> {
  const response = await fetch(`${emulator.url}${path}`, {
    headers: headers ?? { authorization: `Bearer ${emulator.tokens.admin}` },
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
}

/** Asks for metrics of the emulator's account. */
export function askMetrics(emulator: Emulator, query: string, headers?: Record<string, string>): Promise<Answer> {
  return ask(emulator, `/v0/accounts/acc-harbor-labs/metrics?${query}`, headers);
}

/** Asks for metrics that must be there. */
export async function metrics(emulator: Emulator, query: string): Promise<Metrics> {
  const { status, body } = await askMetrics(emulator, query);
  if (status !== 200) throw new Error(`${status} ${body.error}: ${body.message}`);
  return body;
}

/** All pages of a query. */
export async function allPages(emulator: Emulator, query: string): Promise<Metrics[]> {
  const pages = [await metrics(emulator, query)];
  for (let page = pages[0]; page?.meta.hasMore === true; ) {
    page = await metrics(emulator, `${query}&cursor=${page.meta.nextCursor}`);
    pages.push(page);
  }
  return pages;
}

/** Dollars as whole billionths, so that sums are exact. */
export function billionths(usd: number): number {
  return Math.round(usd * 1e9);
}

/** A body as it came over the wire: not decompressed, in the chunks in which it arrived. */
export function rawGet(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; pieces: Buffer[] }> {
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, pieces }));
    }).on('error', reject);
  });
}

/** An item of a listing as these tests read it; written out from 2.1 to 2.10. */
export interface Item {
  metadata: {
    name: string;
    displayName?: string;
    externalId?: string;
    labels?: Record<string, string>;
    createdAt: string;
    updatedAt: string;
    createdBy: string;
    updatedBy: string;
    plan: string;
    url?: string;
    workspace: string;
  };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has its own
  spec: any;
  events?: { type: string; status: string; time: string; revision: string }[];
  status?: string;
  state?: string;
  expiresIn?: number;
  lastUsedAt?: string;
}

/** A 200 of a listing from version 2026-04-28 on (2.13). */
export interface Listing {
  data: Item[];
  meta: { hasMore: boolean; nextCursor: string; total: number; totalIsPartial: boolean };
}

/** What came back for a listing, with whichever body. */
export type ListingBody = Listing & Item[] & { error: string; code: number; message: string };

/** Asks for a path in a version (`undefined` sends no header), as the admin unless a token is named. */
export async function askIn(
  emulator: Emulator,
  version: string | undefined,
  path: string,
  token: string = emulator.tokens.admin,
): Promise<{ status: number; body: ListingBody }> {
  const response = await fetch(`${emulator.url}${path}`, {
    headers: { authorization: `Bearer ${token}`, ...(version === undefined ? {} : { 'service-version': version }) },
  });
  return { status: response.status, body: (await response.json()) as ListingBody };
}

/** One page of a listing in the version that has pages; it must be there. */
export async function listed(emulator: Emulator, path: string, token?: string): Promise<Listing> {
  const { status, body } = await askIn(emulator, '2026-04-28', path, token);
  if (status !== 200) throw new Error(`${status} ${body.error}: ${body.message}`);
  return body;
}

/** All items of a listing, 200 a page. */
export async function allItems(emulator: Emulator, path: string, token?: string): Promise<Item[]> {
  const query = `${path}${path.includes('?') ? '&' : '?'}limit=200`;
  let page = await listed(emulator, query, token);
  const items = [...page.data];
  while (page.meta.hasMore) {
    page = await listed(emulator, `${query}&cursor=${page.meta.nextCursor}`, token);
    items.push(...page.data);
  }
  return items;
}

/** `production/code-runner` of every item. */
export function placesOf(items: readonly Item[]): string[] {
  return items.map(({ metadata }) => `${metadata.workspace}/${metadata.name}`);
}
