/** How a cell looks: its number format, font, fill, border and alignment. */
interface Style {
  readonly format?: number;
  readonly font?: number;
  readonly fill?: number;
  readonly border?: number;
  readonly align?: string;
}

/** Formats of our own start at 164; the others are built in. */
const formats = {
  month: 164,
  date: 165,
  instant: 166,
  percent: 167,
  signed: 168,
  rate: 169,
  money3: 170,
  money4: 171,
} as const;
const [plain, bold, title, muted] = [0, 1, 2, 3];
const headFill = 2;
const [underHead, overTotal] = [1, 2];
const top = '<alignment vertical="top"/>';
const left = '<alignment horizontal="left" vertical="top" indent="1"/>';
const wrapped = '<alignment horizontal="left" vertical="top" wrapText="1" indent="1"/>';
const right = '<alignment horizontal="right" vertical="top" wrapText="1"/>';

const styles = {
  general: { align: left },
  /** Text stays text, also when somebody edits the cell. */
  text: { format: 49, align: left },
  wrapped: { format: 49, align: wrapped },
  number: { align: top },
  count: { format: 3, align: top },
  money: { format: 4, align: top },
  /** Currencies of three and four decimals. */
  money3: { format: formats.money3, align: top },
  money4: { format: formats.money4, align: top },
  signed: { format: formats.signed, align: top },
  /** USD per unit. */
  rate: { format: formats.rate, align: top },
  percent: { format: formats.percent, align: top },
  month: { format: formats.month, align: left },
  date: { format: formats.date, align: left },
  instant: { format: formats.instant, align: left },
  title: { format: 49, font: title, align: left },
  note: { format: 49, font: muted, align: left },
  heading: { format: 49, font: bold, align: left },
  head: { format: 49, font: bold, fill: headFill, border: underHead, align: wrapped },
  headRight: { format: 49, font: bold, fill: headFill, border: underHead, align: right },
  total: { format: 49, font: bold, border: overTotal, align: left },
  totalCount: { format: 3, font: bold, border: overTotal, align: top },
  totalMoney: { format: 4, font: bold, border: overTotal, align: top },
  totalMoney3: { format: formats.money3, font: bold, border: overTotal, align: top },
  totalMoney4: { format: formats.money4, font: bold, border: overTotal, align: top },
  totalSigned: { format: formats.signed, font: bold, border: overTotal, align: top },
} as const satisfies Readonly<Record<string, Style>>;

/** The name of a way that a cell can look. */
export type Look = keyof typeof styles;

/** How amounts of a currency with so many decimals look. */
export function moneyLook(decimals: number): Look {
  const others: Readonly<Record<number, Look>> = { 0: 'count', 3: 'money3', 4: 'money4' };
  return others[decimals] ?? 'money';
}

/** How the total of a column looks. */
export function totalLook(look: Look): Look {
  const totals: Partial<Record<Look, Look>> = {
    signed: 'totalSigned',
    money: 'totalMoney',
    money3: 'totalMoney3',
    money4: 'totalMoney4',
  };
  return totals[look] ?? 'totalCount';
}

/** The number of a look in the style sheet. */
export const styleOf: Readonly<Record<Look, number>> = Object.fromEntries(
  Object.keys(styles).map((look, index) => [look, index]),
) as Record<Look, number>;

/** The style sheet of every workbook. */
export function styleSheet(): string {
  const xfs = Object.values(styles).map(({ format = 0, font = plain, fill = 0, border = 0, align }: Style) => {
    const applies = `applyNumberFormat="1" applyFont="1" applyFill="1" applyBorder="1"`;
    const rest = align === undefined ? '/>' : ` applyAlignment="1">${align}</xf>`;
    return `<xf numFmtId="${format}" fontId="${font}" fillId="${fill}" borderId="${border}" xfId="0" ${applies}${rest}`;
  });
  return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="8"><numFmt numFmtId="${formats.month}" formatCode="yyyy\\-mm"/><numFmt numFmtId="${formats.date}" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="${formats.instant}" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/><numFmt numFmtId="${formats.percent}" formatCode="0.0%"/><numFmt numFmtId="${formats.signed}" formatCode="+#,##0.00;\\-#,##0.00;0.00"/><numFmt numFmtId="${formats.rate}" formatCode="#,##0.0000000000"/><numFmt numFmtId="${formats.money3}" formatCode="#,##0.000"/><numFmt numFmtId="${formats.money4}" formatCode="#,##0.0000"/></numFmts><fonts count="4"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font><font><b/><sz val="11"/><name val="Calibri"/><family val="2"/></font><font><b/><sz val="16"/><name val="Calibri"/><family val="2"/></font><font><sz val="10"/><color rgb="FF5B6472"/><name val="Calibri"/><family val="2"/></font></fonts><fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FFE8EEF4"/><bgColor indexed="64"/></patternFill></fill></fills><borders count="3"><border><left/><right/><top/><bottom/><diagonal/></border><border><left/><right/><top/><bottom style="thin"><color rgb="FF5B6472"/></bottom><diagonal/></border><border><left/><right/><top style="thin"><color rgb="FF5B6472"/></top><bottom style="double"><color rgb="FF5B6472"/></bottom><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="${xfs.length}">${xfs.join('')}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;
}
