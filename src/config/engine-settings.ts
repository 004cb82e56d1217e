import { UsageError } from '../base/errors.ts';
import { quoted } from '../text/choices.ts';
import { list, mapping, parseText, rule, single, z } from '../yaml/index.ts';

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

/** The name of a variable; not its value, and none of Costbook's own. */
const variable = single(
  (value) => {
    const name = parseText(value, 200);
    if (/^[A-Za-z_]\w*$/.test(name) && !name.startsWith('COSTBOOK_')) return name;
    throw new UsageError(
      `found ${quoted(name)}, expected the name of a variable such as AWS_PROFILE, not one of Costbook`,
    );
  },
  { type: 'string', pattern: '^(?!COSTBOOK_)[A-Za-z_][A-Za-z0-9_]*$' },
);

const command = list(
  single((value) => parseText(value, 4000)),
  expected,
).check(
  rule((words, report) => {
    if (words.some((word) => word?.includes(engineFile))) return;
    report(`found no word with ${engineFile}, expected ${expected}; add it where the file of statements belongs`);
  }),
);

/** What `engine` may have. */
export const engineShape = mapping(
  {
    command,
    lake: z._default(
      single((value) => parseText(value, 1000)),
      'exports/lake',
    ),
    env: z._default(list(variable, 'a list of names such as [AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY]'), []),
  },
  { expected: 'a key such as lake: exports/lake; write one or remove it', needed: { command: expected } },
);
