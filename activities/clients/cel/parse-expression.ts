import type { CelLimits, CelProblem } from './cel-contract.ts';
import { readableMessage } from './cel-type.ts';
import type { PreparedEnvironment } from './environment.ts';
import { childrenOf, isLibraryError, type LibraryNode, type LibraryProgram } from './library-node.ts';
import { comprehensionDepth } from './macros.ts';
import { prepareSource } from './prepare-source.ts';

/** Problems that are collected of one expression. */
export const maxProblems = 100;

export interface Parsed {
  readonly problems: readonly CelProblem[];
  /** Undefined if the text cannot be checked. */
  readonly program?: LibraryProgram;
  /** All parts. */
  readonly nodes: readonly LibraryNode[];
}

/** Parses an expression within the limits of its size and depth. */
export function parseExpression(expression: string, environment: PreparedEnvironment, limits: CelLimits): Parsed {
  const { source, escaped, problems } = prepareSource(expression, limits, maxProblems);
  if (problems.some(({ code }) => code !== 'not_enabled')) return { problems, nodes: [] };
  let program: LibraryProgram;
  try {
    program = environment.parse(source);
  } catch (error) {
    return { problems: [...problems, parseProblem(error, source, limits)], nodes: [] };
  }
  const whole = { start: 0, end: expression.length };
  const levels = levelsOf(program.ast, limits.parserrecursionlimit);
  if (levels === undefined) {
    const message = `The expression has more than ${limits.parserrecursionlimit} levels.`;
    return { problems: [...problems, { code: 'nested_too_deep', message, ...whole }], nodes: [] };
  }
  const unused = restoreNames(levels, escaped);
  const misplaced = [...unused].map(([start, name]): CelProblem => {
    const message = `A name in backquotes, such as "${name}", is that of a field, after a dot.`;
    return { code: 'syntax', message, start, end: start + name.length + 2 };
  });
  // Elsewhere, the plain name that stands for it would be unknown.
  if (misplaced.length > 0) return { problems: [...problems, ...misplaced], nodes: [] };
  const wide = levels
    .filter((node) => isWideBytes(node, source))
    .map(({ start, end }): CelProblem => {
      const message = 'A literal of bytes has ASCII characters only; write others as \\x and two digits for each byte.';
      return { code: 'syntax', message, start, end };
    });
  const depth = comprehensionDepth(program.ast);
  const tooDeep: CelProblem[] = [];
  if (depth > limits.comprehensionnestinglimit) {
    const allowed = limits.comprehensionnestinglimit;
    const message =
      allowed === 0
        ? 'Comprehensions (all, exists, map, filter) are not allowed.'
        : `Comprehensions are nested ${depth} levels deep; ${allowed} are allowed.`;
    tooDeep.push({ code: 'comprehensions_too_deep', message, ...whole });
  }
  return { problems: [...problems, ...wide, ...tooDeep], program, nodes: levels };
}

function parseProblem(error: unknown, source: string, limits: CelLimits): CelProblem {
  if (error instanceof RangeError) {
    const message = `The expression has more than ${limits.parserrecursionlimit} levels.`;
    return { code: 'nested_too_deep', message, start: 0, end: source.length };
  }
  if (!isLibraryError(error)) throw error;
  const place = error.range ?? { start: 0, end: source.length };
  if (error.summary.includes('maxDepth')) {
    const message = `The expression has more than ${limits.parserrecursionlimit} levels.`;
    return { code: 'nested_too_deep', message, ...place };
  }
  if (error.code === 'limit_exceeded')
    return { code: 'expression_too_long', message: 'The expression has too many parts.', ...place };
  if (source[place.start] === '?' && !limits.optionaltypes)
    return { code: 'not_enabled', message: 'Optional values are not enabled.', ...place };
  const hint = isAssignment(source, place.start) ? ' Use == to compare.' : '';
  return { code: 'syntax', message: `${readableMessage(error.summary)}${hint}`, ...place };
}

/** `a = b`, as other languages write a comparison. */
function isAssignment(source: string, at: number): boolean {
  return source[at] === '=' && source[at - 1] !== '=' && source[at + 1] !== '=';
}

/**
 * All parts of a tree; undefined if it has more levels than allowed. The parser counts brackets and calls only: chains such as
 * `a && b && c` are deep trees, too, on which later steps would overflow the stack.
 */
function levelsOf(root: LibraryNode, allowed: number): LibraryNode[] | undefined {
  const nodes: LibraryNode[] = [];
  let level: readonly LibraryNode[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= allowed) return undefined;
    nodes.push(...level);
    level = level.flatMap(childrenOf);
  }
  return nodes;
}

/** Whether a literal of bytes has characters of which cel-js would take one byte only. */
function isWideBytes({ op, args, start, end }: LibraryNode, source: string): boolean {
  // oxlint-disable-next-line no-control-regex -- all that is not ASCII
  return op === 'value' && args instanceof Uint8Array && /[^\x00-\x7f]/.test(source.slice(start, end));
}

/** Puts names from backquotes in their places. @returns those that have none */
function restoreNames(nodes: readonly LibraryNode[], escaped: ReadonlyMap<number, string>): Map<number, string> {
  const unused = new Map(escaped);
  if (escaped.size === 0) return unused;
  for (const node of nodes) {
    const name = node.op === '.' || node.op === '.?' ? escaped.get(node.pos) : undefined;
    if (name === undefined) continue;
    node.args = [(node.args as [LibraryNode, string])[0], name];
    unused.delete(node.pos);
  }
  return unused;
}
