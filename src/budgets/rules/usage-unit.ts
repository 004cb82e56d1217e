import { rounded, usdUnit } from '../../money/money.ts';
import { billingDimensions, unitSuffixes } from '../../platform/interface/index.ts';
import { nearest, oneOf, quoted } from '../../text/choices.ts';
import { refuse } from './read-scope.ts';

/** GB-hours, which people read more easily than the GB-seconds of the books. */
const gbHours = { unit: 'GB-hours', of: 'GB-seconds', size: 3600n } as const;

/** The units in which a budget may be, besides USD. */
export const usageUnits: readonly string[] = [
  ...new Set([...billingDimensions, ...unitSuffixes].map(({ unit }) => unit)),
  gbHours.unit,
].sort();

/** USD or a unit of usage. Throws UsageError with the units that are known. */
export function parseUnit(text: string): string {
  if (text === usdUnit || usageUnits.includes(text)) return text;
  const guess = nearest(text, [usdUnit, ...usageUnits]);
  return refuse(
    `the unit ${quoted(text)}`,
    guess === undefined
      ? oneOf([usdUnit, ...usageUnits])
      : `${oneOf([usdUnit, ...usageUnits])}; did you mean ${guess}?`,
  );
}

/** The unit in which the books have the usage that a budget counts. */
export function unitOfBooks(unit: string): string {
  return unit === gbHours.unit ? gbHours.of : unit;
}

/** Usage of the books in a budget's unit; both with the same decimals. */
export function fromBooks(usage: bigint, unit: string | undefined): bigint {
  return unit === gbHours.unit ? rounded(usage, gbHours.size) : usage;
}

/** The unit of a billing dimension; undefined if only the books may know it. */
export function unitOfDimension(name: string): string | undefined {
  return (
    billingDimensions.find((dimension) => dimension.name === name)?.unit ??
    unitSuffixes.find(({ suffix }) => name.endsWith(suffix))?.unit
  );
}
