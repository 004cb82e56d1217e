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

/** A body as it came over the wire: not decompressed, in the pieces in which it arrived. */
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
