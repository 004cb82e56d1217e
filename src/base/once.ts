/** A value that is made when it is first asked for: what takes long to make or to load, and what short commands never need. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
