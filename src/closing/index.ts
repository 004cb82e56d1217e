export { type BilledMonth, closeObstacles, nothingBilled, readBilledMonth } from './close.ts';
