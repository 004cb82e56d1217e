/** The lines of a text, to be written one by one. */
export function linesOf(text: string): readonly string[] {
  return text.split('\n');
}
