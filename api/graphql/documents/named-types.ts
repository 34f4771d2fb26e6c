import { visit, type InlineFragmentNode } from 'graphql';
import type { SelectionInfo } from '../single-statement-query.ts';

/** Names of all types on which fragments are written, those of the operation's named fragments included. */
export function namedTypes({ fragments, fieldNodes }: SelectionInfo): ReadonlySet<string> {
  const names = new Set(Object.values(fragments).map(({ typeCondition }) => typeCondition.name.value));
  const visitor = {
    InlineFragment: ({ typeCondition }: InlineFragmentNode) => {
      if (typeCondition) names.add(typeCondition.name.value);
    },
  };
  for (const node of [...fieldNodes, ...Object.values(fragments)]) visit(node, visitor);
  return names;
}
