import type { LocalConfig } from '../config/index.ts';
import type { Status } from '../health/index.ts';
import type { ChildWork } from './child-work.ts';
import type { ViewFile } from './views.ts';

/** The project that a dashboard shows, besides its books. */
export interface Project {
  /** Its folder, absolute. */
  readonly dir: string;
  /** The configuration as it is now. Throws UsageError with its mistakes. */
  config(): LocalConfig;
  /** Its status now: the problems are those of every other list. */
  status(): Promise<Status>;
  /** The named views in its folder as it is now. */
  views(): Promise<readonly ViewFile[]>;
  /** Work in child processes. */
  readonly work: ChildWork;
}
