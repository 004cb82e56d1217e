/** The pages of the dashboard, in the order of the menu. */
export const menu = [
  { path: '/', name: 'Overview' },
  { path: '/explore', name: 'Explore' },
  { path: '/budgets', name: 'Budgets' },
  { path: '/anomalies', name: 'Anomalies' },
  { path: '/savings', name: 'Savings' },
  { path: '/allocation', name: 'Allocation' },
  { path: '/months', name: 'Months' },
  { path: '/changes', name: 'Changes' },
  { path: '/reports', name: 'Reports' },
  { path: '/sql', name: 'SQL' },
  { path: '/health', name: 'Health' },
] as const;

export type PagePath = (typeof menu)[number]['path'];
