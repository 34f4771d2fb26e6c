// The parts of cel-js that its own types leave out. Its version is pinned; the tests of this folder notice a change.

/** Type of an expression in the checker. */
export interface LibraryType {
  readonly kind: 'primitive' | 'list' | 'map' | 'message' | 'optional' | 'dyn' | 'param';
  readonly name: string;
  readonly type: string;
  readonly keyType?: LibraryType;
  readonly valueType?: LibraryType;
  /** Contains a type that is not known, such as that of the items of `[]`. */
  readonly hasPlaceholderType: boolean;
  templated(registry: LibraryRegistry, types: ReadonlyMap<string, LibraryType>): LibraryType;
  /** The type within `dyn<…>`. */
  readonly unwrappedType: LibraryType;
}

/** Variables in scope, of the checker and of the evaluator. */
export interface Scope {
  forkWithVariable(name: string, type: LibraryType): BoundScope;
}

export interface BoundScope extends Scope {
  accuValue?: unknown;
  iterValue?: unknown;
  reuse(parent: Scope): BoundScope;
  setIterValue(value: unknown, evaluator: LibraryEvaluator): BoundScope;
}

interface LibraryRegistry {
  getOptionalType(type: LibraryType): LibraryType;
}

export interface Checker {
  check(node: LibraryNode, scope: Scope): LibraryType;
  getType(name: string): LibraryType;
  readonly registry: LibraryRegistry;
}

export interface LibraryEvaluator {
  run(node: LibraryNode, scope: Scope): unknown;
  tryEval(node: LibraryNode, scope: Scope): unknown;
}

interface Macro {
  /** Scope of the variable that the macro declares. */
  readonly bindCtx?: BoundScope;
  evaluate(evaluator: LibraryEvaluator, macro: Macro, scope: Scope): unknown;
}

export interface ComprehensionArguments {
  readonly iterVarName: string;
  /** Scope of the variable, known after the check. */
  readonly iterCtx: BoundScope;
  readonly iterable: LibraryNode;
  readonly step: LibraryNode;
}

/** Part of a parsed expression. */
export interface LibraryNode {
  readonly op: string;
  /** By `op`; `childrenOf` reads them. */
  args: unknown;
  /** Anchor of messages: of `a.b`, where `b` begins. */
  readonly pos: number;
  readonly start: number;
  readonly end: number;
  checkedType?: LibraryType;
  left: LibraryNode;
  right: LibraryNode | string;
  receiverWithArgs: readonly LibraryNode[];
  handle: (...values: unknown[]) => unknown;
  readonly meta: {
    /** The comprehension into which a macro was expanded, or the value of a constant. */
    readonly alternate?: LibraryNode;
    readonly macro?: Macro;
    readonly evaluate: (evaluator: LibraryEvaluator, node: LibraryNode, scope: Scope) => unknown;
  };
  check(checker: Checker, node: LibraryNode, scope: Scope): LibraryType;
  evaluate(evaluator: LibraryEvaluator, node: LibraryNode, scope: Scope): unknown;
}

/** A parsed expression. */
export interface LibraryProgram {
  (variables: Map<string, unknown>): unknown;
  readonly ast: LibraryNode;
  check(): { readonly valid: boolean; readonly error?: Error };
}

/** Error of the library. */
export interface LibraryError extends Error {
  readonly code: string;
  readonly summary: string;
  readonly range?: { readonly start: number; readonly end: number };
}

export function isLibraryError(error: unknown): error is LibraryError {
  return error instanceof Error && 'summary' in error && 'code' in error;
}

/** Name and arguments of a call; undefined for other nodes. The receiver of `a.f(b)` is apart. */
export function callOf(
  node: LibraryNode,
): { readonly name: string; readonly receiver?: LibraryNode; readonly args: readonly LibraryNode[] } | undefined {
  if (node.op === 'call') {
    const [name, args] = node.args as [string, LibraryNode[]];
    return { name, args };
  }
  if (node.op === 'rcall') {
    const [name, receiver, args] = node.args as [string, LibraryNode, LibraryNode[]];
    return { name, receiver, args };
  }
  return undefined;
}

/** Parts of a node as they are written, in their order. */
export function childrenOf(node: LibraryNode): readonly LibraryNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '!_':
    case '-_':
      return [node.args as LibraryNode];
    case '.':
    case '.?':
      return [(node.args as [LibraryNode, string])[0]];
    case 'map':
      return (node.args as [LibraryNode, LibraryNode][]).flat();
    case 'call':
    case 'rcall': {
      const call = callOf(node);
      return call === undefined ? [] : [...(call.receiver ? [call.receiver] : []), ...call.args];
    }
    default:
      return node.args as LibraryNode[];
  }
}

/** The comprehension into which a macro such as `all` was expanded; undefined for other nodes. */
export function comprehensionOf(node: LibraryNode): ComprehensionArguments | undefined {
  const alternate = node.meta.alternate;
  return alternate?.op === 'comprehension' ? (alternate.args as ComprehensionArguments) : undefined;
}

/** The scope of the variable that a macro declares, which the library uses for all evaluations; undefined for other nodes. */
export function boundScopeOf(node: LibraryNode): BoundScope | undefined {
  return comprehensionOf(node)?.iterCtx ?? node.meta.macro?.bindCtx;
}
