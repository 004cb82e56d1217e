export {
  type CommandOptions,
  childWork,
  type ForecastCommand,
  type ProjectCommands,
  type WorkLimits,
} from './child-work.ts';
export { openLimiter } from './limiter.ts';
export { type Dashboard, type DashboardOptions, type DashboardProbes, serveDashboard } from './server.ts';
