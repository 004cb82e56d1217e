import { escapeMarkup } from '../text/markup.ts';
import { type Look, styleOf } from './looks.ts';
import { cellText } from './xml.ts';

/** What a cell holds. Text is never a formula; the decimals of a number are written as they are. */
export type Cell =
  | undefined
  | { readonly text: string; readonly look?: Look }
  | { readonly number: string; readonly look?: Look }
  | { readonly boolean: boolean; readonly look?: Look }
  | {
      /** Without `=`. Only ever made of our own words and addresses. */
      readonly formula: string;
      /** What the formula gives, as decimal text. */
      readonly number: string;
      readonly look?: Look;
    };

/**
 * The most digits before the point of a number with cents: spreadsheets calculate with 15 digits. A longer number is
 * written as text, so that none of its digits is lost.
 */
const maxWholeDigits = 13;
const plainNumber = /^-?(\d+)(?:\.\d+)?$/;

/** Whether decimal text fits a number cell to the cent. An integer may have 15 digits. */
export function fitsNumber(text: string): boolean {
  const whole = plainNumber.exec(text)?.[1];
  return whole !== undefined && whole.length <= (text.includes('.') ? maxWholeDigits : maxWholeDigits + 2);
}

/** The name of a column, counted from 0: `A`, `Z`, `AA`. */
export function columnName(index: number): string {
  const rest = Math.floor(index / 26);
  return (rest === 0 ? '' : columnName(rest - 1)) + String.fromCharCode(65 + (index % 26));
}

/** A row of cells as XML; rows count from 1. */
export function rowXml(row: number, cells: readonly Cell[]): string {
  const written = cells.map((cell, index) => (cell === undefined ? '' : cellXml(`${columnName(index)}${row}`, cell)));
  const height = cells.some((cell) => cell?.look === 'title') ? ' ht="24" customHeight="1"' : '';
  return `<row r="${row}"${height}>${written.join('')}</row>`;
}

function cellXml(address: string, cell: NonNullable<Cell>): string {
  if ('boolean' in cell) return `<c r="${address}"${styled(cell.look)} t="b"><v>${cell.boolean ? 1 : 0}</v></c>`;
  if ('formula' in cell) {
    return `<c r="${address}"${styled(cell.look)}><f>${escapeMarkup(cell.formula)}</f><v>${shortest(cell.number)}</v></c>`;
  }
  if ('number' in cell && fitsNumber(cell.number)) {
    return `<c r="${address}"${styled(cell.look)}><v>${shortest(cell.number)}</v></c>`;
  }
  const text = 'number' in cell ? cell.number : cell.text;
  const look = 'number' in cell ? 'text' : (cell.look ?? 'text');
  return `<c r="${address}"${styled(look)} t="inlineStr"><is><t xml:space="preserve">${cellText(text)}</t></is></c>`;
}

function styled(look: Look = 'general'): string {
  return ` s="${styleOf[look]}"`;
}

/** Decimal text without the zeros at its end. */
function shortest(number: string): string {
  return number.includes('.') ? number.replace(/\.?0+$/, '') : number;
}

const dayMs = 86_400_000;
/** Day 0 of a workbook; from March 1900 on, which is day 61, every program counts alike. */
const dayZero = Date.UTC(1899, 11, 30);

/** A date or instant such as `2026-10-01` or `2026-10-01T05:00:00Z` as the days of a workbook; undefined if it has none. */
export function workbookDays(text: string): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?Z)?$/.test(text)) return undefined;
  const days = (Date.parse(text) - dayZero) / dayMs;
  if (!(days >= 61)) return undefined;
  return Number.isInteger(days) ? String(days) : days.toFixed(9);
}
