import { UsageError } from '../base/errors.ts';
import { quoted } from '../text/choices.ts';
import { type Given, itemsOf, type Parse, type Problems, parseText, type ReadText } from './yaml.ts';

/** The cluster that runs reports over the lake. */
export interface EngineSettings {
  /** The program and its arguments; `{file}` is the file with the statements. */
  readonly command: readonly string[];
  /** The lake as the cluster reaches it: a folder, relative to the project folder, or an address such as s3://… */
  readonly lake: string;
  /** Variables that the command gets besides the usual ones, such as credentials of the object storage. */
  readonly env: readonly string[];
}

/** Stands for the file with the statements. */
export const engineFile = '{file}';

const expected = 'a list such as [spark-sql, --master, "spark://spark.example.com:7077", -f, "{file}"]';

const expectedNames = 'a list of names such as [AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY]';

/** The name of a variable; not its value, and none of Costbook's own. */
const parseVariable: Parse<string> = (value) => {
  const name = parseText(value, 200);
  if (/^[A-Za-z_]\w*$/.test(name) && !name.startsWith('COSTBOOK_')) return name;
  throw new UsageError(
    `found ${quoted(name)}, expected the name of a variable such as AWS_PROFILE, not one of Costbook`,
  );
};

/** Reads the keys of `engine`; mistakes are reported. */
export function readEngine(
  { command, lake, env }: Readonly<Record<'command' | 'lake' | 'env', Given | undefined>>,
  read: ReadText,
  problems: Problems,
): EngineSettings | undefined {
  const folder = read(lake, (value) => parseText(value, 1000)) ?? 'exports/lake';
  if (command === undefined) {
    for (const [name, given] of Object.entries({ lake, env })) {
      if (given !== undefined)
        problems.report(given, `found ${name} without command, expected both; write command or remove ${name}`);
    }
    return undefined;
  }
  const words = (itemsOf(command, expected, problems) ?? []).flatMap((item) => {
    const word = read(item, (value) => parseText(value, 4000));
    return word === undefined ? [] : [word];
  });
  if (!words.some((word) => word.includes(engineFile))) {
    problems.report(
      command,
      `found no word with ${engineFile}, expected ${expected}; add it where the file of statements belongs`,
    );
    return undefined;
  }
  const names = (env === undefined ? [] : (itemsOf(env, expectedNames, problems) ?? [])).flatMap(
    (item) => read(item, parseVariable) ?? [],
  );
  return { command: words, lake: folder, env: names };
}
