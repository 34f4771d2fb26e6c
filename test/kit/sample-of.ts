import type { Random } from './random.ts';

/** Groups that a sample has to touch. */
export interface Coverage<T> {
  /** Each names the group that an item belongs to: its kind, its operation, … Every group of each is touched. */
  readonly by: readonly ((item: T) => string)[];
  /** Items of every group, or all of it where it has fewer; default 1. */
  readonly atLeast?: number;
}

/** Random items, in their order, that touch every group so often. Which items are left out is random. */
export function coveringSample<T>(random: Random, items: readonly T[], { by, atLeast = 1 }: Coverage<T>): T[] {
  const groups = by.map(() => new Map<string, number>());
  const isTaken = new Set<number>();
  for (const place of random.shuffled(items.map((_item, index) => index))) {
    const keys = by.map((groupOf) => groupOf(items[place] as T));
    if (keys.every((key, index) => (groups[index]?.get(key) ?? 0) >= atLeast)) continue;
    isTaken.add(place);
    for (const [index, key] of keys.entries()) groups[index]?.set(key, (groups[index]?.get(key) ?? 0) + 1);
  }
  return items.filter((_item, index) => isTaken.has(index));
}
