import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { allocationFile, loadAllocation } from '../allocation/index.ts';
import { type AnomalyRules, exclusionWords, hasExpired, loadAnomalyRules } from '../anomalies/index.ts';
import { CostbookError, exitCodes, UsageError } from '../base/errors.ts';
import { act, checkSqlStep } from '../base/next-step.ts';
import { budgetsFile, loadBudgets } from '../budgets/rules/index.ts';
import { alertSinksOf, holidaysOf, type LocalConfig, loadConfig } from '../config/index.ts';
import { areOld, oldAfterDays, readRates } from '../currency/index.ts';
import type { OpenAlert } from '../findings/index.ts';
import type { Job } from '../jobs/index.ts';
import { usd } from '../money/money.ts';
import { runChecks } from '../query/index.ts';
import { readReports } from '../reports/questions/index.ts';
import { secretsOf } from '../sinks/index.ts';
import { counted } from '../text/counted.ts';
import { formatInstant, type Instant } from '../time/time.ts';
import { snapshotFile } from '../warehouse/integrity/index.ts';
import { readChecks } from '../warehouse/ledger/index.ts';
import type { HealthContext } from './context.ts';
import { type Found, fail, faultsIn, ok, warn } from './found.ts';

/** The configuration, with missing settings left out; mistakes throw. */
export function local({ dir, env, effects, keepSecret }: HealthContext): LocalConfig {
  const config = loadConfig({ dir, env, now: effects.now(), requireAccounts: false });
  for (const { settings } of config.sinks) {
    if (settings !== undefined) for (const secret of secretsOf(settings)) keepSecret(secret);
  }
  return config;
}

/** The problems that an ingest would report, one a line. */
export function configuration({ dir, env, effects }: HealthContext): readonly Found[] {
  try {
    const config = loadConfig({ dir, env, now: effects.now(), requireSinks: true });
    holidaysOf(config.calendar, dir);
    const names = config.accounts.map(({ id }) => id ?? '(the only one that the token sees)').join(', ');
    return [ok(`account ${names}, with ${config.sinks.length} sink${config.sinks.length === 1 ? '' : 's'}`)];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return faultsIn(error);
  }
}

/** The file of rates of the second currency, and whether its last rate is old. */
export function currency({ currency }: LocalConfig, { dir, effects }: HealthContext): readonly Found[] {
  if (currency === undefined) return [];
  try {
    const rates = readRates(currency, dir);
    const date = formatInstant(rates.at(-1)?.from ?? 0).slice(0, 10);
    const words = `${counted(rates.length, 'rate')} of ${currency.code}, the last of ${date}`;
    if (!areOld(rates, effects.now())) return [ok(words)];
    return [warn(`${words}, more than ${oldAfterDays} days ago`, act(`add newer rates to ${currency.rates}.`))];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return faultsIn(error);
  }
}

/** Every file in jobs/ that a nightly run reads. */
export async function jobs(
  config: LocalConfig | undefined,
  context: HealthContext,
  readJobs: () => Promise<readonly Job[]>,
  alerts: readonly OpenAlert[],
): Promise<readonly Found[]> {
  const { dir, effects } = context;
  const now = effects.now();
  const found: Found[] = [];
  async function read(what: () => string | Promise<string>): Promise<void> {
    try {
      found.push(ok(await what()));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      found.push(...faultsIn(error));
    }
  }
  await read(async () => {
    const all = await readJobs();
    return `${all.map(({ name }) => name).join(', ')} are valid`;
  });
  await read(() => {
    const sinks = alertSinksOf(config?.sinks ?? []);
    const count = (loadBudgets(budgetsFile(dir), { now, sinks }) ?? []).length;
    return count === 0 ? 'no budgets' : `${count} budget${count === 1 ? '' : 's'}`;
  });
  found.push(...exclusionsFound(dir, now, alerts));
  await read(() => {
    const count = (loadAllocation(allocationFile(dir))?.definition.rules.length ?? 1) - 1; // the default is none
    return count === 0 ? 'no allocation rules' : `${count} allocation rule${count === 1 ? '' : 's'}`;
  });
  return found;
}

/** The exclusions of anomalies that act, and those that have ended. */
function exclusionsFound(dir: string, now: Instant, alerts: readonly OpenAlert[]): readonly Found[] {
  let all: AnomalyRules['exclude'];
  try {
    all = loadAnomalyRules(budgetsFile(dir), undefined).exclude;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return faultsIn(error);
  }
  const ended = all.filter((one) => hasExpired(one, now));
  const count = all.length - ended.length;
  return [
    ...(count === 0
      ? []
      : [ok(`${counted(count, 'exclusion')} from alerts about anomalies ${count === 1 ? 'acts' : 'act'}`)]),
    ...ended.map((one) => {
      const since = alerts.filter(({ formerlyExcluded: by }) => by?.reason === one.reason && by.until === one.until);
      const titles = since
        .map(({ title, formerlyExcluded: by }) =>
          by?.impactSince === undefined ? title : `${title}, of which ${usd(by.impactSince, true)} since it ended`,
        )
        .join('; ');
      return warn(
        `exclusion from alerts about anomalies: ${exclusionWords(one, now)}. Its costs raise alerts again: ${titles === '' ? 'none is open' : titles}`,
        act('if its reason goes on, give it a later day in jobs/budgets.yaml. If not, remove it.'),
      );
    }),
  ];
}

/** Every report and check: its header, and, if there are books, whether DuckDB accepts its SQL. */
export async function sqlFiles({ dir, signal }: HealthContext): Promise<readonly Found[]> {
  const overlay = join(dir, 'sql');
  const [reports, checks] = await Promise.all([readReports(overlay), readChecks(overlay)]);
  const all = [...reports.map((report) => ({ ...report, severity: 'fail' as const })), ...checks];
  const tried = await triedInBooks(dir, all, signal);
  const problems = tried ?? all.flatMap(({ name, problem }) => (problem === undefined ? [] : [{ name, problem }]));
  if (problems.length > 0) {
    const isCheck = (name: string) => checks.some((one) => one.name === name);
    return problems.map(({ name, problem }) =>
      fail(
        exitCodes.usage,
        problem,
        isCheck(name) ? checkSqlStep([name]) : act('correct it, or move it away; the others work.'),
      ),
    );
  }
  const depth =
    tried === undefined ? ' (only headers checked: there are no books of this version to run their SQL on)' : '';
  return [ok(`${reports.length} reports and ${checks.length} checks are valid${depth}`)];
}

/** The SQL errors that DuckDB reports; undefined if no books can be read, which is a finding of its own. */
async function triedInBooks(
  dir: string,
  all: Parameters<typeof runChecks>[1],
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly problem: string }[] | undefined> {
  if ((await stat(snapshotFile(dir)).catch(() => undefined)) === undefined) return undefined;
  try {
    const results = await runChecks(dir, all, { isDry: true, signal });
    return results.flatMap(({ check: { name }, error }) =>
      error === undefined ? [] : [{ name, problem: error.message }],
    );
  } catch (error) {
    if (!(error instanceof CostbookError)) throw error;
    return undefined;
  }
}
