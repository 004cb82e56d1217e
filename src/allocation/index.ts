export type { Definition } from './definition.ts';
export { type Allocation, allocationFile, loadAllocation } from './parse.ts';
export {
  explainAllocation,
  type OwnedWindow,
  testAllocation,
} from './rules-of-books.ts';
export { describeTest, explained, twinsWarning } from './words.ts';
