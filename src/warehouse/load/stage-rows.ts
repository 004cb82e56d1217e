import { textOrUndefined } from '../../tables/optional-text.ts';
import { isByWorkspace, type StageState } from './stage-state.ts';

/** The filter of a query. */
export interface QueryFilter {
  readonly resourceType: string | undefined;
  readonly billingDimension: string | undefined;
}

/** Makes the detail's entries the rows of the window. */
export async function takeDetail(state: StageState): Promise<void> {
  state.differing = undefined;
  await state.connection.run(state.sql('rows_of_detail'), { account: state.account });
}

/** Replaces rows without UUID by rows by workspace, from a query with this filter. */
export async function takeResidual(state: StageState, query: number, filter: QueryFilter): Promise<void> {
  const { connection, sql, account } = state;
  state.differing = undefined;
  const filters = filterParameters(filter);
  await connection.run(sql('drop_rows_without_uuid'), filters);
  await connection.run(sql('add_difference'), { query, account, by_workspace: true, ...filters });
}

/** Adds what a query of one billing dimension shows beyond the rows. */
export async function takeRepair(
  state: StageState,
  query: number,
  billingDimension: string | undefined,
): Promise<void> {
  const { connection, sql, account } = state;
  state.differing = undefined;
  const filters = filterParameters({ resourceType: undefined, billingDimension });
  // By resource type and name, the query shows more of these rows than the detail did; by workspace it may show less.
  if (state.role === 'member') await connection.run(sql('drop_rows_without_uuid'), filters);
  await connection.run(sql('add_difference'), { query, account, by_workspace: isByWorkspace(state), ...filters });
}

/** The one column of a query of `sql/load` that lists names. */
export async function names(
  { connection, sql }: StageState,
  file: 'types_without_uuid' | 'dimensions_of_one_type' | 'dimensions' | 'ambiguous_dimensions',
  column: 'resource_type' | 'billing_dimension',
): Promise<string[]> {
  return (await connection.rows(sql(file))).map((row) => String(row[column]));
}

/** The resource types among the groups of a query; undefined if the platform names none. */
export async function typesAsked({ connection, sql }: StageState, query: number): Promise<(string | undefined)[]> {
  return (await connection.rows(sql('types_asked'), { query })).map((row) => textOrUndefined(row['resource_type']));
}

function filterParameters({ resourceType, billingDimension }: QueryFilter): {
  resource_type: string | null;
  billing_dimension: string | null;
} {
  return { resource_type: resourceType ?? null, billing_dimension: billingDimension ?? null };
}
