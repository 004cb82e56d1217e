import { dayMs } from '../time.ts';
import { inChild } from './run-in-child.ts';

export const verifyCommand = inChild('verify', {
  summary: 'Verify that exports match their manifests (files, hashes, rows, cost) and the books.',
  arguments: [{ name: '[dir]', summary: 'folder to search for exports; by default exports/ in the project folder' }],
  options: [{ flags: '--timeout <duration>', summary: 'stop after this time, such as 30m; 24h by default' }],
  examples: ['costbook verify', 'costbook verify /srv/finance', 'costbook verify --json'],
  usualTimeoutMs: dayMs,
});
