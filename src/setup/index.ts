export { headerWords } from './headers.ts';
export { type Settings, writeProject } from './project-files.ts';
export { type Ask, type SetupContext, settle, warnAboutToken } from './settings.ts';
