import { appendFileSync, readFileSync } from 'node:fs';
import { headerBytes, sealBlock } from '../../src/warehouse/integrity/seal.ts';

/** Seals a DuckDB file that a test made, as publishing would; readers refuse a snapshot without a seal. */
export function seal(file: string): void {
  const bytes = readFileSync(file);
  const journal = { before: 1, sha256: '' };
  const facts = { loadNumber: 0, lastEvent: 0, rowCount: 0, cost: '0', journal };
  appendFileSync(file, sealBlock(bytes.subarray(0, headerBytes), bytes.length, facts, new Date(0)));
}
