export * from './definition.ts';
export { type Allocation, allocationFile, loadAllocation, parseAllocation } from './parse.ts';
