import { fileURLToPath } from 'node:url';

// The parts of a program that is compiled lie in `dist`, in files whose names nobody knows. So only this file says where
// things are: it lies in `src/base` of a checkout, and one level below the package's folder in `dist`.

/** Whether this is the compiled program. Only that starts threads: in a checkout their files may be of an older state. */
export const isCompiled = import.meta.url.endsWith('.js');

/** The package's folder, with a slash at its end. */
const root = new URL(isCompiled ? '../' : '../../', import.meta.url);

/** A file or folder that comes with Costbook: `sql`, `docs/schema`. */
export function shipped(path: string): string {
  return fileURLToPath(new URL(path, root));
}

/** The compiled programs: the command line, its children and its threads. */
export const programs = {
  cli: shipped('dist/cli.js'),
  child: shipped('dist/child.js'),
  decodeWorker: shipped('dist/decode-worker.js'),
  emulatorWorker: shipped('dist/emulator-worker.js'),
  forecastWorker: shipped('dist/forecast-worker.js'),
} as const;
