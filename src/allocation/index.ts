export * from './definition.ts';
export { type Allocation, allocationFile, allocationKeys, loadAllocation, parseAllocation, ways } from './parse.ts';
export {
  type AllocationTest,
  explainAllocation,
  type Mounter,
  type OwnedWindow,
  type OwnerTwins,
  testAllocation,
} from './rules-of-books.ts';
