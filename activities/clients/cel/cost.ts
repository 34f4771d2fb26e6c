import { comprehensionOf, type LibraryNode } from './library-node.ts';

/**
 * Cost of a visit of one part, in tenths of a unit, near the figures of cel-go. Sizes are charged where they are known: a character 0.1, a
 * step of a comprehension 1, a compared or added item 1, a pattern by its size times that of the text. Costs are only ever added, so an
 * evaluation that does more never costs less. `docs/workflows-cel.md` has the table.
 */
export function visitCost(node: LibraryNode): number {
  switch (node.op) {
    case 'value':
      return 0;
    case 'list':
      return 100;
    case 'map':
      return 300;
    case 'call':
    case 'rcall':
      // A comprehension makes a list, and costs 1 for each step.
      return comprehensionOf(node) === undefined ? 10 : 100;
    default:
      return 10;
  }
}
