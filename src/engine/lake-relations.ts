import { readSql, readSqlFolder, type SqlFile } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import { type Field, typeOfName, varchar } from './sql-type.ts';
import { parseTree, type Tree, textOf, walk } from './tree.ts';

/** The tables of the lake, and the columns that each has besides those of the view with its name. */
const tables: Readonly<Record<string, readonly string[]>> = {
  accounts: [],
  allocation_owners: [],
  allocation_rules: [],
  anomalies: [],
  closed_months: [],
  closes: [],
  costs: ['series_id', 'month'],
  corrections_allocated: [],
  costs_allocated: ['month'],
  costs_billed: ['month'],
  costs_daily: ['series_id', 'month'],
  costs_monthly: ['series_id', 'month'],
  coverage: [],
  focus_dimensions: [],
  forecast_outcomes: [],
  forecasts: [],
  listings: [],
  loads: [],
  mounted_labels: [],
  reconciliation: [],
  resource_runtimes: [],
  resource_use: [],
  resources: [],
  resources_of_series: [],
  restatements: ['series_id', 'month'],
  series: [],
  volume_mounts: [],
};

/** The names of the lake's tables that reports read. */
export const lakeTables: readonly string[] = Object.keys(tables);

/** Tables of the lake whose lists and structures are JSON text. */
const textTables: readonly string[] = ['allocation_rules', 'allocation_owners'];

/** What a name after FROM means over the lake: one of its tables, or a view over them. */
export type LakeRelation =
  | { readonly kind: 'table'; readonly name: string; readonly columns: readonly Field[] }
  | {
      readonly kind: 'view';
      readonly name: string;
      readonly file: SqlFile;
      readonly text: string;
      readonly tree: Tree;
    };

/** Finds relations by schema and name. */
export type LakeRelations = ReadonlyMap<string, LakeRelation>;

export function relationKey(schema: string, name: string): string {
  return (schema === 'lake' ? `lake.${name}` : name).toLowerCase();
}

/** The relations that a query needs, with those that their views need. */
export async function relationsFor(connection: Connection, query: Tree): Promise<LakeRelations> {
  const [columns, own, books] = await Promise.all([
    columnsOfBooks(connection),
    readSqlFolder('lake_views'),
    readSqlFolder('views'),
  ]);
  const found = new Map<string, LakeRelation>();
  const waiting = [query];
  for (let tree = waiting.pop(); tree !== undefined; tree = waiting.pop()) {
    for (const { schema, name } of tablesNamed(tree)) {
      const key = relationKey(schema, name);
      if (found.has(key) || !['', 'main', 'ledger', 'lake'].includes(schema)) continue;
      const plain = name.toLowerCase();
      const view = schema === 'lake' ? undefined : own.find((file) => file.name === plain);
      const file = view ?? (Object.hasOwn(tables, plain) ? undefined : books.find((one) => one.name === plain));
      if (file !== undefined) {
        const text = selectOfView(file);
        const inner = await parseTree(connection, text);
        found.set(key, { kind: 'view', name: plain, file, text, tree: inner });
        waiting.push(inner);
      } else if (Object.hasOwn(tables, plain)) {
        found.set(key, { kind: 'table', name: plain, columns: columnsOfTable(plain, columns) });
      }
    }
  }
  return found;
}

function tablesNamed(tree: Tree): { schema: string; name: string }[] {
  const named: { schema: string; name: string }[] = [];
  walk(tree, (node) => {
    if (node.type === 'BASE_TABLE')
      named.push({ schema: textOf(node, 'schema_name'), name: textOf(node, 'table_name') });
  });
  return named;
}

type BooksColumns = ReadonlyMap<string, readonly Field[]>;

async function columnsOfBooks(connection: Connection): Promise<BooksColumns> {
  const columns = new Map<string, Field[]>();
  for (const row of await connection.rows(await readSql('engine', 'columns'))) {
    const key = `${row['schema_name']}.${row['table_name']}`;
    const field = { name: String(row['column_name']), type: typeOfName(String(row['data_type'])) };
    columns.set(key, [...(columns.get(key) ?? []), field]);
  }
  return columns;
}

/** The columns of the view with the table's name, and those that only the lake has, which a star leaves out. */
function columnsOfTable(name: string, books: BooksColumns): readonly Field[] {
  const known = books.get(`main.${name}`) ?? books.get(`ledger.${name}`) ?? [];
  const written = textTables.includes(name)
    ? known.map((one) => (one.type.kind === 'list' || one.type.kind === 'unknown' ? { ...one, type: varchar } : one))
    : known;
  const more = (tables[name] ?? []).map((own) => ({ name: own, type: varchar, isHidden: true }));
  return [...written, ...more];
}

/** The SELECT of a view: the file's text is that, or it creates the view. The lines stay the same. */
function selectOfView({ text }: SqlFile): string {
  const [lead] = /^[\s\S]*?create or replace view [\w.]+ as\n/.exec(text) ?? [''];
  return lead.replace(/[^\n]/g, '') + text.slice(lead.length).replace(/;\s*$/, '');
}
