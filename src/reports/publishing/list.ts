import { formatTable, type TableLayout, wrapWords } from '../../terminal/index.ts';
import type { Report } from '../questions/catalogue.ts';
import { parameterOption } from '../questions/parameters.ts';

/** A report as data. */
export function described({ name, about, grain, parameters, formats }: Report): Record<string, unknown> {
  return {
    name,
    about,
    grain,
    parameters: parameters.map((parameter) => ({ ...parameter, default: parameter.default ?? null })),
    formats,
  };
}

/** Lists the reports: as a table in a pipe, and as paragraphs on a terminal, which may be too narrow for a table. */
export function listOf(reports: readonly Report[], { width }: TableLayout): string {
  if (width !== undefined) {
    return reports
      .map(({ name, parameters, about }) => {
        const words = wrapWords(about, width - 4);
        const options = parameters.length === 0 ? [] : wrapWords(parameters.map(parameterOption).join('  '), width - 4);
        return [name, ...[...words, ...options].map((line) => `    ${line}`)].join('\n');
      })
      .map((paragraph) => `${paragraph}\n`)
      .join('');
  }
  const columns = ['report', 'parameters', 'formats', 'about'].map((name) => ({ name, type: 'VARCHAR' }));
  const rows = reports.map(({ name, parameters, formats, about }) => [
    name,
    parameters.map(parameterOption).join(' '),
    formats.join(', '),
    about,
  ]);
  return `${formatTable(columns, rows)}\n`;
}
