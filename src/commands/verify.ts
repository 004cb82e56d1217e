import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import type { Command } from './command.ts';
import { dataOfChild, runInChild } from './run-in-child.ts';

export const verifyCommand: Command = {
  name: 'verify',
  summary: 'Verify that exports match their manifests (files, hashes, rows, cost) and the books.',
  arguments: [
    {
      name: '[place]',
      summary:
        'folder to search for exports, or s3://bucket/prefix; by default exports/ in the project folder, and the store of exports.to',
    },
  ],
  examples: [
    'costbook verify',
    'costbook verify /srv/finance',
    'costbook verify s3://finance/costs',
    'costbook verify --json',
  ],
  async run(input, context) {
    const { timeout: timeoutMs } = read(options.verify, input, context);
    const { signal, write } = context;
    const { verifyEverywhere } = await import('./verify-copies.ts');
    const limits = { subject: 'the verification', timeoutMs, signal };
    return verifyEverywhere(input, context, {
      verifyHere: () => runInChild('verify', input, context, { ...limits, write }),
      answerHere: () => dataOfChild<object>('verify', input, context, limits),
    });
  },
};
