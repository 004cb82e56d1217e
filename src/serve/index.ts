export type { ProjectCommands, WorkLimits } from './child-work.ts';
export { type Dashboard, type DashboardOptions, serveDashboard } from './server.ts';
