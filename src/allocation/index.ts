export * from './definition.ts';
export { type Allocation, allocationFile, allocationKeys, loadAllocation, parseAllocation, ways } from './parse.ts';
