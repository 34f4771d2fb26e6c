import fc from 'fast-check';
import type { ScimRequest } from './scim-exchange.ts';
import type { FilterOf } from './scim-filters.ts';
import { withValue } from './scim-user-operations.ts';

const numbers = fc.constantFrom<number | 'x' | undefined>(undefined, undefined, 1, 2, 3, 0, -3, 500, 'x');

/** Lists and searches. @param hidden an attribute that requests may leave out */
export function lists(path: '/Users' | '/Groups', filters: fc.Arbitrary<FilterOf>, hidden: string) {
  const query = fc.tuple(fc.option(filters), numbers, numbers, fc.boolean(), fc.boolean());
  return query.map(([filterOf, startIndex, count, isHidden, isSearch]): ScimRequest => (model) => {
    const filter = filterOf?.(model);
    const given = { filter: filter?.text, startIndex, count, excludedAttributes: isHidden ? hidden : undefined };
    const entries = Object.entries(given).filter(([, value]) => value !== undefined);
    const request = isSearch
      ? { method: 'POST', path: `${path}/.search`, body: Object.fromEntries(entries) }
      : {
          method: 'GET',
          path: `${path}?${new URLSearchParams(entries.map(([name, value]) => [name, String(value)]))}`,
        };
    if (startIndex === 'x' || count === 'x') return { ...request, status: 400 };
    if (filter && !filter.finds) return { ...request, status: 400, scimType: 'invalidFilter' };
    const all =
      path === '/Users'
        ? [...model.users.values()].map((user) => model.shownUser(user))
        : [...model.groups.values()].map((group) => model.shownGroup(group));
    const found = all.filter((document) => filter?.finds?.(document) ?? true);
    const first = Math.max(1, startIndex ?? 1);
    const resources = found.slice(first - 1, first - 1 + Math.max(0, count ?? 100));
    const shown = resources.map((document) => (isHidden ? withValue(document, hidden, undefined) : document));
    return { ...request, status: 200, page: { total: found.length, startIndex: first, resources: shown } };
  });
}
