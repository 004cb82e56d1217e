import { UsageError } from '../../base/errors.ts';
import { quoted } from '../../text/choices.ts';
import {
  type Given,
  itemsOf,
  keysOf,
  type Parse,
  type Place,
  type Problems,
  parseText,
  readValue,
} from '../../yaml/index.ts';
import type { BudgetScope, PlannedChange } from './budget.ts';
import { changeRule, scopeTexts } from './file-keys.ts';
import { parseDay, parseEffect } from './planned-change.ts';
import { readScope } from './read-scope.ts';
import { budgetNamePattern } from './table.ts';

/** The planned changes of a budget file. */
export function readChanges(given: Given | undefined, problems: Problems): readonly PlannedChange[] {
  if (given === undefined) return [];
  const changes: PlannedChange[] = [];
  for (const item of itemsOf(given, `a list of changes such as - ${changeRule.expected}`, problems)) {
    const keys = keysOf(item, changeRule, problems);
    if (keys === undefined) continue;
    for (const key of ['name', 'on', 'effect']) {
      if (!keys.has(key)) problems.report(item, `found no ${key}, expected one as in ${changeRule.expected}; add it`);
    }
    const name = readValue(keys.get('name'), parseChangeName, problems);
    const on = readValue(keys.get('on'), (value) => parseDay(parseText(value, 100)), problems);
    const effectText = readValue(keys.get('effect'), (value) => parseText(value, 100), problems);
    const effect = effectText && readValue(keys.get('effect'), () => parseEffect(effectText), problems);
    const scopePlaces = new Map<string, Place>();
    const scope = readScope(keys.get('scope'), scopePlaces, problems);
    const names = scopePlaces.get('resource_name');
    if (names !== undefined) problems.report(names, noNames);
    if (name === undefined || on === undefined || !effect || !effectText) continue;
    if (changes.some((change) => change.name === name)) {
      problems.report(keys.get('name') ?? item, `found ${quoted(name)} a second time; rename one`);
    }
    changes.push({ name, on, effect, effectText, scope });
  }
  return changes;
}

const noNames = 'found resource_name, which the scope of a change does not support; use workspace or resource_type';

const parseChangeName: Parse<string> = (value) => {
  const name = parseText(value, 100);
  if (budgetNamePattern.test(name)) return name;
  throw new UsageError(`found ${quoted(name)}, expected a name of letters, digits and . _ - without spaces`);
};

/** A change of a command line: `launch=2026-12-10:+30%:workspace=prod`. Throws UsageError. */
export function parseChange(text: string): PlannedChange {
  const [, name, day = '', effectText = '', scopeText] = /^([^=:]+)=([^:]*):([^:]*)(?::(.*))?$/s.exec(text) ?? [];
  if (name === undefined) {
    throw new UsageError(
      `found ${quoted(text)}, expected a name, a day, a change and perhaps a scope, such as launch=2026-12-10:+30%:workspace=prod`,
    );
  }
  return {
    name: parseChangeName(name),
    on: parseDay(day),
    effect: parseEffect(effectText),
    effectText,
    scope: scopeText === undefined ? {} : scopeOf(scopeText),
  };
}

/** `workspace=prod,owner.team=Sales`; a key that is repeated has several values. */
function scopeOf(text: string): BudgetScope {
  const scope: Record<string, string[] | Record<string, string[]>> = {};
  for (const entry of text.split(',')) {
    const [, key = '', value = ''] = /^([^=]+)=(.+)$/s.exec(entry.trim()) ?? [];
    const [, group, name = ''] = /^(owner|label)\.(.+)$/s.exec(key) ?? [];
    if (key === 'resource_name') throw new UsageError(noNames);
    if (group !== undefined) {
      const own = (scope[group] ?? {}) as Record<string, string[]>;
      scope[group] = { ...own, [name]: [...(own[name] ?? []), value] };
    } else if (scopeTexts.some((known) => known === key)) scope[key] = [...((scope[key] as string[]) ?? []), value];
    else {
      throw new UsageError(
        `found ${quoted(entry)} as a scope, expected account, workspace, resource_type, billing_dimension, owner.<dimension> or ` +
          'label.<key> and a value, such as workspace=prod',
      );
    }
  }
  if (scope['owner'] !== undefined && scope['label'] !== undefined) {
    throw new UsageError('found an owner and a label, expected only one of the two');
  }
  return scope as BudgetScope;
}
