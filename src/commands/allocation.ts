import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type Allocation,
  allocationFile,
  type Definition,
  describeTest,
  explainAllocation,
  explained,
  loadAllocation,
  type OwnedWindow,
  testAllocation,
  twinsWarning,
} from '../allocation/index.ts';
import { exitCodes, UnprovenError, UsageError } from '../base/errors.ts';
import { actionOf, checkRange, reading } from '../options/read.ts';
import { actions, options } from '../options/table.ts';
import { completenessOf, describeCompleteness } from '../reports/formats/index.ts';
import { writingRun } from '../runs/index.ts';
import { nearest } from '../text/choices.ts';
import { formatInstant } from '../time/time.ts';
import { expectBooks, withBooks } from '../warehouse/integrity/index.ts';
import { allocationInForce } from '../warehouse/ledger/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { Command, CommandContext } from './command.ts';

const ofAllocation = { actions: actions.allocation, options: options.allocation };

export const allocationCommand: Command = {
  name: 'allocation',
  summary:
    'Test allocation rules on stored costs (test), explain who owns a resource (explain), apply the rules (apply).',
  arguments: [
    { name: '<action>', summary: actions.allocation.join(', '), choices: actions.allocation },
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
    const action = actionOf('allocation', ofAllocation, asked, input);
    const [, resource] = input.arguments;
    if (action === 'explain' && resource === undefined) asked.problem('explain: name a resource');
    if (action !== undefined && action !== 'explain' && resource !== undefined) {
      asked.problem(`${action} takes no resource: found "${resource}"`);
    }
    checkRange(asked, context.effects.now());
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
    await context.answer(
      { file: allocation === undefined ? null : path, rules, changed: isNew },
      () => `${isNew ? 'Applied' : 'No change, already applied'}: ${what}.\n`,
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
  return withBooks(context.dir, { lockedDown: true, draft, signal: context.signal }, async (books) => {
    context.progress('testing the rules on every cost');
    const test = await testAllocation(books.connection, period);
    const state = await completenessOf(books.connection);
    const { completeThrough, settledThrough } = state;
    const head = { file: path, isInForce, ...period, completeThrough, settledThrough };
    const force = isInForce
      ? 'These rules are active.'
      : 'These rules are not active. "costbook allocation apply", or the next run, applies the rules in jobs/allocation.yaml.';
    await context.answer(
      { ...head, ...test, warnings: allocation?.warnings ?? [] },
      () => `${describeTest(test, context.layout)}${force}\n${describeCompleteness(state)}\n`,
    );
    for (const twins of test.twins) context.tell(`warning: ${twinsWarning(twins, path)}`);
    if (test.cost !== test.allocatedCost) {
      throw new UnprovenError(
        `the rules allocated ${test.allocatedCost} USD, but the books have ${test.cost} USD: please report this bug`,
      );
    }
    return exitCodes.done;
  });
}

async function definitionInForce(context: CommandContext): Promise<string | undefined> {
  return withBooks(context.dir, { lockedDown: true, signal: context.signal }, async (books) => {
    return await allocationInForce(books.connection);
  });
}

async function explain(resource: string, draft: Definition | undefined, context: CommandContext): Promise<number> {
  // With the rules of the file if there is one, so that they can be tried before they are applied.
  const text = draft && JSON.stringify(draft);
  return withBooks(context.dir, { lockedDown: true, draft: text, signal: context.signal }, async (books) => {
    const inForce = draft ?? parseDefinition(await allocationInForce(books.connection));
    const windows = await explainAllocation(books.connection, resource, inForce);
    if (windows.length === 0) throw new UsageError(await unknownResource(books.connection, resource));
    const state = await completenessOf(books.connection);
    const { completeThrough, settledThrough } = state;
    await context.answer(
      { resource, completeThrough, settledThrough, windows: windows.map(toJson) },
      () => `${windows.map(explained).join('\n')}\n${describeCompleteness(state)}\n`,
    );
    return exitCodes.done;
  });
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
