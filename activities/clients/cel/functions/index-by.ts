import { meter } from '../meter.ts';

/** `indexBy(list, key)`: the items of a list by a field of theirs that is a text; items without it are left out, the last of a key stays. */
export function indexBy(list: readonly unknown[], key: string): Map<string, unknown> {
  const indexed = new Map<string, unknown>();
  for (const item of list) {
    meter.step();
    const name: unknown = item instanceof Map ? item.get(key) : undefined;
    if (typeof name === 'string') indexed.set(name, item);
  }
  return indexed;
}
