import { cp } from 'node:fs/promises';
import { expect } from 'vitest';
import { breakages } from './breakages.ts';
import { ingest, newProject } from './project.ts';
import { expectedCosts, type ScriptedPlatform, series, startScriptedPlatform } from './scripted-platform.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const first = series(box, '2026-09-02T05', [1, 2]);
const facts = [...first, ...series(box, '2026-09-09T05', [4, 8])];

/** Books of two nights, to be broken in copies. */
export interface BooksToBreak {
  readonly platform: ScriptedPlatform;
  /** The project after its first night. */
  readonly older: string;
  readonly whole: string;
  /** The rows that the whole books have. */
  readonly costs: readonly string[];
  /** A copy of the whole project with one of the breakages, or with none. */
  broken(name?: string): Promise<string>;
}

/** The instant of the second night. */
export const now = '2026-09-12T12:30:00Z';
/** The sum of all costs, and the query that asks for it. */
export const total = '15.00';
export const sum = 'select cast(sum(cost) as decimal(9, 2)) as cost from costs';

/** Ingests two nights of a platform. */
export async function booksToBreak(): Promise<BooksToBreak> {
  const platform = await startScriptedPlatform(first);
  const older = await newProject();
  expect((await ingest(older, platform, { now: '2026-09-05T12:30:00Z' })).exitCode).toBe(0);
  const whole = await newProject();
  await cp(older, whole, { recursive: true });
  platform.facts = facts;
  expect((await ingest(whole, platform, { now })).exitCode).toBe(0);
  return {
    platform,
    older,
    whole,
    costs: expectedCosts(facts, 'admin'),
    async broken(name) {
      const dir = await newProject();
      await cp(whole, dir, { recursive: true });
      if (name !== undefined) await breakages[name]?.(dir, older);
      return dir;
    },
  };
}
