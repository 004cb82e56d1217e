const maxAccountIdLength = 200;

/**
 * What is wrong with a text that should be an account ID, without the text itself; undefined if it is fine. An ID
 * becomes part of a request's path (4.6), where `.` and `..` lead elsewhere, however they are encoded.
 */
export function accountIdFault(id: string): string | undefined {
  if (id === '') return 'nothing';
  if (id.length > maxAccountIdLength) return `${id.length} characters, more than ${maxAccountIdLength}`;
  if (/[\p{Cc}\p{Cs}]/u.test(id)) return 'a control character';
  return id === '.' || id === '..' ? 'a step in a path' : undefined;
}
