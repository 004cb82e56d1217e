export * from './limits.ts';
export * from './operations.ts';
export * from './responses.ts';
