import { childOf, childrenOf, type Tree, textOf } from './tree.ts';

/**
 * What is known of the type of an expression: as much as decides how it is written for another engine. The integers of
 * up to 32 bits are one kind.
 */
export type SqlType =
  | {
      readonly kind:
        | 'null'
        | 'boolean'
        | 'integer'
        | 'bigint'
        | 'hugeint'
        | 'double'
        | 'varchar'
        | 'date'
        | 'timestamp'
        | 'interval'
        | 'unknown';
    }
  | { readonly kind: 'decimal'; readonly width: number; readonly scale: number }
  | { readonly kind: 'list'; readonly of: SqlType }
  | { readonly kind: 'struct'; readonly fields: readonly Field[] };

export interface Field {
  readonly name: string;
  readonly type: SqlType;
  /** Whether a star leaves it out. */
  readonly isHidden?: boolean;
}

export const unknown: SqlType = { kind: 'unknown' };
export const varchar: SqlType = { kind: 'varchar' };
export const double: SqlType = { kind: 'double' };

const kinds: Readonly<Record<string, SqlType['kind']>> = {
  NULL: 'null',
  BOOLEAN: 'boolean',
  TINYINT: 'integer',
  SMALLINT: 'integer',
  INTEGER: 'integer',
  UTINYINT: 'integer',
  USMALLINT: 'integer',
  UINTEGER: 'bigint',
  BIGINT: 'bigint',
  UBIGINT: 'hugeint',
  HUGEINT: 'hugeint',
  FLOAT: 'double',
  DOUBLE: 'double',
  VARCHAR: 'varchar',
  UUID: 'varchar',
  DATE: 'date',
  TIMESTAMP: 'timestamp',
  'TIMESTAMP WITH TIME ZONE': 'timestamp',
  INTERVAL: 'interval',
};

/** The type that a parse tree names. */
export function typeOfTree(tree: Tree | undefined): SqlType {
  if (tree === undefined) return unknown;
  const info = childOf(tree, 'type_info') ?? {};
  const id = textOf(tree, 'id') === 'UNBOUND' ? textOf(info, 'name').toUpperCase() : textOf(tree, 'id');
  if (id === 'DECIMAL') {
    return { kind: 'decimal', width: Number(info['width'] ?? 18), scale: Number(info['scale'] ?? 0) };
  }
  if (id === 'LIST') return { kind: 'list', of: typeOfTree(childOf(info, 'child_type')) };
  if (id === 'STRUCT') {
    const fields = childrenOf(info, 'child_types').map((one) => ({
      name: textOf(one, 'first'),
      type: typeOfTree(childOf(one, 'second')),
    }));
    return { kind: 'struct', fields };
  }
  return plain(id);
}

/** The type that DuckDB's name of a column type means, as far as it has no parts. */
export function typeOfName(name: string): SqlType {
  const [, width, scale] = /^DECIMAL\((\d+),\s*(\d+)\)$/.exec(name) ?? [];
  if (width !== undefined) return { kind: 'decimal', width: Number(width), scale: Number(scale) };
  if (name.endsWith('[]')) return { kind: 'list', of: typeOfName(name.slice(0, -2)) };
  return plain(name);
}

function plain(name: string): SqlType {
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  return { kind: kind ?? 'unknown' } as SqlType;
}

/** The type of the JSON text that `from_json` takes as a structure: `[{"owner": "VARCHAR"}]`. */
export function typeOfStructure(structure: unknown): SqlType {
  if (typeof structure === 'string') return typeOfName(structure.toUpperCase());
  if (Array.isArray(structure)) return { kind: 'list', of: typeOfStructure(structure[0]) };
  if (typeof structure !== 'object' || structure === null) return unknown;
  const fields = Object.entries(structure).map(([name, of]) => ({ name, type: typeOfStructure(of) }));
  return { kind: 'struct', fields };
}

export function isNumber({ kind }: SqlType): boolean {
  return isWhole({ kind } as SqlType) || kind === 'decimal' || kind === 'double';
}

export function isWhole({ kind }: SqlType): boolean {
  return kind === 'integer' || kind === 'bigint' || kind === 'hugeint';
}

const widths: readonly SqlType['kind'][] = ['null', 'integer', 'bigint', 'hugeint', 'decimal', 'double'];

/** The type of a value that has one of these types: of CASE, coalesce, a union. */
export function commonType(types: readonly SqlType[]): SqlType {
  return types.reduce<SqlType>(
    (a, b) => {
      if (a.kind === 'null') return b;
      if (b.kind === 'null') return a;
      if (a.kind === 'decimal' && b.kind === 'decimal') {
        return { kind: 'decimal', width: 38, scale: Math.max(a.scale, b.scale) };
      }
      if (isNumber(a) && isNumber(b)) return widths.indexOf(a.kind) >= widths.indexOf(b.kind) ? a : b;
      if ([a.kind, b.kind].includes('timestamp') && [a.kind, b.kind].includes('date')) return { kind: 'timestamp' };
      return a.kind === 'unknown' ? b : a;
    },
    { kind: 'null' },
  );
}
