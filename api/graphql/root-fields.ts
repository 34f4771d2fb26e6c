import { Kind, type FieldNode, type FragmentDefinitionNode, type SelectionNode, type SelectionSetNode } from 'graphql';

/**
 * The fields of a selection, with fragments expanded. Of a validated document: its fragments exist and do not contain themselves.
 * @param isSelected for `@skip` and `@include`; without it, what these leave out counts as well
 */
export function rootFields(
  { selections }: SelectionSetNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
  isSelected: (node: SelectionNode) => boolean = () => true,
): FieldNode[] {
  return selections.filter(isSelected).flatMap((node): FieldNode[] => {
    if (node.kind === Kind.FIELD) return [node];
    const { selectionSet } = node.kind === Kind.INLINE_FRAGMENT ? node : (fragments[node.name.value] ?? {});
    return selectionSet ? rootFields(selectionSet, fragments, isSelected) : [];
  });
}
