import { loadConfig } from '../config/index.ts';
import { secondCurrencyOf } from '../currency/index.ts';
import type { CompletenessState } from '../reports/formats/index.ts';
import { inCurrency, isConvertible } from '../reports/publishing/index.ts';
import type { ParameterValue } from '../reports/questions/index.ts';
import type { Books } from '../warehouse/integrity/index.ts';
import type { ChildContext } from './context.ts';

/** The books that an answer is from, and its parameters. */
interface OpenedAnswer {
  readonly books: Books;
  readonly state: CompletenessState;
  readonly asOf: number | undefined;
  readonly values: readonly ParameterValue[];
}

/**
 * Adds the second currency to an answer, unless `--currency none` leaves it out. Says so if the month was closed without a rate.
 * Throws UsageError with every mistake in the file of rates.
 */
export async function answerInCurrency(
  { currency: isLeftOut }: { readonly currency: 'none' | undefined },
  { dir, env, effects, tell }: Pick<ChildContext, 'dir' | 'env' | 'effects' | 'tell'>,
  answer: Parameters<typeof inCurrency>[1],
  { books: { connection }, state, asOf, values }: OpenedAnswer,
): ReturnType<typeof inCurrency> {
  const isAsked = isLeftOut === undefined && isConvertible(answer.report, answer.columns);
  if (!isAsked) return { ...answer, currency: undefined };
  const settings = loadConfig({ dir, env, now: effects.now(), requireAccounts: false }).currency;
  const second = await secondCurrencyOf(settings, { connection, dir, asOf, isClose: state.closedAt !== null });
  if (settings !== undefined && second === undefined) {
    tell(
      `note: no amounts in ${settings.code}: the month was closed without a rate, and a closed month stays as it is`,
    );
  }
  return inCurrency(connection, answer, second, values);
}
