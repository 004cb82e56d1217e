export { type Cell, columnName, fitsNumber, workbookDays } from './cell.ts';
export { answerName, costName, figuresOfWorkbook } from './figures.ts';
export { differenceFormula, sumFormula, sumIfFormula } from './formulas.ts';
export { type Look, moneyLook, totalLook } from './looks.ts';
export { type Area, maxSheetRows, type Sheet, type SheetEnd, workbookChunks } from './write.ts';
