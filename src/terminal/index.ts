export { cutToWidth, piecesOfWidth, textWidth } from './text-width.ts';
