import { Kind, type FieldNode, type FragmentDefinitionNode, type SelectionNode, type SelectionSetNode } from 'graphql';

/**
 * The fields of a selection, with fragments expanded. Of a validated document: its fragments exist and do not contain themselves. A
 * fragment is counted once, however often it stands there: its fields would merge with themselves, and fragments that contain the next one
 * twice would take forever.
 * @param isSelected for `@skip` and `@include`; without it, the fields that these leave out are counted as well
 */
export function rootFields(
  selectionSet: SelectionSetNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
  isSelected: (node: SelectionNode) => boolean = () => true,
  visited = new Set<string>(),
): FieldNode[] {
  return selectionSet.selections.filter(isSelected).flatMap((node): FieldNode[] => {
    if (node.kind === Kind.FIELD) return [node];
    if (node.kind === Kind.INLINE_FRAGMENT) return rootFields(node.selectionSet, fragments, isSelected, visited);
    const name = node.name.value;
    const fragment = fragments[name];
    if (!fragment || visited.has(name)) return [];
    visited.add(name);
    return rootFields(fragment.selectionSet, fragments, isSelected, visited);
  });
}
