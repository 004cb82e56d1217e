import { describe, expect, test } from 'vitest';
import { failureWords, isRefused, progressWords } from '../../src/engine/cluster-words.ts';

const refused = `Setting default log level to "WARN".
26/11/23 07:05:07 WARN NativeCodeLoader: Unable to load native-hadoop library
[Stage 0:>                                                          (0 + 1) / 1]\r
[TABLE_OR_VIEW_NOT_FOUND] The table or view \`costs\` cannot be found. Verify the spelling; line 4 pos 5;
'Project [unresolvedalias('count(1), None)]
+- 'UnresolvedRelation [costs], [], false
\tat org.apache.spark.sql.catalyst.analysis.package$AnalysisErrorAt.tableNotFound(package.scala:87)
`;

const lost = `26/11/23 07:05:07 WARN TaskSetManager: Lost task 0.0 in stage 3.0
Exception in thread "main" org.apache.spark.SparkException: Job aborted due to stage failure
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2856)
\t... 42 more
Caused by: java.io.IOException: No space left on device
\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)
`;

describe('what a cluster printed', () => {
  test('is told by its named error, without the plan and the stack trace', () => {
    expect(failureWords(refused)).toBe(
      '[TABLE_OR_VIEW_NOT_FOUND] The table or view `costs` cannot be found. Verify the spelling; line 4 pos 5;',
    );
    expect(isRefused(refused)).toBe(true);
  });

  test('is told by the last cause, if no error has a name', () => {
    expect(failureWords(lost)).toBe('No space left on device');
    expect(isRefused(lost)).toBe(false);
  });

  test('is told by its last line, if it is of another program', () => {
    expect(failureWords('connecting\nssh: no route to host\n')).toBe('ssh: no route to host');
    expect(failureWords('')).toBe('it printed nothing');
  });

  test('is cut if it is long', () => {
    expect(failureWords(`[INTERNAL_ERROR] ${'x'.repeat(5000)}`)).toHaveLength(601);
  });

  test('says how far it is', () => {
    const printed = '[Stage 3:==>   (1 + 2) / 8]\r[Stage 3:====>  (5 + 2) / 8]\r';
    expect(progressWords(printed)).toBe('stage 3 of the cluster, 5 of 8 tasks done');
    expect(progressWords('WARN nothing')).toBeUndefined();
  });
});
