/** What Spark printed, as far as it says why a statement failed. */
const maxWords = 600;

/**
 * The words of a failure: the error with a name in brackets, as Spark writes its own, or else the last cause, or the last
 * line. Stack traces and the log are left out.
 */
export function failureWords(printed: string): string {
  const lines = printed
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !isNoise(line));
  const named = lines.find((line) => /\[[A-Z][A-Z0-9_.]{4,}\]/.test(line));
  const cause = lines.findLast((line) => /^(Caused by: )?[\w.$]+(Exception|Error): \S/.test(line));
  const words = named ?? cause ?? lines.at(-1) ?? 'it printed nothing';
  const plain = words
    .replace(/^Caused by: /, '')
    .replace(/^Exception in thread "[^"]*" /, '')
    .replace(/^Error in query: /, '')
    .replace(/^(?:[a-z]\w*\.)+[\w$]+(?:Exception|Error): /, '');
  return plain.length > maxWords ? `${plain.slice(0, maxWords)}…` : plain;
}

/** A line of a stack trace, of the log below errors, or of the progress bar. */
function isNoise(line: string): boolean {
  return (
    /^at [\w.$/]+[(.]|^\.\.\. \d+ more|^Setting default log level|^To adjust logging level|^\[Stage \d/.test(line) ||
    /^\d{2}\/\d{2}\/\d{2} \d{2}:\d{2}:\d{2} (INFO|WARN|DEBUG|TRACE)/.test(line)
  );
}

/** Whether the failure is in the statement or in what it names, and not in the machines. */
export function isRefused(printed: string): boolean {
  return /AnalysisException|ParseException|\[(PARSE_SYNTAX_ERROR|TABLE_OR_VIEW_NOT_FOUND|UNRESOLVED_|PATH_NOT_FOUND|DATATYPE_MISMATCH)/.test(
    printed,
  );
}

/** The newest progress in what Spark printed: the stage, and how many of its tasks are done. */
export function progressWords(printed: string): string | undefined {
  const [, stage, done, all] = [...printed.matchAll(/\[Stage (\d+):[^(]*\((\d+) \+ \d+\) \/ (\d+)\]/g)].at(-1) ?? [];
  return stage === undefined ? undefined : `stage ${stage} of the cluster, ${done} of ${all} tasks done`;
}
