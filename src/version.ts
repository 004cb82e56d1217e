import { readFileSync } from 'node:fs';
import { versions } from 'node:process';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };

/** Costbook's own version, from its package. */
export const version = manifest.version;

/** The version of Node that runs Costbook. */
export const nodeVersion = versions.node;
