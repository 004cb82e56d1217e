import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AutoETS } from '@bsull/augurs/ets';
import type { MSTL } from '@bsull/augurs/mstl';

/** The models of the package augurs, as plain functions over numbers. */
export interface Augurs {
  /**
   * Exponential smoothing of a series without seasons. Chooses trend, damping and parameters by the information
   * criterion.
   */
  ets(values: readonly number[], horizon: number): number[] | undefined;
  /** Removes the seasons (lengths in steps), then smooths the rest as `ets` does. */
  mstl(values: readonly number[], horizon: number, seasons: readonly number[]): number[] | undefined;
}

let loading: Promise<Augurs> | undefined;

/**
 * Loads the models when first used, so that only forecasts pay for them. Reads the WebAssembly from the package's own
 * files; the package's loader would fetch it by URL.
 */
export function loadAugurs(): Promise<Augurs> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Augurs> {
  const [ets, mstl] = await Promise.all([import('@bsull/augurs/ets'), import('@bsull/augurs/mstl')]);
  ets.initSync({ module: wasmBeside('@bsull/augurs/ets') });
  mstl.initSync({ module: wasmBeside('@bsull/augurs/mstl') });
  return {
    ets: (values, horizon) => fitted(() => new ets.AutoETS(1, 'AZN'), values, horizon),
    mstl: (values, horizon, seasons) => fitted(() => mstl.MSTL.ets([...seasons]), values, horizon),
  };
}

/** The bytes of the WebAssembly module next to a file of the package: `ets_bg.wasm` for `ets.js`. */
function wasmBeside(specifier: string): Uint8Array<ArrayBuffer> {
  const glue = createRequire(import.meta.url).resolve(specifier);
  return new Uint8Array(readFileSync(glue.replace(/\.js$/, '_bg.wasm')));
}

/** The model's forecast; undefined if it cannot be fitted to these values. */
function fitted(make: () => AutoETS | MSTL, values: readonly number[], horizon: number): number[] | undefined {
  const model = make();
  try {
    model.fit(Float64Array.from(values));
    const point = Array.from(model.predict(horizon).point);
    return point.length === horizon && point.every(Number.isFinite) ? point : undefined;
  } catch {
    // The package throws plain errors for values that a model cannot fit; the other models still forecast.
    return undefined;
  } finally {
    model.free();
  }
}
