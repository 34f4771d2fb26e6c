import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { searchAttributes, type SearchValues } from './search-attributes.ts';

/** Search attributes in the form the SDK takes. */
export function searchPairs(values: SearchValues): SearchAttributePair[] {
  return Object.entries(values).map(([name, value]) => {
    const key = defineSearchAttributeKey(name, searchAttributes[name as keyof SearchValues]);
    return { key, value: Array.isArray(value) ? [...value] : value } as SearchAttributePair;
  });
}
