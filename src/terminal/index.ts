export { folded } from './fold.ts';
export { newestThatFit, sparkline } from './sparkline.ts';
export { formatTable, openTable, type Table, type TableLayout, wrapped, wrapWords } from './table.ts';
export { cutToWidth } from './text-width.ts';
