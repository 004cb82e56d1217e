/** Keeps the newest entries of a map, `max` at most. */
export function remember<Value>(memory: Map<string, Value>, key: string, value: Value, max: number): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size <= max) return;
  for (const oldest of memory.keys()) {
    memory.delete(oldest);
    break;
  }
}

/** Lists of values by key, in their order. */
export function groupBy<Value, Key>(values: readonly Value[], keyOf: (value: Value) => Key): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
