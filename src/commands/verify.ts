import { dayMs } from '../time.ts';
import { apart } from './apart.ts';

export const verifyCommand = apart('verify', {
  summary: 'Look whether exports are what their manifests say: files, hashes, rows and cost, also by the books.',
  arguments: [{ name: '[dir]', summary: 'the folder to look below; by default exports in the project folder' }],
  options: [{ flags: '--timeout <duration>', summary: 'end it after so long, such as 30m; 24h by default' }],
  examples: ['costbook verify', 'costbook verify /srv/finance', 'costbook verify --json'],
  usualTimeoutMs: dayMs,
});
