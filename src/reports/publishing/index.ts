export { inCurrency, isConvertible } from './in-currency.ts';
export { described, listOf } from './list.ts';
export { filesNamed, isPartitioned, placeOf, publishReport, totalsOf } from './publish-report.ts';
export { openExportVerifier } from './requery.ts';
export { importantOf, shortestPath, wholeAnswer, writeJson, writeTable } from './show.ts';
