import type { CelLimits, CelProblemCode } from './cel-contract.ts';
import { readableTypes } from './cel-type.ts';
import { parseDuration } from './functions/duration.ts';
import { patternProblem } from './functions/patterns.ts';
import { parseTimestamp } from './functions/timestamp.ts';
import { callOf, childrenOf, type LibraryNode, type LibraryType } from './library-node.ts';

/** A problem that the library does not see. */
export interface StaticProblem {
  readonly code: CelProblemCode;
  readonly message: string;
  /** The part with the problem; without it, the part that was checked. */
  readonly node?: LibraryNode;
}

/** Place of a part. */
export interface StaticContext {
  /** The number in `-1`. */
  readonly isNegated: boolean;
  /** The list of values of `format`, which may be of different types. */
  readonly isMixed: boolean;
}

/** Checks one part, whose own parts have been checked. */
export function staticProblem(
  node: LibraryNode,
  { isNegated, isMixed }: StaticContext,
  limits: CelLimits,
): StaticProblem | undefined {
  return (
    integerProblem(node, isNegated) ??
    keyProblem(node) ??
    comparisonProblem(node, limits) ??
    (limits.extendedvalidations ? (argumentProblem(node) ?? (isMixed ? undefined : mixtureProblem(node))) : undefined)
  );
}

const maxInt = 2n ** 63n - 1n;

/** A literal that is no 64-bit integer. The parser reads `-9223372036854775808` as the negation of a number that is too large by one. */
function integerProblem(node: LibraryNode, isNegated: boolean): StaticProblem | undefined {
  if (node.op !== 'value' || typeof node.args !== 'bigint') return undefined;
  if (node.args <= (isNegated ? maxInt + 1n : maxInt)) return undefined;
  return { code: 'invalid_literal', message: `${node.args} is no 64-bit integer.` };
}

const keyTypes: ReadonlySet<string> = new Set(['string', 'int', 'uint', 'bool', 'dyn']);

/** Other keys of maps are no CEL, and could make the name of a type twice as long with each level. */
function keyProblem(node: LibraryNode): StaticProblem | undefined {
  if (node.op !== 'map') return undefined;
  const wrong = entriesOf(node).find(([key]) => !keyTypes.has(plainName(key.checkedType)));
  if (wrong === undefined) return undefined;
  const message = `A key of a map is a string, an integer or a bool, and not ${readableTypes(plainName(wrong[0].checkedType))}.`;
  return { code: 'wrong_type', message, node: wrong[0] };
}

function entriesOf(node: LibraryNode): readonly (readonly [LibraryNode, LibraryNode])[] {
  return node.args as [LibraryNode, LibraryNode][];
}

function plainName(type: LibraryType | undefined): string {
  return type?.unwrappedType.name ?? 'dyn';
}

const orders: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);
const numbers: ReadonlySet<string> = new Set(['int', 'uint', 'double']);

/** Comparisons of different types, which the library allows for numbers, and for values that may be null. */
function comparisonProblem(node: LibraryNode, limits: CelLimits): StaticProblem | undefined {
  const isEquality = node.op === '==' || node.op === '!=';
  if (!isEquality && !orders.has(node.op)) return undefined;
  const [left, right] = childrenOf(node);
  const [one, other] = [left?.checkedType, right?.checkedType];
  const [leftName, rightName] = [plainName(one), plainName(other)];
  if (leftName === rightName || leftName === 'dyn' || rightName === 'dyn') return undefined;
  const areNumbers = numbers.has(leftName) && numbers.has(rightName);
  if (areNumbers && limits.crosstypenumericcomparisons) return undefined;
  const isPlain = [one, other].every((type) => ['primitive', 'message'].includes(type?.unwrappedType.kind ?? ''));
  if (!areNumbers && !(isEquality && isPlain && ![leftName, rightName].includes('null'))) return undefined;
  const hint = areNumbers ? ` Convert one side, such as with ${leftName}(…).` : '';
  return {
    code: 'wrong_type',
    message: `${readableTypes(leftName)} ${node.op} ${readableTypes(rightName)} compares different types.${hint}`,
  };
}

/** Literal arguments that always fail. */
function argumentProblem(node: LibraryNode): StaticProblem | undefined {
  const call = callOf(node);
  const argument = call?.args.at(-1);
  if (call === undefined || argument?.op !== 'value' || typeof argument.args !== 'string') return undefined;
  const text = argument.args;
  const shown = JSON.stringify(text.slice(0, 100));
  const problem = (message: string): StaticProblem => ({ code: 'invalid_literal', message, node: argument });
  if (call.name === 'matches') {
    const message = patternProblem(text);
    return message === undefined ? undefined : problem(message);
  }
  if (call.receiver !== undefined) return undefined;
  if (call.name === 'duration' && parseDuration(text) === undefined)
    return problem(`${shown} is no duration, such as 1h30m.`);
  if (call.name === 'timestamp' && parseTimestamp(text) === undefined)
    return problem(`${shown} is no timestamp, such as 2026-01-31T09:00:00Z.`);
  return undefined;
}

/** Items of different types in one list, or values of different types in one map. `dyn(…)` is the way around. */
function mixtureProblem(node: LibraryNode): StaticProblem | undefined {
  if (node.op === 'list') return differing(node.args as LibraryNode[], 'Items of a list');
  if (node.op !== 'map') return undefined;
  const entries = entriesOf(node);
  return (
    differing(
      entries.map(([key]) => key),
      'Keys of a map',
    ) ??
    differing(
      entries.map(([, value]) => value),
      'Values of a map',
    )
  );
}

function differing(nodes: readonly LibraryNode[], subject: string): StaticProblem | undefined {
  let first: LibraryType | undefined;
  for (const node of nodes) {
    const type = node.checkedType?.unwrappedType;
    if (type === undefined || isOpen(type)) continue;
    first ??= type;
    if (type.name === first.name) continue;
    const [one, other] = [readableTypes(first.name), readableTypes(type.name)];
    const message = `${subject} have one type; this one is ${other}, others are ${one}. Use dyn(…) to mix them.`;
    return { code: 'mixed_types', message, node };
  }
  return undefined;
}

/** A type that is not known in full, such as that of `[]`, goes with every other. */
function isOpen(type: LibraryType): boolean {
  if (type.kind === 'dyn' || type.kind === 'param' || type.name === 'null') return true;
  return (
    (type.valueType !== undefined && isOpen(type.valueType)) || (type.keyType !== undefined && isOpen(type.keyType))
  );
}
