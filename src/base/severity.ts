/** Severities of alerts, lowest first. */
export const severities = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof severities)[number];

/** Whether the first severity is higher. Pure. */
export function moreSevere(one: Severity, other: Severity): boolean {
  return severities.indexOf(one) > severities.indexOf(other);
}
