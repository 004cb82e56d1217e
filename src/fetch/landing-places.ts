import { join } from 'node:path';
import { foldersIn, loadFolderPattern } from './landing-writer.ts';

/** The folders of all stored loads, relative to the landing folder, with their numbers. */
export async function landingPlaces(root: string): Promise<{ readonly number: number; readonly place: string }[]> {
  const found: { number: number; place: string }[] = [];
  for (const account of await foldersIn(root)) {
    for (const name of await foldersIn(join(root, account))) {
      const number = loadNumberOf(name);
      if (number !== undefined) found.push({ number, place: join(account, name) });
    }
  }
  return found;
}

/** The number of the load in a place; undefined if it is none. */
export function loadNumberOf(place: string): number | undefined {
  const digits = loadFolderPattern.exec(place.slice(place.lastIndexOf('/') + 1))?.[1];
  return digits === undefined ? undefined : Number(digits);
}
