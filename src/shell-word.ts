/** A text as one word of a POSIX shell's command line: quoted where it needs to be. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./*-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
