/** A count with its noun: `1 window`, `2 windows`; `many` is an irregular plural. */
export function counted(count: number, noun: string, many = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : many}`;
}

/** How often: `once`, `2 times`. */
export function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** Names in a sentence: `a, b and c`. */
export function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
