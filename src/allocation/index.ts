export type { Definition } from './definition.ts';
export { type Allocation, allocationFile, loadAllocation } from './parse.ts';
export {
  type AllocationTest,
  explainAllocation,
  type Mounter,
  type OwnedWindow,
  type OwnerTwins,
  testAllocation,
} from './rules-of-books.ts';
