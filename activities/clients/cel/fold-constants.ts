import type { PreparedEnvironment } from './environment.ts';
import { callOf, childrenOf, comprehensionOf, type LibraryNode } from './library-node.ts';
import { meter } from './meter.ts';

/**
 * Cost of the evaluation of one constant part; a part that takes more is evaluated each time. Time is no limit: the cost of an expression
 * is the same on every machine.
 */
const foldCost = 1000;

/**
 * Evaluates the largest parts that read no variable once, so that evaluations get their values without cost (`workflows.cel.evaloptimize`).
 * A part that fails is left as it is, since an expression may never reach it.
 */
export function foldConstants(root: LibraryNode, environment: PreparedEnvironment): void {
  const constant: LibraryNode[] = [];
  if (freeNames(root, constant).size === 0) fold(root, environment);
  else for (const node of constant) fold(node, environment);
}

const none: ReadonlySet<string> = new Set();

/** Variables that a part reads and does not declare itself. @param constant receives parts without any, below one that has some */
function freeNames(node: LibraryNode, constant: LibraryNode[]): ReadonlySet<string> {
  if (node.op === 'id') return node.meta.alternate === undefined ? new Set([String(node.args)]) : none;
  const children = childrenOf(node);
  const names = children.map((child) => freeNames(child, constant));
  const declared = declaredName(node);
  const all = new Set(names.flatMap((free) => [...free]).filter((name) => name !== declared));
  if (all.size === 0) return none;
  // The first argument of a macro is a name and no part that is evaluated.
  for (const [index, child] of children.entries()) if (names[index]?.size === 0) constant.push(child);
  return all;
}

function declaredName(node: LibraryNode): string | undefined {
  const comprehension = comprehensionOf(node);
  if (comprehension !== undefined) return comprehension.iterVarName;
  const first = callOf(node)?.args[0];
  return node.meta.macro !== undefined && first?.op === 'id' ? String(first.args) : undefined;
}

function fold(node: LibraryNode, { evaluator, emptyScope }: PreparedEnvironment): void {
  if (node.op === 'value' || node.op === 'id') return;
  meter.start({ costLimit: foldCost, deadline: Infinity, checkFrequency: 1, timeoutMs: 0 });
  let value: unknown;
  try {
    value = node.evaluate(evaluator, node, emptyScope);
  } catch {
    // An evaluation that reaches the part finds the same error, and reports it.
    return;
  }
  node.evaluate = () => value;
}
