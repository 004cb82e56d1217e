import { mailAddresses } from '../sinks/index.ts';
import { exportFormats } from '../tables/file-formats.ts';
import { oneOf, quoted } from '../text/choices.ts';
import { choice, type Given, givenAt, mapping, named, oneOrMore, parseText, rule, single, z } from '../yaml/index.ts';
import { type Reading, readSetting } from './environment-and-file.ts';
import type { Sink } from './sink-settings.ts';

/** How often a subscription is sent: for each day, week or month that is complete, or for each month that is closed. */
export type SubscriptionPeriod = (typeof subscriptionPeriods)[number];
const subscriptionPeriods = ['day', 'week', 'month', 'close'] as const;

/** Files that people get by mail, once a period. */
export interface Subscription {
  readonly name: string;
  readonly to: readonly string[];
  readonly every: SubscriptionPeriod;
  /** The sink of type email whose server and sender it uses; undefined if that is not known. */
  readonly sink: string | undefined;
  /** What is sent: the step of a job that writes it. */
  readonly step: 'report' | 'statement';
  /** The options of that step, as in a job, but for its period. */
  readonly options: Readonly<Record<string, string | readonly string[]>>;
}

const text = single((value) => parseText(value, 500));
const expectedReport = 'such as { name: chargeback_summary, format: xlsx }';

const reportShape = mapping(
  {
    name: text,
    format: z.optional(oneOrMore(choice(exportFormats), 'formats such as [xlsx, csv]')),
    param: z.optional(named(text, 'parameters of the report, such as { workspace: north }')),
  },
  { expected: `a report ${expectedReport}`, needed: { name: `the name of a report, ${expectedReport}` } },
);

const statementShape = mapping(
  {
    owner: z.optional(text),
    by: z.optional(text),
    format: z.optional(oneOrMore(choice(['html', 'xlsx']), 'formats such as [html, xlsx]')),
  },
  { expected: 'a statement such as { owner: payments }' },
);

const subscriptionShape = mapping(
  {
    to: mailAddresses,
    every: z._default(choice(subscriptionPeriods), 'month'),
    sink: z.optional(text),
    report: z.optional(reportShape),
    statement: z.optional(statementShape),
  },
  {
    expected: 'a subscription such as { to: lead@example.com, statement: { owner: payments } }',
    needed: { to: 'addresses such as lead@example.com' },
  },
).check(
  rule((given, report) => {
    if ('report' in given === 'statement' in given)
      report('expected exactly one of report: { name: chargeback_summary } and statement: { owner: payments }');
    if ('statement' in given && (given.every === 'day' || given.every === 'week'))
      report('a statement is about a month: expected every: month or every: close', 'every');
  }),
);

/** What `subscriptions` may have. */
export const subscriptionsShape = named(
  subscriptionShape,
  'subscriptions by name, such as payments: { to: lead@example.com, statement: { owner: payments } }',
).check(
  rule((given, report) => {
    for (const name of Object.keys(given))
      if (!/^[a-z0-9][a-z0-9-]{0,59}$/.test(name))
        report(`found the name ${quoted(name)}, expected lowercase letters, digits and -`, name);
  }),
);

/**
 * Reads the subscriptions; undefined with mistakes, which are reported. Each needs a sink of type email, which may be the only
 * one.
 */
export function readSubscriptions(
  given: Given | undefined,
  sinks: readonly Sink[],
  reading: Reading,
): readonly Subscription[] | undefined {
  if (given === undefined) return [];
  const mails = sinks.filter(({ type }) => type === 'email').map(({ name }) => name);
  const all = readSetting(given, subscriptionsShape, reading);
  if (all === undefined) return undefined;
  const read = Object.entries(all).map(
    ([name, { to, every, sink = mails.length === 1 ? mails[0] : undefined, report, statement }]) => {
      const options = optionsOf({ ...(report ?? statement) });
      return { name, to, every, sink, step: report === undefined ? 'statement' : 'report', options } as const;
    },
  );
  const strays = read.filter(({ sink }) => sink === undefined || !mails.includes(sink));
  for (const { name, sink } of strays) {
    const found = sink === undefined ? 'no sink' : `the sink ${quoted(sink)}`;
    const expected = mails.length === 0 ? 'there is none: add one below sinks' : oneOf(mails);
    const at = givenAt(given, sink === undefined ? [name] : [name, 'sink']);
    reading.problems.report(at, `found ${found}, expected sink: with a sink of type email, ${expected}`);
  }
  return strays.length > 0 ? undefined : read;
}

/** The options of a step as on a command line: parameters as `name=value`, formats with commas. */
function optionsOf({
  param = {},
  format,
  ...others
}: {
  readonly [option: string]: unknown;
  readonly format?: readonly string[] | undefined;
  readonly param?: Readonly<Record<string, string>> | undefined;
}): Subscription['options'] {
  const pairs = Object.entries(param).map(([name, value]) => `${name}=${value}`);
  const all = { ...others, format: format?.join(','), param: pairs.length === 0 ? undefined : pairs };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Subscription['options'];
}
