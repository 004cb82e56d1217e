export { type BooksKnown, type Compared, type Comparison, comparedWith, windowBefore } from './compared.ts';
