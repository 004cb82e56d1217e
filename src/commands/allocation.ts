import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type Allocation,
  type AllocationTest,
  allocationFile,
  type Definition,
  explainAllocation,
  loadAllocation,
  type Mounter,
  type OwnedWindow,
  type OwnerTwins,
  testAllocation,
} from '../allocation/index.ts';
import { excerpt, exitCodes, UnprovenError, UsageError } from '../base/errors.ts';
import { checkRange, reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import { completenessOf, describeCompleteness } from '../reports/formats/index.ts';
import { formatTable, type TableLayout } from '../terminal/index.ts';
import { nearest } from '../text/choices.ts';
import { forTerminal } from '../text/safe-text.ts';
import { formatInstant } from '../time/time.ts';
import { expectBooks, openBooks } from '../warehouse/integrity/index.ts';
import { allocationInForce } from '../warehouse/ledger/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { Command, CommandContext } from './command.ts';
import { writingRun } from './writing-run.ts';

const actions = ['test', 'explain', 'apply'] as const;

export const allocationCommand: Command = {
  name: 'allocation',
  summary:
    'Test allocation rules on stored costs (test), explain who owns a resource (explain), apply the rules (apply).',
  arguments: [
    { name: '<action>', summary: actions.join(', ') },
    { name: '[resource]', summary: 'explain: a name, uuid, display name or external id' },
  ],
  examples: [
    'costbook allocation test',
    'costbook allocation test --file draft.yaml --from 2026-09 --to 2026-11',
    'costbook allocation explain checkout-assistant',
    'costbook allocation apply',
  ],
  async run(input, context) {
    const asked = reading(options.allocation, input, context);
    const { from, to, file, wait: waitMs } = asked.values;
    const [given, resource] = input.arguments;
    const action = actions.find((known) => known === given);
    if (action === undefined) {
      const guess = nearest(given ?? '', actions);
      const hint = guess === undefined ? '' : ` (did you mean ${guess}?)`;
      asked.problem(`there is no "costbook allocation ${given}"${hint}: expected ${actions.join(', ')}`);
    }
    if (action === 'explain' && resource === undefined) asked.problem('explain: name a resource');
    if (action !== undefined && action !== 'explain' && resource !== undefined) {
      asked.problem(`${action} takes no resource: found "${resource}"`);
    }
    checkRange(asked, context.effects.now());
    if (action !== undefined && action !== 'test' && (from ?? to) !== undefined) {
      asked.problem(`--from and --to apply only to test, not to ${action}`);
    }
    if (action === 'apply' && file !== undefined) {
      asked.problem('apply always uses jobs/allocation.yaml: move your file there and leave out --file');
    }
    asked.check();

    const path = file === undefined ? allocationFile(context.dir) : resolve(context.dir, file);
    const allocation = loadAllocation(path);
    for (const warning of allocation?.warnings ?? []) context.tell(`warning: ${warning}`);
    if (action === 'apply') return apply(path, allocation, waitMs, context);
    if (allocation === undefined && (file !== undefined || action === 'test')) {
      const fault = existsSync(path) ? `${path} has no allocation rules` : `${path} does not exist`;
      throw new UsageError(`${fault}: write the rules there, or name another file with --file`);
    }
    if (action === 'explain') return explain(resource ?? '', allocation?.definition, context);
    const period = {
      from: from === undefined ? null : formatInstant(from),
      to: to === undefined ? null : formatInstant(to),
    };
    return tryOut(path, allocation, period, context);
  },
};

/** Applies the rules of the project's file, or removes the current ones if there is no file. */
async function apply(
  path: string,
  allocation: Allocation | undefined,
  waitMs: number,
  context: CommandContext,
): Promise<number> {
  await expectBooks(context.dir); // nothing published: nothing to allocate, no file to make
  return writingRun('allocation', waitMs, context, async (warehouse, runNumber) => {
    const definition = allocation && JSON.stringify(allocation.definition);
    const isNew = await warehouse.saveAllocation(definition, runNumber, context.effects.now());
    const rules = (allocation?.definition.rules.length ?? 1) - 1; // the default is none
    const what =
      allocation === undefined ? `no rules: there is no ${path}` : `${rules} rule${rules === 1 ? '' : 's'} of ${path}`;
    await context.write(
      context.json
        ? `${JSON.stringify({ file: allocation === undefined ? null : path, rules, changed: isNew })}\n`
        : `${isNew ? 'Applied' : 'No change, already applied'}: ${what}.\n`,
    );
    return { exitCode: exitCodes.done };
  });
}

async function tryOut(
  path: string,
  allocation: Allocation | undefined,
  period: { readonly from: string | null; readonly to: string | null },
  context: CommandContext,
): Promise<number> {
  const draft = allocation && JSON.stringify(allocation.definition);
  const isInForce = (await definitionInForce(context)) === draft;
  const books = await openBooks(context.dir, { lockedDown: true, draft, signal: context.signal });
  try {
    context.progress('testing the rules on every cost');
    const test = await testAllocation(books.connection, period);
    const state = await completenessOf(books.connection);
    if (context.json) {
      const { completeThrough, settledThrough } = state;
      const head = { file: path, isInForce, ...period, completeThrough, settledThrough };
      await context.write(`${JSON.stringify({ ...head, ...test, warnings: allocation?.warnings ?? [] })}\n`);
    } else {
      const force = isInForce
        ? 'These rules are active.'
        : 'These rules are not active. "costbook allocation apply", or the next ingest, applies the rules in jobs/allocation.yaml.';
      await context.write(`${described(test, context.layout)}${force}\n${describeCompleteness(state)}\n`);
    }
    for (const twins of test.twins) context.tell(`warning: ${twinsWarning(twins, path)}`);
    if (test.cost !== test.allocatedCost) {
      throw new UnprovenError(
        `the rules allocated ${test.allocatedCost} USD, but the books have ${test.cost} USD: please report this bug`,
      );
    }
    return exitCodes.done;
  } finally {
    books.close();
  }
}

async function definitionInForce(context: CommandContext): Promise<string | undefined> {
  const books = await openBooks(context.dir, { lockedDown: true, signal: context.signal });
  try {
    return await allocationInForce(books.connection);
  } finally {
    books.close();
  }
}

/** What to do about an owner with several spellings. Names are JSON (and so YAML), which shows a trailing blank. */
function twinsWarning({ dimension, value, cost, twins }: OwnerTwins, path: string): string {
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

function described(test: AllocationTest, layout: TableLayout): string {
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

async function explain(resource: string, draft: Definition | undefined, context: CommandContext): Promise<number> {
  // With the rules of the file if there is one, so that they can be tried before they are applied.
  const text = draft && JSON.stringify(draft);
  const books = await openBooks(context.dir, { lockedDown: true, draft: text, signal: context.signal });
  try {
    const inForce = draft ?? parseDefinition(await allocationInForce(books.connection));
    const windows = await explainAllocation(books.connection, resource, inForce);
    if (windows.length === 0) throw new UsageError(await unknownResource(books.connection, resource));
    const state = await completenessOf(books.connection);
    if (context.json) {
      const { completeThrough, settledThrough } = state;
      await context.write(
        `${JSON.stringify({ resource, completeThrough, settledThrough, windows: windows.map(toJson) })}\n`,
      );
    } else await context.write(`${windows.map(explained).join('\n')}\n${describeCompleteness(state)}\n`);
    return exitCodes.done;
  } finally {
    books.close();
  }
}

function parseDefinition(text: string | undefined): Definition | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Definition);
}

async function unknownResource(connection: Connection, resource: string): Promise<string> {
  const rows = await connection.rows(await readSql('allocation', 'resource_names'));
  const guess = nearest(
    resource,
    rows.map((row) => String(row['name'])),
  );
  return `found no resource "${resource}" in the books${guess ? ` (did you mean "${guess}"?)` : ''}: expected a name, uuid, display name or external id`;
}

function toJson(window: OwnedWindow): Record<string, unknown> {
  const { owner, labels, mounters, ...rest } = window;
  return {
    ...rest,
    labels: parsed(labels),
    owner: JSON.parse(owner),
    mounters:
      mounters?.map((each) => ({ ...each, labels: parsed(each.labels), owner: JSON.parse(each.owner) })) ?? null,
  };
}

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}

/** Labels can be very long; --json has them whole. */
const maxLineLength = 400;

function explained(window: OwnedWindow): string {
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
