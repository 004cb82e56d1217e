export { folded } from './fold.ts';
export { newestThatFit, sparkline } from './sparkline.ts';
export {
  formatTable,
  isTextType,
  openTable,
  type Table,
  type TableColumn,
  type TableLayout,
  wrapped,
  wrapWords,
} from './table.ts';
export { cutToWidth, linesOfWidth, textWidth } from './text-width.ts';
