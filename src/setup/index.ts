export { type Settings, writeProject } from './project-files.ts';
export { type Ask, settle, warnAboutToken } from './settings.ts';
