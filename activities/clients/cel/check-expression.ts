import { didYouMean } from '#entities/kit/base/did-you-mean.ts';
import type { CelLimits, CelProblem, CelProblemCode } from './cel-contract.ts';
import { readableMessage } from './cel-type.ts';
import type { PreparedEnvironment } from './environment.ts';
import { callOf, childrenOf, comprehensionOf, isLibraryError } from './library-node.ts';
import type { Checker, LibraryNode, LibraryProgram, LibraryType, Scope } from './library-node.ts';
import { inMacro, isMacro } from './macros.ts';
import { maxProblems } from './parse-expression.ts';
import { staticProblem } from './static-checks.ts';

interface Checked {
  /** Of the whole, with names of cel-js. */
  readonly type: LibraryType | undefined;
  readonly problems: readonly CelProblem[];
}

interface CheckInput {
  readonly program: LibraryProgram;
  /** All parts of the program. */
  readonly nodes: readonly LibraryNode[];
  readonly environment: PreparedEnvironment;
  readonly limits: CelLimits;
  readonly expression: string;
}

/** Finds the types of an expression, and all that is wrong with it. The library stops at the first problem; here, a wrong part becomes `dyn`. */
export function checkExpression({ program, nodes, environment, limits, expression }: CheckInput): Checked {
  const problems: CelProblem[] = [];
  const negated = new Set(nodes.flatMap((node) => (node.op === '-_' ? [node.args] : [])));
  const mixed = new Set(nodes.flatMap((node) => (callOf(node)?.name === 'format' ? callOf(node)?.args : [])));
  /** Macros that surround the part that is being checked, from the outside. */
  const macros: LibraryNode[] = [];

  const add = (code: CelProblemCode, message: string, place: { readonly start: number; readonly end: number }) => {
    if (problems.length >= maxProblems) return;
    const macro = limits.macrocalltracking ? macros.at(-1) : undefined;
    problems.push({ code, message: inMacro(message, macro, expression), start: place.start, end: place.end });
  };

  const addError = (error: unknown, node: LibraryNode) => {
    if (!isLibraryError(error)) {
      // Errors of JavaScript, with which the library refuses what its tables do not provide for.
      add(
        'wrong_type',
        `The types do not fit: ${error instanceof Error ? error.message : String(error)}`,
        placeOf(node),
      );
      return;
    }
    const bound = macros.flatMap((macro) => comprehensionOf(macro)?.iterVarName ?? []);
    const { code, message } = describe(error.code, error.summary, node, { environment, bound });
    add(code, message, error.range ?? placeOf(node));
  };

  const check = (node: LibraryNode, ofLibrary: LibraryNode['check'], checker: Checker, scope: Scope): LibraryType => {
    // Each error of the library costs as much as the expression is long.
    if (problems.length >= maxProblems) return checker.getType('dyn');
    try {
      const call = callOf(node);
      if (call && !environment.functionNames.has(call.name)) {
        add('unknown_function', unknownFunction(call.name, environment), placeOf(node));
        // The arguments of a misspelled macro have names that nothing declares.
        for (const part of call.receiver === undefined ? call.args : [call.receiver]) checker.check(part, scope);
        return checker.getType('dyn');
      }
      const field = call?.name === 'has' && call.receiver === undefined ? call.args[0] : undefined;
      if (field !== undefined && field.op !== '.' && field.op !== '.?') {
        add('syntax', 'The argument of has is a field, such as has(a.b).', placeOf(field));
        return checker.getType('bool');
      }
      const type = field !== undefined ? checkHas(field, checker, scope) : ofLibrary.call(node, checker, node, scope);
      const problem = staticProblem(node, { isNegated: negated.has(node), isMixed: mixed.has(node) }, limits);
      if (problem === undefined) return knownType(node, type, checker);
      add(problem.code, problem.message, placeOf(problem.node ?? node));
      return problem.code === 'invalid_literal' || problem.code === 'mixed_types' ? type : checker.getType('dyn');
    } catch (error) {
      addError(error, node);
      return checker.getType('dyn');
    }
  };

  for (const node of nodes) {
    // oxlint-disable-next-line typescript/unbound-method -- called with the node
    const ofLibrary = node.check;
    node.check = (checker, _, scope) => {
      if (!isMacro(node)) return check(node, ofLibrary, checker, scope);
      macros.push(node);
      try {
        return check(node, ofLibrary, checker, scope);
      } finally {
        macros.pop();
      }
    };
  }
  const { error } = program.check();
  if (error !== undefined) addError(error, program.ast);
  return { type: program.ast.checkedType, problems };
}

/** The type of a part where the library gives none, as for the items of `[]`, or a wrong one. */
function knownType(node: LibraryNode, type: LibraryType, checker: Checker): LibraryType {
  if (type.hasPlaceholderType) {
    const dyn = checker.getType('dyn');
    return type.templated(checker.registry, new Map(['A', 'K', 'T', 'V'].map((name) => [name, dyn])));
  }
  const [left, right] = node.op === '+' ? childrenOf(node) : [];
  const sum = [left, right].map((part) => part?.checkedType?.unwrappedType.name);
  return sum[0] === 'google.protobuf.Duration' && sum[1] === 'google.protobuf.Timestamp'
    ? checker.getType(sum[1])
    : type;
}

/** Where the library points to: of `a.b`, to `b`. */
function placeOf(node: LibraryNode): { readonly start: number; readonly end: number } {
  return { start: node.pos, end: node.end };
}

/** `has(a.b)`: the library does not check the field. */
function checkHas(field: LibraryNode, checker: Checker, scope: Scope): LibraryType {
  checker.check(field, scope);
  return checker.getType('bool');
}

interface Known {
  readonly environment: PreparedEnvironment;
  /** Variables of comprehensions. */
  readonly bound: readonly string[];
}

/** A problem of the library in our words. */
function describe(
  libraryCode: string,
  summary: string,
  node: LibraryNode,
  { environment, bound }: Known,
): { readonly code: CelProblemCode; readonly message: string } {
  if (libraryCode === 'unknown_variable' && node.op === 'id') {
    const name = String(node.args);
    const hint = suggestion(name, [...environment.variables.keys(), ...bound]);
    return { code: 'unknown_variable', message: `There is no variable "${name}"${hint}` };
  }
  if (libraryCode === 'no_such_key') {
    const [owner, key] = node.args as [LibraryNode, string | LibraryNode];
    const name = String(typeof key === 'string' ? key : key.args);
    const type = owner.checkedType?.name ?? '';
    const hint = suggestion(name, environment.objects.get(type) ?? []);
    return { code: 'unknown_field', message: `${type} has no field "${name}"${hint}` };
  }
  const code = libraryCode === 'invalid_macro_argument' ? 'syntax' : 'wrong_type';
  return { code, message: readableMessage(summary) };
}

function unknownFunction(name: string, { functionNames }: PreparedEnvironment): string {
  return `There is no function "${name}"${suggestion(name, functionNames)}`;
}

/** End of a sentence about a name. */
function suggestion(wrong: string, known: Iterable<string>): string {
  const similar = didYouMean(wrong, known);
  return similar === undefined ? '.' : `; did you mean "${similar}"?`;
}
