export { cutToWidth, linesOfWidth, textWidth } from './text-width.ts';
