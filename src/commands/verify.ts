import { dayMs } from '../time/time.ts';
import { inChild } from './run-in-child.ts';

export const verifyCommand = inChild('verify', {
  summary: 'Verify that exports match their manifests (files, hashes, rows, cost) and the books.',
  arguments: [
    {
      name: '[place]',
      summary:
        'folder to search for exports, or s3://bucket/prefix; by default exports/ in the project folder, and the store of exports.to',
    },
  ],
  options: [{ flags: '--timeout <duration>', summary: 'stop after this time, such as 30m; 24h by default' }],
  examples: [
    'costbook verify',
    'costbook verify /srv/finance',
    'costbook verify s3://finance/costs',
    'costbook verify --json',
  ],
  usualTimeoutMs: dayMs,
});
