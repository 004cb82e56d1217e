import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const isTestFile = /\.(test|spec)\.[cm]?[jt]sx?$/;
const mark = /^\/\/ Second tier(?:, long)?: (.*)\n/;

/**
 * Every test file below `test`, as a path from the root, sorted. A file of the second tier has the reason that its
 * first line gives (`// Second tier: Waits for minutes.`); a file of the first tier has none.
 */
export function testFiles(root: string): Map<string, string | undefined> {
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => isTestFile.test(name))
    .map((name) => join('test', name))
    .sort();
  return new Map(files.map((file) => [file, mark.exec(readFileSync(join(root, file), 'utf8'))?.[1]]));
}

/** The test files that draw cases from the seed of the run. */
export function drawingFiles(root: string): string[] {
  const drawing = /inject\('seed'\)|support\/(fast-check|rounds)\.ts'/;
  return [...testFiles(root).keys()].filter((file) => drawing.test(readFileSync(join(root, file), 'utf8')));
}

/** Files that say `// First tier, long: …`, or `// Second tier, long: …`: they take minutes in few lines. */
const longMark = /^\/\/ \w+ tier, long: /;

/** Starts long files first: Vitest takes the largest for the longest. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => longMark.test(readFileSync(moduleId, 'utf8'));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
