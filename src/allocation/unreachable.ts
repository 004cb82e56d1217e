import type { Place } from '../config/index.ts';
import type { Condition, Rule } from './definition.ts';

/** A rule with where it stands. */
export interface WrittenRule {
  readonly rule: Rule;
  readonly place: Place;
}

/**
 * Rules that can never match, because one rule before them catches all that they ask for, for as long as they are valid.
 * What only several earlier rules catch together is not found out.
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

/** The conditions of a rule, the alternatives of each number together. */
function byNumber({ conditions }: Rule): readonly (readonly Condition[])[] {
  const groups = new Map<number, Condition[]>();
  for (const condition of conditions) {
    const group = groups.get(condition.number);
    if (group === undefined) groups.set(condition.number, [condition]);
    else group.push(condition);
  }
  return [...groups.values()];
}

/** Whether everything that meets `narrow` meets `wide`, which is a pattern or asks for nothing. */
function includes(wide: Condition, narrow: Condition): boolean {
  if (wide.field !== narrow.field) return false;
  if (wide.kind === narrow.kind && wide.value === narrow.value) return true;
  if (wide.kind !== 'like' || narrow.kind === 'absent') return false;
  if (wide.value === '%') return true;
  return narrow.kind === 'is' && isLike(narrow.value ?? '', wide.value ?? '');
}

/** Whether a text meets a pattern of ours for LIKE: `%` stands for any characters, `\` before one for itself. */
export function isLike(text: string, pattern: string): boolean {
  const [first = '', ...rest] = splitAtPercent(pattern).map((window) => window.replace(/\\(.)/gs, '$1'));
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const window of rest) {
    const found = text.indexOf(window, at);
    if (found === -1) return false;
    at = found + window.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

function splitAtPercent(pattern: string): string[] {
  const windows = [''];
  for (const [window] of pattern.matchAll(/\\.|%|[\s\S]/g)) {
    if (window === '%') windows.push('');
    else windows.push(`${windows.pop()}${window}`);
  }
  return windows;
}
