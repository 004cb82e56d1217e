export { openSharedHttp, type SharedHttp } from './shared-http.ts';
export { openStreams, type Streams } from './streams.ts';
export { usualEffects } from './usual-effects.ts';
