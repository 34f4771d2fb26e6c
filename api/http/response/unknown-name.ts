import { didYouMean } from '#entities/kit/base/did-you-mean.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { searchRemedy } from './address-elsewhere.ts';

/** Up to this number of known names are listed. */
const maxListed = 40;

/** Names of parameters of lists and fields in other APIs. */
const namesElsewhere: Readonly<Record<string, readonly string[]>> = {
  first: ['limit', 'page_size', 'per_page'],
  after: ['page', 'offset', 'cursor', 'page_token'],
  order_by: ['sort', 'sort_by', 'order'],
  recipient: ['email'],
  username: ['email'],
};

/** Parameters with which texts are searched elsewhere. */
const searchNames = new Set(['q', 'query', 'search', 'search_text', 'keyword']);

/** Whether a name stands for a search, in the query of a list. */
function isSearch(name: string, known: readonly string[]): boolean {
  return searchNames.has(name) && known.includes('order_by') && known.includes('first');
}

/** The filter that is meant by the form of another product: `due_at_gte`, `due_at__gte`, or the beginning of `due_at>=…`. */
function filterElsewhere(name: string, known: readonly string[]): string | undefined {
  const [, field, compared = ''] = /^(\w+?)([<>])$/.exec(name) ?? [];
  if (field !== undefined) {
    const filter = `${field}[${compared === '>' ? 'gte' : 'lte'}]`;
    return known.includes(filter) ? filter : undefined;
  }
  return known.find((one) => {
    const [, of = '', operator = ''] = filterPattern.exec(one) ?? [];
    return of !== '' && [`${of}_${operator}`, `${of}__${operator}`].includes(name);
  });
}

/** `name[operator]`, a filter of a list. */
export const filterPattern = /^(\w+)\[(\w*)\]$/;

/**
 * The message for a name that an input does not have.
 * @param known names that it has
 * @param sent names that were sent: others are more likely to be meant
 */
export function unknownName(name: string, known: Iterable<string>, sent: readonly string[] = []): string {
  const names = [...known];
  const [, field, operator = ''] = filterPattern.exec(name) ?? [];
  const operators = names.flatMap((one) => {
    const [, of, its] = filterPattern.exec(one) ?? [];
    return of === field && its !== undefined ? [its] : [];
  });
  if (operators.length > 0)
    return `has no operator "${shortened(operator)}"; its operators are ${operators.toSorted().join(', ')}`;
  const meantFilter = filterElsewhere(name, names);
  if (meantFilter !== undefined) return `is not a known field; did you mean "${meantFilter}"?`;
  const plain = names.filter((one) => !filterPattern.test(one));
  if (isSearch(name, plain))
    return `is not a known field${plain.includes('search') ? '; did you mean "search"?' : `: ${searchRemedy}`}`;
  const nearest = (of: readonly string[]) =>
    didYouMean(field ?? name, of) ?? of.find((one) => namesElsewhere[one]?.includes(name));
  const near = nearest(plain.filter((one) => !sent.includes(one))) ?? nearest(plain);
  const target = plain.find((one) => one === 'target_organization_id');
  if (target === undefined && (name === 'organization_id' || name === 'organizationId'))
    return 'is not a known field: requests concern the organization in which you act; POST /v1/switch acts in another one';
  const meant = target !== undefined && name === 'organization_id' ? target : near;
  if (meant !== undefined) return `is not a known field; did you mean "${meant}"?`;
  const isListed = plain.length > 0 && plain.length <= maxListed;
  return `is not a known field${isListed ? `; known are ${plain.toSorted().join(', ')}` : ''}`;
}
