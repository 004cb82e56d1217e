import { type ExportFormatName, exportFormats } from '../../../tables/file-formats.ts';
import type { ExportFormat } from '../format.ts';
import { arrow } from './arrow.ts';
import { csv } from './csv.ts';
import { json } from './json.ts';
import { parquet } from './parquet.ts';
import { xlsx } from './xlsx.ts';

const kinds: Readonly<Record<ExportFormatName, ExportFormat>> = { csv, parquet, arrow, json, xlsx };

/** How files of a format are written and read; undefined for what is not a format of reports. */
export function formatNamed(name: string): ExportFormat | undefined {
  const known = exportFormats.find((format) => format === name);
  return known && kinds[known];
}
