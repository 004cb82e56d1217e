import { readFileSync } from 'node:fs';
import { versions } from 'node:process';
import { shipped } from './places.ts';

const manifest = JSON.parse(readFileSync(shipped('package.json'), 'utf8')) as { version: string };

/** Costbook's own version, from its package. */
export const version = manifest.version;

/** The version of Node that runs Costbook. */
export const nodeVersion = versions.node;
