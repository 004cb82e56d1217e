import type { ExportFormat } from '../format.ts';
import { writeStream } from '../write-stream.ts';

/** Its library is loaded on demand: that takes longer than most commands. */
export const loadArrow = () => import('../arrow.ts');

export const arrow: ExportFormat = {
  async write(path, question, options) {
    const { arrowChunks } = await loadArrow();
    return writeStream(path, question, (result) => arrowChunks(result, options));
  },
  figures: async (_, path, column) => (await loadArrow()).figuresOfArrow(path, column?.name),
};
