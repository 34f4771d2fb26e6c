import type { Fields, ListUse } from '../declared-field.ts';
import type { EntityModule } from '../define.ts';

/** What callers and lists can do with the fields of a kind, by use. @param filtered further names by which lists are filtered */
export function fieldUses(
  fields: Fields,
  filtered: readonly string[],
): Pick<EntityModule, 'expose' | 'filter' | 'order' | 'search' | 'needsProof'> {
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
