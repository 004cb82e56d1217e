export { type Dashboard, type DashboardOptions, serveDashboard } from './server.ts';
