// What a column of an answer holds, decided once: tables on a terminal, pages, CSV for spreadsheets, workbooks and
// statements ask here.

/** A column of an answer, with DuckDB's name for its type. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

/**
 * money: USD, or an amount in a second currency with the decimals of the books. usage: in the unit of its row. share: of 1.
 * rate: of a currency. number: any other. flag: true or false.
 */
export type ColumnRole =
  | ('money' | 'usage' | 'share' | 'rate' | 'number')
  | ('month' | 'date' | 'instant' | 'time' | 'flag' | 'text');

/** Decimals of amounts in the books; columns with as many are amounts. */
const moneyScale = 12;
/** A DECIMAL without a scale is a number that is formatted already. */
const wholeType = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL)$/;

/** The number of decimals of a column; undefined if it has no decimal type. */
export function scaleOf({ type }: Pick<Column, 'type'>): number | undefined {
  const [, scale] = /^DECIMAL\(\d+,\s*(\d+)\)$/.exec(type) ?? [];
  return scale === undefined ? undefined : Number(scale);
}

/** What a column holds: its type says most, its name the rest. Pure. */
export function roleOf({ name, type }: Column): ColumnRole {
  const scale = scaleOf({ type });
  if (scale !== undefined) {
    if (/(^|_)usage$/.test(name)) return 'usage';
    if (scale === moneyScale) return 'money';
    return /(^|_)share(_|$)/.test(name) ? 'share' : /(^|_)rate$/.test(name) ? 'rate' : 'number';
  }
  if (wholeType.test(type)) return 'number';
  if (type === 'BOOLEAN') return 'flag';
  if (type === 'DATE') return /(^|_)month$/.test(name) ? 'month' : 'date';
  if (type.endsWith(']')) return 'text';
  if (type.startsWith('TIMESTAMP')) return 'instant';
  return /^(TIME|INTERVAL)/.test(type) ? 'time' : 'text';
}

const numberRoles: readonly ColumnRole[] = ['money', 'usage', 'share', 'rate', 'number'];

export function isNumber(column: Column): boolean {
  return numberRoles.includes(roleOf(column));
}

/** Whether a column has free text: names, labels, or lists of them. */
export function isText(column: Column): boolean {
  return roleOf(column) === 'text' && column.type !== 'UUID';
}
