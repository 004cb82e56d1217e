import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { isCompiled, programs } from '../base/places.ts';
import { type CostHistory, type Forecast, type ForecastOptions, forecastSeries } from './forecast.ts';

/** The arguments of one `forecastSeries`. */
export interface ForecastRequest {
  readonly history: CostHistory;
  readonly horizon: number;
  readonly options: ForecastOptions;
}

/** A thread takes as long to start as some forecasts do. */
const leastOfThread = 10;
/** A limit on memory: each thread has its own copy of the models. */
const mostThreads = 8;
/** How many forecasts of each thread may wait until earlier ones are read. */
const aheadOfThread = 8;

/**
 * Makes many forecasts as `forecastSeries` does, on all cores, and gives them in the order of the requests. Aborting
 * the signal throws its reason. Throws what `forecastSeries` throws, in order too.
 */
export async function* forecastsInOrder(
  requests: readonly ForecastRequest[],
  signal: AbortSignal,
): AsyncGenerator<Forecast> {
  const wanted = Math.min(availableParallelism(), mostThreads, Math.floor(requests.length / leastOfThread));
  const threads = isCompiled && wanted > 1 ? Array.from({ length: wanted }, startThread) : [];
  const begun: Promise<Forecast | undefined>[] = [];
  try {
    for (const [index, request] of requests.entries()) {
      const ahead = requests.slice(begun.length, index + 1 + threads.length * aheadOfThread);
      for (const next of ahead) begun.push(leastBusy(threads)?.make(next) ?? Promise.resolve(undefined));
      const made = await begun[index];
      await setImmediate(); // lets a signal in between two forecasts
      signal.throwIfAborted();
      yield made ?? (await forecastSeries(request.history, request.horizon, request.options));
    }
  } finally {
    for (const thread of threads) thread.end();
  }
}

interface Thread {
  /** How many forecasts it has still to make. */
  readonly left: number;
  /** Makes a forecast after those asked for before; undefined if the thread could not make it. */
  make(request: ForecastRequest): Promise<Forecast | undefined>;
  end(): void;
}

function leastBusy(threads: readonly Thread[]): Thread | undefined {
  return threads.toSorted((a, b) => a.left - b.left)[0];
}

function startThread(): Thread {
  const worker = new Worker(programs.forecastWorker, { execArgv: [] });
  let isThere = true;
  const waiting: ((forecast: Forecast | undefined) => void)[] = []; // it answers in the order of the requests
  function stop(): void {
    isThere = false;
    for (const settle of waiting.splice(0)) settle(undefined);
  }
  worker.on('message', (forecast: Forecast | undefined) => waiting.shift()?.(forecast));
  worker.on('error', stop); // for example, out of memory
  worker.on('exit', stop);
  return {
    get left() {
      return waiting.length;
    },
    make(request) {
      if (!isThere) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        waiting.push(resolve);
        worker.postMessage(request);
      });
    },
    end: () => void worker.terminate(),
  };
}
