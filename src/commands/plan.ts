import { type AccountPlan, type PlannedRequest, planIngest } from '../ingest/index.ts';
import { checkRange, reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import { counted } from '../text/counted.ts';
import { formatWindow } from '../time/time.ts';
import type { Command } from './command.ts';

export const planCommand: Command = {
  name: 'plan',
  summary: 'Print the requests that the next ingest would send, and why. Sends none of them.',
  examples: ['costbook plan', 'costbook plan --from 2026-09 --to 2026-10 --refetch --json'],
  async run(input, context) {
    const given = reading(options.plan, input, context);
    checkRange(given);
    given.check();
    const accounts = await planIngest(given.values, context);
    await context.answer({ accounts }, () => accounts.map(describe).join('\n'));
    return 0;
  },
};

function describe(plan: AccountPlan): string {
  const lines = [
    `${plan.account ?? 'the account that the token sees'}: ${counted(plan.windows.length, 'window')}, at least ${counted(plan.requestsAtLeast, 'request')}` +
      ` (role: ${plan.role ?? 'not known yet'})`,
  ];
  function line({ purpose, why, request, pages, pagesAre }: PlannedRequest): void {
    lines.push(
      `  ${purpose}, ${pagesAre === 'at least' ? `at least ${counted(pages, 'page')}` : `${counted(pages, 'page')} last time`}: ${why}`,
      `    GET ${request}`,
    );
  }
  for (const request of [...plan.first, ...plan.verify]) line(request);
  for (const { start, end, reason, requests } of plan.windows) {
    lines.push(`${formatWindow({ start: Date.parse(start), end: Date.parse(end) })} ${reason}`);
    for (const request of requests) line(request);
  }
  if (plan.listings !== null) {
    const { requests, detailsAtMost } = plan.listings;
    const last = requests === null ? 'one or more each' : `${counted(requests, 'request')} last time`;
    lines.push(
      `listings, ${last}, and at most ${counted(detailsAtMost, 'request')} for single items that are new or changed`,
    );
  }
  return `${lines.join('\n')}\n`;
}
