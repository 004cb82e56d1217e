export { type Console, openConsole } from './console.ts';
export { parseCommandLine } from './parse.ts';
export { openSharedHttp, type SharedHttp } from './shared-http.ts';
