/** A resource with at least this percentage of a difference is its main driver. */
const mainPart = 50;

/** The resource that is most of a difference; undefined if none is. Pure. */
export function mainDriverOf<T extends { readonly part: number }>(drivers: readonly T[]): T | undefined {
  return drivers.find(({ part }) => part >= mainPart);
}
