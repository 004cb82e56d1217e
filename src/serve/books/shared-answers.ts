/** The viewer is gone: nobody waits for the answer any longer. */
export class ViewerLeftError extends Error {
  override readonly name = 'ViewerLeftError';
}

/** Answers that several viewers may wait for; each is found once. */
export interface SharedAnswers {
  /**
   * The answer to a question, found by `find` unless it is known. If all who wait for it have left, as their signals report,
   * its own signal is aborted and it is forgotten. Throws the reason of `signal`.
   */
  get<T>(question: string, signal: AbortSignal, find: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

interface Answer {
  readonly value: Promise<unknown>;
  readonly work: AbortController;
  waiting: number;
  isFound: boolean;
}

/** Stores at most `maxAnswers`, with at most `maxRows` rows in those that are lists; the oldest are forgotten first. */
export function openSharedAnswers({
  maxAnswers,
  maxRows,
}: {
  readonly maxAnswers: number;
  readonly maxRows: number;
}): SharedAnswers {
  const answers = new Map<string, Answer>();
  const rowCounts = new Map<string, number>();

  // What a viewer makes of an answer takes time of the only thread: others are answered between two of them.
  let turns: Promise<unknown> = Promise.resolve();
  function ownTurn(): Promise<unknown> {
    turns = turns.then(() => new Promise((resolve) => setImmediate(resolve)));
    return turns;
  }

  function forget(question: string): void {
    answers.delete(question);
    rowCounts.delete(question);
  }
  function countRows(question: string, value: unknown): void {
    if (!Array.isArray(value)) return;
    rowCounts.set(question, value.length);
    let stored = [...rowCounts.values()].reduce((sum, count) => sum + count, 0);
    for (const [oldest, count] of rowCounts) {
      if (stored <= maxRows) break;
      stored -= count;
      forget(oldest);
    }
  }
  function start(question: string, find: (signal: AbortSignal) => Promise<unknown>): Answer {
    if (answers.size >= maxAnswers) forget(answers.keys().next().value ?? '');
    const work = new AbortController();
    const answer: Answer = { value: find(work.signal), work, waiting: 0, isFound: false };
    answers.set(question, answer);
    answer.value.then(
      (value) => {
        answer.isFound = true;
        if (answers.get(question) === answer) countRows(question, value);
      },
      () => {
        answer.isFound = true;
        if (answers.get(question) === answer) forget(question);
      },
    );
    return answer;
  }

  return {
    async get<T>(question: string, signal: AbortSignal, find: (signal: AbortSignal) => Promise<T>): Promise<T> {
      signal.throwIfAborted();
      const answer = answers.get(question) ?? start(question, find);
      answer.waiting += 1;
      let leave = (): void => undefined;
      const left = new Promise<never>((_, reject) => {
        leave = () => reject(signal.reason);
      });
      signal.addEventListener('abort', leave, { once: true });
      try {
        const value = (await Promise.race([answer.value, left])) as T;
        await ownTurn();
        return value;
      } finally {
        signal.removeEventListener('abort', leave);
        answer.waiting -= 1;
        if (answer.waiting === 0 && !answer.isFound) {
          if (answers.get(question) === answer) forget(question);
          answer.work.abort(new ViewerLeftError('nobody waits for this answer'));
        }
      }
    },
  };
}
