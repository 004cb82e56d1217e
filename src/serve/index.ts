export { childWork, type ProjectCommands } from './child-work.ts';
export { openLimiter } from './limiter.ts';
export { type Dashboard, type DashboardProbes, serveDashboard } from './server.ts';
