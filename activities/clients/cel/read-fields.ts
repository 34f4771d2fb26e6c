import { callOf, childrenOf, comprehensionOf, type LibraryNode } from './library-node.ts';

/**
 * Variables and fields that an expression reads, as the longest paths that are known without evaluation: `object.status`.
 * @param variables of the environment
 */
export function readFields(root: LibraryNode, variables: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  collect(root, variables, found);
  return [...found].toSorted();
}

function collect(node: LibraryNode, visible: ReadonlySet<string>, found: Set<string>): void {
  const path = pathOf(node, visible);
  if (path !== undefined) {
    found.add(path);
    return;
  }
  const call = callOf(node);
  const hidden = call === undefined ? undefined : boundName(node);
  if (call === undefined || hidden === undefined) {
    for (const child of childrenOf(node)) collect(child, visible, found);
    return;
  }
  if (call.receiver !== undefined) collect(call.receiver, visible, found);
  const isBind = call.name === 'bind';
  const inner = new Set([...visible].filter((name) => name !== hidden));
  for (const [index, argument] of call.args.entries())
    if (index > 0) collect(argument, isBind && index === 1 ? visible : inner, found);
}

/** The variable that a macro declares in its first argument. */
function boundName(node: LibraryNode): string | undefined {
  const comprehension = comprehensionOf(node);
  if (comprehension !== undefined) return comprehension.iterVarName;
  const call = callOf(node);
  const first = call?.args[0];
  return node.meta.macro !== undefined && call !== undefined && call.args.length > 1 && first?.op === 'id'
    ? String(first.args)
    : undefined;
}

function pathOf(node: LibraryNode, visible: ReadonlySet<string>): string | undefined {
  if (node.op === 'id') return visible.has(String(node.args)) ? String(node.args) : undefined;
  if (node.op !== '.' && node.op !== '.?' && node.op !== '[]' && node.op !== '[?]') return undefined;
  const [owner, key] = node.args as [LibraryNode, string | LibraryNode];
  const name =
    typeof key === 'string' ? key : key.op === 'value' && typeof key.args === 'string' ? key.args : undefined;
  const before = pathOf(owner, visible);
  return name === undefined || before === undefined ? undefined : `${before}.${name}`;
}
