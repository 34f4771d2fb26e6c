import type { Exposure, Fields, ListUse } from '../declared-field.ts';

export interface FieldUses {
  /** Fields that callers can read or write, by name; the others are hidden. */
  readonly expose: Readonly<Record<string, Exposure>>;
  /** Fields by which lists are filtered and ordered, besides those of every record. */
  readonly filter: readonly string[];
  readonly order: readonly string[];
  /** Fields whose words lists are searched for; absent: there is no search. */
  readonly search?: readonly string[];
  /** Fields that need a proof of identity, and for which values; absent: none does. */
  readonly needsProof?: Readonly<Record<string, 'any' | readonly string[]>>;
}

/** Names of the fields of a kind by their use. @param filtered further names by which lists are filtered */
export function fieldUses(fields: Fields, filtered: readonly string[]): FieldUses {
  const named = Object.entries(fields);
  const usedTo = (use: ListUse) => named.flatMap(([name, { lists }]) => (lists?.includes(use) ? [name] : []));
  const search = usedTo('search');
  const proven = named.flatMap(([name, { needsProof }]) => (needsProof ? [[name, needsProof] as const] : []));
  return {
    expose: Object.fromEntries(named.flatMap(([name, { exposed }]) => (exposed ? [[name, exposed] as const] : []))),
    filter: [...filtered, ...usedTo('filter')],
    order: usedTo('order'),
    ...(search.length > 0 && { search }),
    ...(proven.length > 0 && { needsProof: Object.fromEntries(proven) }),
  };
}
