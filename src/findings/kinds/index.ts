import type { AnomalyFact } from '../../anomalies/index.ts';
import { parseStored } from '../../base/former-formats.ts';
import type { NextStep } from '../../base/next-step.ts';
import type { BudgetAlertFact } from '../budget-fact.ts';
import type { Finding } from '../finding.ts';
import type { DataKind, WordsOfKind } from '../kind.ts';
import { account } from './account.ts';
import { anomaly } from './anomaly.ts';
import { books } from './books.ts';
import { budget } from './budget.ts';
import { check } from './check.ts';
import { clock } from './clock.ts';
import { closedMonth } from './closed-month.ts';
import { dimension } from './dimension.ts';
import { disk } from './disk.ts';
import { invoice } from './invoice.ts';
import { listings } from './listings.ts';
import { platformInterface } from './platform-interface.ts';
import { run } from './run.ts';
import { silent } from './silent.ts';
import { stale } from './stale.ts';
import { unlisted } from './unlisted.ts';
import { unproven } from './unproven.ts';

/** Every kind of finding about the data, in the order in which they are looked for. A new kind is one file and a word here. */
const kinds = [
  stale,
  account,
  clock,
  unproven,
  silent,
  check,
  run,
  disk,
  books,
  listings,
  unlisted,
  closedMonth,
  invoice,
  dimension,
  platformInterface,
] as const;

/** A finding about the data. */
export type DataFact = ReturnType<(typeof kinds)[number]['findings']>[number];
export type AlertFact = DataFact | BudgetAlertFact | AnomalyFact;
/** A kind whose findings and rows are its own affair. */
export type AnyKind = DataKind<DataFact, unknown>;
export const dataKinds: readonly AnyKind[] = kinds as readonly unknown[] as readonly AnyKind[];

const byName = new Map(dataKinds.map((kind) => [kind.name, kind]));

/** The kind of a finding about the data; undefined for those of budgets and anomalies. */
export function dataKindOf({ kind }: Pick<Finding, 'kind'>): AnyKind | undefined {
  return byName.get(kind as DataFact['kind']);
}

/** What to do about a finding. */
export function stepOf(fact: DataFact): NextStep {
  const kind = dataKindOf(fact);
  if (kind === undefined) throw new Error(`there is no kind ${fact.kind}`);
  return kind.step(fact);
}

/** How people read of an alert. */
export function wordsOfKind(fact: AlertFact): WordsOfKind<AlertFact> {
  const kind = fact.kind === 'budget' ? budget : fact.kind === 'anomaly' ? anomaly : dataKindOf(fact);
  if (kind === undefined) throw new Error(`there is no kind ${fact.kind}`);
  return kind as WordsOfKind<AlertFact>;
}

/** Parses a finding from the ledger. */
export function parseFact(json: string): AlertFact {
  return parseStored(json);
}
