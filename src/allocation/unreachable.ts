import { matchesInOrder } from '../text/star-pattern.ts';
import type { Place } from '../yaml/index.ts';
import type { Condition, Rule } from './definition.ts';

/** A rule and its place in the file. */
export interface WrittenRule {
  readonly rule: Rule;
  readonly place: Place;
}

/**
 * Returns the rules that can never match, because one earlier rule matches everything that they match, for as long as
 * they are valid. Does not find rules that only several earlier rules cover together.
 */
export function unreachableRules(rules: readonly WrittenRule[]): readonly (WrittenRule & { readonly by: Rule })[] {
  return rules.flatMap((written, index) => {
    const by = rules.slice(0, index).find(({ rule }) => catchesAll(rule, written.rule));
    return by === undefined ? [] : [{ ...written, by: by.rule }];
  });
}

function catchesAll(earlier: Rule, later: Rule): boolean {
  if (earlier.from !== null && (later.from === null || later.from < earlier.from)) return false;
  if (earlier.until !== null && (later.until === null || later.until > earlier.until)) return false;
  const asked = byNumber(later);
  return byNumber(earlier).every((wide) => {
    const singles = new Set(wide.filter(({ kind }) => kind === 'is').map(({ field, value }) => keyOf(field, value)));
    const others = wide.filter(({ kind }) => kind !== 'is');
    return asked.some((narrow) =>
      narrow.every(
        (condition) =>
          (condition.kind === 'is' && singles.has(keyOf(condition.field, condition.value))) ||
          others.some((other) => includes(other, condition)),
      ),
    );
  });
}

function keyOf(field: string, value: string | null): string {
  return JSON.stringify([field, value]);
}

/** The conditions of a rule, grouped by number; those of one number are alternatives. */
function byNumber({ conditions }: Rule): readonly (readonly Condition[])[] {
  const groups = new Map<number, Condition[]>();
  for (const condition of conditions) {
    const group = groups.get(condition.number);
    if (group === undefined) groups.set(condition.number, [condition]);
    else group.push(condition);
  }
  return [...groups.values()];
}

/** Whether everything that meets `narrow` also meets `wide`, which is a pattern or an absent field. */
function includes(wide: Condition, narrow: Condition): boolean {
  if (wide.field !== narrow.field) return false;
  if (wide.kind === narrow.kind && wide.value === narrow.value) return true;
  if (wide.kind !== 'like' || narrow.kind === 'absent') return false;
  if (wide.value === '%') return true;
  return narrow.kind === 'is' && isLike(narrow.value ?? '', wide.value ?? '');
}

/** Whether a text matches one of our LIKE patterns: `%` matches any characters, and `\` escapes the next one. */
export function isLike(text: string, pattern: string): boolean {
  return matchesInOrder(
    text,
    splitAtPercent(pattern).map((window) => window.replace(/\\(.)/gs, '$1')),
  );
}

function splitAtPercent(pattern: string): string[] {
  const windows = [''];
  for (const [window] of pattern.matchAll(/\\.|%|[\s\S]/g)) {
    if (window === '%') windows.push('');
    else windows.push(`${windows.pop()}${window}`);
  }
  return windows;
}
