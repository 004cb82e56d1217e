import { type Given, itemsOf, type Problems, parseText, type ReadText } from './yaml.ts';

/** The cluster that runs reports over the lake. */
export interface EngineSettings {
  /** The program and its arguments; `{file}` is the file with the statements. */
  readonly command: readonly string[];
  /** The lake as the cluster reaches it: a folder, relative to the project folder, or an address such as s3://… */
  readonly lake: string;
}

/** Stands for the file with the statements. */
export const engineFile = '{file}';

const expected = 'a list such as [spark-sql, --master, "spark://spark.example.com:7077", -f, "{file}"]';

/** Reads the keys of `engine`; mistakes are reported. */
export function readEngine(
  { command, lake }: Readonly<Record<'command' | 'lake', Given | undefined>>,
  read: ReadText,
  problems: Problems,
): EngineSettings | undefined {
  const folder = read(lake, (value) => parseText(value, 1000)) ?? 'exports/lake';
  if (command === undefined) {
    if (lake !== undefined)
      problems.report(lake, 'found lake without command, expected both; write command or remove lake');
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
  return { command: words, lake: folder };
}
