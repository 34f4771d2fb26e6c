import { callOf, childrenOf, comprehensionOf, type LibraryNode } from './library-node.ts';

/** Whether a part was written as a macro: `all`, `exists`, `exists_one`, `filter`, `map`, `has`, `cel.bind`, `optMap` and the like. */
export function isMacro(node: LibraryNode): boolean {
  return callOf(node) !== undefined && (node.meta.macro !== undefined || comprehensionOf(node) !== undefined);
}

/** Characters of a macro that a message quotes. */
const maxQuoted = 80;

/** A message with the macro in which the problem is, as it is written (`workflows.cel.macrocalltracking`). */
export function inMacro(message: string, macro: LibraryNode | undefined, expression: string): string {
  if (macro === undefined) return message;
  const written = expression.slice(macro.start, macro.end);
  return `${message} In: ${written.length > maxQuoted ? `${written.slice(0, maxQuoted)}…` : written}`;
}

/** Levels of comprehensions within the bodies of others. The list that a comprehension visits is not in its body. */
export function comprehensionDepth(node: LibraryNode): number {
  const call = callOf(node);
  if (comprehensionOf(node) === undefined || call === undefined) return deepest(childrenOf(node));
  const outside = call.receiver === undefined ? 0 : comprehensionDepth(call.receiver);
  return Math.max(outside, 1 + deepest(call.args));
}

function deepest(nodes: readonly LibraryNode[]): number {
  return nodes.reduce((most, node) => Math.max(most, comprehensionDepth(node)), 0);
}
