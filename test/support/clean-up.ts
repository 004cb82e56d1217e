type CleanUp = () => unknown;

const ofFile: CleanUp[] = [];
const ofTest: CleanUp[] = [];

/**
 * Does this after the last test of the file that runs, before what was to be done earlier. A module of `test/support` is
 * loaded once for many files: an `afterAll` of its own would count for the first of them only.
 */
export function afterFile(cleanUp: CleanUp): void {
  ofFile.push(cleanUp);
}

/** As `afterFile`, after the test that runs. */
export function afterTest(cleanUp: CleanUp): void {
  ofTest.push(cleanUp);
}

/** Does what the file that ends has asked for. */
export function cleanUpFile(): Promise<void> {
  return cleanUp(ofFile);
}

/** Does what the test that ends has asked for. */
export function cleanUpTest(): Promise<void> {
  return cleanUp(ofTest);
}

async function cleanUp(all: CleanUp[]): Promise<void> {
  const failed: unknown[] = [];
  for (let next = all.pop(); next !== undefined; next = all.pop()) {
    try {
      await next();
    } catch (error) {
      failed.push(error); // the others are done all the same
    }
  }
  if (failed.length > 0) throw failed[0];
}
