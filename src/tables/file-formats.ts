/** The formats in which a report is written, by the ending of its files, with their media types. */
export const exportTypes = {
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.file',
  json: 'application/json',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const;

export type ExportFormatName = keyof typeof exportTypes;
export const exportFormats = Object.keys(exportTypes) as readonly ExportFormatName[];

/** The media types of all files of exports: statements are pages, too. */
export const fileTypes: Readonly<Record<string, string>> = { ...exportTypes, html: 'text/html; charset=utf-8' };
