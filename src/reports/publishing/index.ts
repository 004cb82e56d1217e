export { filesNamed, isPartitioned, placeOf, publishReport, totalsOf } from './publish-report.ts';
export { openExportVerifier } from './requery.ts';
export { type Answer, shortestPath, wholeAnswer, writeJson, writeTable } from './show.ts';
