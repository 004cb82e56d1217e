import type { ExportFormat } from '../format.ts';

export const xlsx: ExportFormat = {
  write: async (...asked) => (await import('../xlsx.ts')).writeXlsx(...asked),
  figures: async (_, path, column) =>
    (await import('../../../workbook/index.ts')).figuresOfWorkbook(path, column?.decimals),
};
