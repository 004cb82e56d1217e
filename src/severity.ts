/** Severities of alerts, lowest first. */
export const severities = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof severities)[number];
