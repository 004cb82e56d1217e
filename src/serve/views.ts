import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf, UsageError } from '../base/errors.ts';
import {
  choice,
  gatherProblems,
  mapping,
  named,
  oneOrMore,
  type Parse,
  parseText,
  parseYaml,
  readAs,
  readYamlFile,
  single,
  z,
} from '../yaml/index.ts';
import { menu, type PagePath } from './menu.ts';

/** A page with its parameters under a name, from a file `views/NAME.yaml` of the project. */
export interface NamedView {
  readonly name: string;
  readonly title: string;
  readonly page: PagePath;
  /** What would follow the address of the page. */
  readonly query: URLSearchParams;
}

/** A file in `views` as far as it can be read. */
export type ViewFile = NamedView | { readonly name: string; readonly title: string; readonly problem: string };

/** More are not listed: a menu has an end. */
const maxViews = 30;
export const maxTitle = 60;

// Numbers as they are written: a parameter is text.
const parseParameter: Parse<string> = (value, source) =>
  typeof value === 'number' ? (source ?? String(value)) : parseText(value, 2000);
const parameter = single(parseParameter, { type: ['string', 'number'], minLength: 1 });

/** What the file of a view may have. */
export const viewShape = mapping(
  {
    title: single((value) => parseText(value, maxTitle), { type: 'string', minLength: 1, maxLength: maxTitle }),
    page: z.optional(choice(menu.map(({ path }) => path))),
    parameters: z.optional(
      named(oneOrMore(parameter, 'one or more values'), 'parameters of the page, such as group: workspace'),
    ),
  },
  { expected: 'keys, such as title: …', needed: { title: 'the name in the menu' } },
);

/** Reads a view. Throws one UsageError that lists every mistake, with line and column. */
export function parseView({ text, file }: { readonly text: string; readonly file: string }): NamedView {
  const problems = gatherProblems();
  const { root, isSound } = parseYaml(text, file, problems);
  if (!isSound) problems.throwIfAny();
  const empty = { kind: 'mapping', entries: [] } as const;
  const read = readAs(root.value === null ? { ...root, value: empty } : root, viewShape, problems);
  problems.throwIfAny();
  if (read === undefined) throw new Error(`${file}: not a valid view, for an unknown reason`);
  const { title, page = '/explore', parameters = {} } = read;
  const query = Object.entries(parameters).flatMap(([name, values]) => values.map((value) => [name, value]));
  return { name: basename(file, '.yaml'), title, page, query: new URLSearchParams(query as [string, string][]) };
}

/** Reads the views of a project each time, but each file only once as long as it is the same. */
export function openViews(dir: string): () => Promise<readonly ViewFile[]> {
  const folder = join(dir, 'views');
  let known = new Map<string, ViewFile>();
  return async () => {
    const names = await readdir(folder).catch((): string[] => []); // most projects have none
    const files = names.filter((name) => /^[^.].*\.ya?ml$/i.test(name)).sort();
    const found = await Promise.all(
      files.slice(0, maxViews).map(async (name) => {
        const { size, mtimeMs } = await stat(join(folder, name)).catch(() => ({ size: 0, mtimeMs: 0 }));
        const key = `${name} ${size} ${mtimeMs}`;
        return [key, known.get(key) ?? readView(folder, name)] as const;
      }),
    );
    known = new Map(found);
    return [...known.values()];
  };
}

function readView(folder: string, file: string): ViewFile {
  const name = file.replace(/\.ya?ml$/i, '');
  try {
    if (!/^[a-z0-9][a-z0-9-]{0,59}\.yaml$/.test(file))
      throw new UsageError(`views/${file}: expected a name of lowercase letters, digits and -, and the ending .yaml`);
    return parseView({ text: readYamlFile(join(folder, file)) ?? '', file: join('views', file) });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { name, title: name, problem: messageOf(error) };
  }
}
