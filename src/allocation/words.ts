import { excerpt } from '../base/errors.ts';
import { formatTable, type TableLayout } from '../terminal/index.ts';
import { forTerminal } from '../text/safe-text.ts';
import type { AllocationTest, Mounter, OwnedWindow, OwnerTwins } from './rules-of-books.ts';

/** What to do about an owner with several spellings. Names are JSON (and so YAML), which shows a trailing blank. */
export function twinsWarning({ dimension, value, cost, twins }: OwnerTwins, path: string): string {
  const others = twins.map((twin) => `${JSON.stringify(twin.value)} (${usd(twin.cost)} USD)`).join(', ');
  const aliases = twins.map((twin) => JSON.stringify(twin.value)).join(', ');
  return (
    `${dimension}: ${others} may be other spellings of ${JSON.stringify(value)} (${usd(cost)} USD); if so, add under ` +
    `aliases in ${path}: ${JSON.stringify(dimension)}: {${JSON.stringify(value)}: [${aliases}]}`
  );
}

function usd(amount: string): string {
  return Number(amount).toFixed(2);
}

/** How many owners fit on one screen. */
const maxOwnersShown = 40;

/** What a test of rules found, as tables. */
export function describeTest(test: AllocationTest, layout: TableLayout): string {
  const columns = [
    { name: 'rule', type: 'VARCHAR' },
    { name: 'USD', type: 'DECIMAL(38,12)' },
    { name: 'share', type: 'DECIMAL(18,6)' },
    { name: 'resources', type: 'INTEGER' },
    { name: 'first hour', type: 'VARCHAR' },
    { name: 'last hour', type: 'VARCHAR' },
    { name: 'split by', type: 'VARCHAR' },
  ];
  const rows = test.rules.map(({ rule, cost, share, resources, firstHour, lastHour, splitBy }) => [
    ...[rule, cost, share ?? undefined, String(resources), firstHour ?? 'matches nothing', lastHour ?? ''],
    splitBy ?? '',
  ]);
  const splits = test.splits.map(
    ({ rule, months, reason }) => `${rule}, in ${months} month${months === 1 ? '' : 's'} of an account: ${reason}.\n`,
  );
  const owners = test.owners.slice(0, maxOwnersShown);
  const ownerTable = formatTable(
    [
      { name: 'owner', type: 'VARCHAR' },
      { name: 'USD', type: 'DECIMAL(38,12)' },
    ],
    owners.map(({ owner, cost }) => [describeOwner(owner), cost]),
    layout,
  );
  const more = test.owners.length - owners.length;
  return (
    `${formatTable(columns, rows, { ...layout, important: ['rule', 'USD', 'share', 'resources', 'split by'] })}\n\n${ownerTable}\n` +
    `${more > 0 ? `(and ${more} more owners; --json lists all)\n` : ''}\n` +
    `${test.cost} USD in the books: ${test.unallocatedCost} USD have no owner. Owned and unowned costs add up to ${test.allocatedCost} USD.\n` +
    splits.join('')
  );
}

/** Labels can be very long; --json has them whole. */
const maxLineLength = 400;

/** Who owns a resource in a window, and why. */
export function explained(window: OwnedWindow): string {
  const { workspace, resourceType, resourceName, resourceUuid, billingDimensions, from, to, rules } = window;
  const name = [resourceType, resourceName, resourceUuid].filter((part) => part !== null).join(' ');
  const time = from === null && to === null ? '' : `, ${from ?? 'the first hour'} to ${to ?? 'now'}`;
  const owner = window.isShared ? 'split over owners' : describeOwner(window.owner);
  const lines = [
    `${name} in ${workspace ?? 'no workspace'} (${window.account})${time}: ${window.cost} USD`,
    `  ${billingDimensions.map((dimension) => dimension ?? '(no billing dimension)').join(', ')}`,
    ...(window.labels === null ? [] : [`  labels ${window.labels}`]),
    ...rules.map(({ rule, matched, reason }) => `  ${matched ? 'matches' : 'not    '} ${rule}: ${reason.join('; ')}`),
    ...(window.mounters === null ? [] : mounterLines(window.mounters)),
    `  → ${owner}, by ${window.rule}`,
  ];
  return lines.map((line) => `${excerpt(forTerminal(line), maxLineLength)}\n`).join('');
}

/** The number of mounters shown; --json has all. */
const maxMountersShown = 20;

function mounterLines(mounters: readonly Mounter[]): string[] {
  const lines = mounters.slice(0, maxMountersShown).map(({ resourceType, resourceName, rule, isShared, owner }) => {
    const whose = isShared ? 'split over owners' : describeOwner(owner);
    return `  mounted by ${resourceType} ${resourceName}: ${whose}, by ${rule}`;
  });
  const more = mounters.length - lines.length;
  return more > 0 ? [...lines, `  mounted by ${more} more`] : lines;
}

function describeOwner(owner: string): string {
  const values = Object.entries(JSON.parse(owner) as Record<string, string | null>);
  const told = values.filter(([, value]) => value !== null).map(([dimension, value]) => `${dimension} ${value}`);
  return told.length === 0 ? 'nobody' : told.join(', ');
}
