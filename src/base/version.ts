import { readFileSync } from 'node:fs';
import { shipped } from './places.ts';

const manifest = JSON.parse(readFileSync(shipped('package.json'), 'utf8')) as { version: string };

/** Costbook's own version, from its package. */
export const version = manifest.version;

/** Identifies the compiled code, also between two builds of one version. Throws if nothing was built. */
export function buildId(): string {
  return (JSON.parse(readFileSync(shipped('dist/build.json'), 'utf8')) as { code: string }).code;
}

/** The version of Node that runs Costbook. */
export const nodeVersion = process.versions.node;
