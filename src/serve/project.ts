import type { LocalConfig } from '../config/index.ts';
import type { ChildWork } from './child-work.ts';

/** The project that a dashboard shows, besides its books. */
export interface Project {
  /** Its folder, absolute. */
  readonly dir: string;
  /** The configuration as it is now. Throws UsageError with its mistakes. */
  config(): LocalConfig;
  /** Work in child processes. */
  readonly work: ChildWork;
}
