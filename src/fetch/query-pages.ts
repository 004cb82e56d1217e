import type { Log } from '../base/effects.ts';
import { RefusedAnswerError } from '../base/errors.ts';
import { type Client, CursorRefusedError, pages, parseBytes, type RawBody, unpackBody } from '../platform/index.ts';
import { answerLimits, operations } from '../platform/interface/index.ts';
import { formatWindow } from '../time/time.ts';
import type { PageEntry, PageSink } from '../warehouse/page.ts';
import { type DecodedPage, decodeBytes } from './decode.ts';
import { decodeElsewhere } from './decode-elsewhere.ts';
import type { LandingFolder } from './landing-writer.ts';
import { describeQuery, type Query, queryParameters } from './plan/queries.ts';

/** How often a query restarts after the platform refused its cursor. */
const maxRestarts = 3;

/**
 * Runs one query to its last page: stores each page as it came, decodes it, and passes it to the sink. If the platform
 * refuses a cursor, the query restarts, at most three times. Returns the number of pages. Throws PlatformError or
 * RefusedAnswerError naming account, window and page.
 */
export async function askQuery(options: {
  account: string;
  query: Query;
  client: Client;
  /** Where the pages are stored; answers that only verify are not. */
  landing: Pick<LandingFolder, 'page' | 'restart'>;
  sink: PageSink<DecodedPage>;
  log: Log;
  signal: AbortSignal;
}): Promise<number> {
  const { account, query, client, landing, sink, signal } = options;
  const place = `account ${account}, window ${formatWindow(query.window)}`;
  const name = describeQuery(query);
  const about = `${place}, ${name}`;

  for (let restarts = 0; ; restarts += 1) {
    try {
      let count = 0;
      const chain = pages(name, answerLimits.maxMetricsPages, (number, cursor) => {
        const parameters = queryParameters(account, query);
        return client.call(
          operations.metrics,
          cursor === undefined ? parameters : { ...parameters, cursor },
          `${about}, page ${number}`,
          async (body) => {
            await landing.page(query, number, body);
            const page = await readPage(body, query, `${name}, page ${number}`);
            return { ...page, keys: page.entries.map(keyOf) };
          },
          signal,
        );
      });
      for await (const page of chain) {
        await sink.page(page);
        count += 1;
      }
      return count;
    } catch (error) {
      if (error instanceof RefusedAnswerError) throw error.at(place);
      if (!(error instanceof CursorRefusedError)) throw error;
      if (restarts >= maxRestarts) throw error.afterRestarts();
      options.log.warn('query.restarted', 'The platform refused a cursor; starting the query again', {
        about,
        reason: error.found,
      });
      await landing.restart(query);
      await sink.restart();
    }
  }
}

/** The key of a group within its query. */
function keyOf({ workspace, resourceType, resourceName, resourceUuid, billingDimension }: PageEntry): string {
  return JSON.stringify([workspace, resourceType, resourceName, resourceUuid, billingDimension]);
}

/** A page's body as typed columns; `about` names query and page in messages. */
export async function readPage(body: RawBody, query: Query, about: string): Promise<DecodedPage> {
  const resolution = query.resolution ?? 'hourly';
  const isCompared = resolution !== 'hourly' || query.purpose === 'control';
  const expected = { window: query.window, resolution, isCompared, about };
  const page = await decodeElsewhere(body, expected);
  return page ?? decodeBytes(await unpackBody(body), expected, parseBytes);
}
