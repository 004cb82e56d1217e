import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AutoETS } from '@bsull/augurs/ets';
import type { MSTL } from '@bsull/augurs/mstl';

/** The models of augurs, as plain functions over numbers. */
export interface Augurs {
  /** Exponential smoothing of a series without seasons; trend, damping and parameters by the information criterion. */
  ets(values: readonly number[], horizon: number): number[] | undefined;
  /** Decomposes by the seasons (in steps), then smooths what remains as `ets` does. */
  mstl(values: readonly number[], horizon: number, seasons: readonly number[]): number[] | undefined;
}

let loading: Promise<Augurs> | undefined;

/**
 * The models, loaded when first asked for: only what forecasts pays for them. The WebAssembly is read from the
 * package's own files, as its own loader would fetch it by URL.
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

/** The bytes of the module that a subpath of the package is glue for: `ets.js` has `ets_bg.wasm` beside it. */
function wasmBeside(specifier: string): Uint8Array<ArrayBuffer> {
  const glue = createRequire(import.meta.url).resolve(specifier);
  return new Uint8Array(readFileSync(glue.replace(/\.js$/, '_bg.wasm')));
}

/** What the model expects, or undefined where it cannot be fitted to these values. */
function fitted(make: () => AutoETS | MSTL, values: readonly number[], horizon: number): number[] | undefined {
  const model = make();
  try {
    model.fit(Float64Array.from(values));
    const point = Array.from(model.predict(horizon).point);
    return point.length === horizon && point.every(Number.isFinite) ? point : undefined;
  } catch {
    // The package throws plain errors for values that a form does not fit; other models have something to say of them.
    return undefined;
  } finally {
    model.free();
  }
}
