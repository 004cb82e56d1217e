export { type Cell, columnName, fitsNumber, workbookDays } from './cell.ts';
export { answerName, costName, figuresOfWorkbook } from './figures.ts';
export type { Look } from './looks.ts';
export { type Area, maxSheetRows, type Sheet, type SheetEnd, workbookPieces } from './write.ts';
