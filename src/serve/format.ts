import { amount, signed } from '../usd-format.ts';
import { html, type Markup } from './markup.ts';

export { amount, relative, signed } from '../usd-format.ts';

/** A cell with an amount: to the cent, exact on hover. */
export function money(text: string, how: { readonly isSigned?: boolean } = {}): Markup {
  return html`<data value="${text}" title="${trimmed(text)} USD">${how.isSigned === true ? signed(text) : amount(text)}</data>`;
}

/** Decimal text without the zeros at its end, but with cents. */
function trimmed(text: string): string {
  return text.includes('.')
    ? text.replace(/0+$/, '').replace(/\.(\d?)$/, (_, digit) => `.${digit}${digit === '' ? '00' : '0'}`)
    : text;
}
