/** What a digest tells: a stretch of time against the one before it. */
export interface Digest {
  /** `weekly/2026-W47`. */
  readonly name: string;
  readonly title: string;
  /** As plain text. */
  readonly text: string;
}
