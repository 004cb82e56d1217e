import { counted } from '../../text/counted.ts';
import { forTerminal } from '../../text/safe-text.ts';
import type { Instant } from '../../time/time.ts';
import { readSql } from '../../warehouse/sql/index.ts';
import type { Connection } from '../../warehouse/store/index.ts';

/** A close that was revoked by reopening its month. */
export interface RevokedClose {
  /** `2026-10`. */
  readonly month: string;
  readonly closedAt: Instant;
  readonly reopenedAt: Instant;
  /** Whether the month was closed again since. */
  readonly isClosedAgain: boolean;
}

/** An export that shows numbers of a close which was revoked since. */
export interface RevokedExport {
  /** Its folder, relative to the folder that was searched. */
  readonly folder: string;
  /** The close that it shows; the latest, if there are several. */
  readonly closedAt: string;
  /** The months whose closes were revoked, oldest first. */
  readonly months: readonly string[];
  /** Whether all of these months were closed again since. */
  readonly isClosedAgain: boolean;
  /** The command that writes it again, without `costbook`. */
  readonly command: string;
}

/** All closes that were revoked by reopening their month, in order. */
export async function revokedCloses(connection: Connection): Promise<readonly RevokedClose[]> {
  const rows = await connection.rows(await readSql('closing', 'revoked_closes'));
  return rows.map((row) => ({
    month: String(row['month']),
    closedAt: Number(row['closed_at']),
    reopenedAt: Number(row['reopened_at']),
    isClosedAgain: row['is_closed_again'] === true,
  }));
}

/** What to print about exports that show a revoked close; undefined if there are none. */
export function revokedWords(exports: readonly RevokedExport[]): string | undefined {
  const groups = [exports.filter(({ isClosedAgain }) => isClosedAgain), exports.filter((one) => !one.isClosedAgain)];
  const lines = groups.flatMap((group) => {
    if (group.length === 0) return [];
    const [verb, them] = group.length === 1 ? ['shows', 'it'] : ['show', 'them'];
    const step =
      group[0]?.isClosedAgain === true ? `Write ${them} again:` : `${whenClosed(group)}, write ${them} again:`;
    const commands = [...new Set(group.map(({ command }) => command))];
    return [
      `${counted(group.length, 'export')} ${verb} a revoked close. ${step}`,
      ...commands.map((command) => `  costbook ${forTerminal(command)}`),
    ];
  });
  return lines.length === 0 ? undefined : lines.join('\n');
}

/** `When the month is closed`, for months that are open again. */
function whenClosed(exports: readonly RevokedExport[]): string {
  return new Set(exports.flatMap(({ months }) => months)).size === 1
    ? 'When the month is closed'
    : 'When the months are closed';
}
