import { rolldown } from 'rolldown';
const b = await rolldown({ input: { cli: 'dist/cli.js' }, platform: 'node', external: [/^@duckdb\//] });
await b.write({ dir: 'bundle', format: 'esm' });
