import type { NextStep } from '../base/next-step.ts';
import type { Card, SpentShare } from '../sinks/index.ts';

/** The words of one alert, before its state is added. */
export interface Words {
  readonly title: string;
  readonly share?: SpentShare | undefined;
  readonly sentences: readonly string[];
  /** Undefined if the next step follows from the kind of the fact. */
  readonly next?: NextStep | undefined;
  readonly fields?: Card['fields'];
  readonly list?: Card['list'];
  readonly warnings?: Card['warnings'];
  /** Whether no hour is known to be complete because nothing can be read. */
  readonly hasNoHours?: boolean;
  /** Of an alert that is over: whether nothing was wrong after all. */
  readonly isNeutral?: boolean;
}
