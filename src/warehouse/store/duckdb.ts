import { createRequire } from 'node:module';
import { allocatorSettings, allocatorVariable } from '../../base/memory.ts';

// Read once, when DuckDB is loaded below. Whoever starts the program may set it.
process.env[allocatorVariable] ??= allocatorSettings;

// DuckDB's client is required, not imported: Node parses each file of an imported CommonJS package twice to find its
// exports, which costs a tenth of a second at every start.
const require = createRequire(import.meta.url);

export const {
  DECIMAL,
  DuckDBArrayValue,
  DuckDBBlobValue,
  DuckDBDataChunk,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBUnionValue,
  INTEGER,
  StatementType,
} = require('@duckdb/node-api') as typeof import('@duckdb/node-api');

export const bindings = require('@duckdb/node-bindings') as typeof import('@duckdb/node-bindings');
