import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the checkout. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A fenced block of a page. */
export interface Block {
  /** `sh` is run, `text` is what the line above it prints, `yaml` and `sql` may be files of the reader's project. */
  readonly kind: string;
  /** The file that the reader writes with it, relative to the project folder. */
  readonly file: string | undefined;
  readonly text: string;
  /** The line of the page on which it starts. */
  readonly line: number;
  /** The offset of its text in the page. */
  readonly at: number;
}

export interface Page {
  /** Relative to the checkout: `docs/budgets.md`. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

export function readPage(path: string): Page {
  const text = readFileSync(join(root, path), 'utf8');
  const blocks = [...text.matchAll(/^```(\w*) ?(\S*)\n([\s\S]*?)^```$/gm)].map((match): Block => {
    const [whole, kind = '', named = '', body = ''] = match;
    const [, first] = /^# ([\w./]+\.yaml)\b.*\n/.exec(body) ?? [];
    return {
      kind,
      file: named || (kind === 'yaml' ? first : undefined),
      text: body,
      line: text.slice(0, match.index).split('\n').length,
      at: match.index + whole.indexOf('\n') + 1,
    };
  });
  return { path, text, blocks };
}

/** Relative links of a page: the file, relative to the checkout, and the anchor in it. */
export function linksOf({ path, text }: Page): { readonly file: string; readonly anchor: string | undefined }[] {
  return [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([, file = '', anchor]) => ({
    file: file === '' ? path : normalize(join(dirname(path), file)),
    anchor,
  }));
}

/** Anchors of a page's headings, as GitHub makes them. */
export function anchorsOf({ text }: Page): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** README and all pages below docs, in the order in which the map names them; those that it does not name come last. */
export function readPages(): Page[] {
  const map = readPage('docs/README.md');
  const mapped = linksOf(map).flatMap(({ file }) =>
    /^docs\/.*\.md$/.test(file) && existsSync(join(root, file)) ? [file] : [],
  );
  const present = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).flatMap((file) =>
    file.endsWith('.md') ? [join('docs', file)] : [],
  );
  return [...new Set(['README.md', 'docs/README.md', ...mapped, ...present.sort()])].map(readPage);
}

/** Lines of shell in a page without their comments, each with the exit code that its comment announces. */
export function shellLines({
  text,
}: Block): { readonly typed: string; readonly index: number; readonly exit: number }[] {
  return text.split('\n').flatMap((raw, index) => {
    const [, typed = '', comment = ''] = /^(.*?)(?:(?:^| +)# (.*))?$/.exec(raw) ?? [];
    return typed.trim() === ''
      ? []
      : [{ typed: typed.trim(), index, exit: Number(/\bexit (\d+)/.exec(comment)?.[1] ?? 0) }];
  });
}

/** Lines of shell that no test runs, by their beginning, and why not. */
export const notRun: readonly { readonly line: RegExp; readonly reason: string }[] = [
  { line: /^npm (ci|pack|install)\b/, reason: 'installs packages; test/e2e/package.test.ts installs the packed one' },
  { line: /^npm (test|run)\b/, reason: 'is this test, or a test of its own (demo, docs) or minutes of work (bench)' },
  { line: /^docker\b/, reason: 'no container engine here; test/unit/deploy.test.ts reads the Dockerfile' },
  { line: /^systemctl\b/, reason: 'no service manager here; test/unit/deploy.test.ts reads the units' },
  { line: /^kubectl\b/, reason: 'no cluster here; test/unit/deploy.test.ts reads the manifests' },
  {
    line: /^costbook \w+( \w+)?( --out)? s3:/,
    reason: 'no object store here; test/e2e/storage-commands.test.ts has one',
  },
  { line: /^promtool\b/, reason: 'no Prometheus here; test/unit/deploy.test.ts reads the rules' },
];
