import type { CelItem, CelLimits, CelProblem, CelResult, CelType, CompiledCel } from './cel-contract.ts';
import { libraryTypeName, parseType, readableTypes } from './cel-type.ts';
import { checkExpression } from './check-expression.ts';
import { visitCost } from './cost.ts';
import { describeFailure } from './describe-failure.ts';
import type { PreparedEnvironment } from './environment.ts';
import { evaluationOf } from './evaluate-nodes.ts';
import { foldConstants } from './fold-constants.ts';
import { boundScopeOf, comprehensionOf } from './library-node.ts';
import type { BoundScope, LibraryNode, LibraryProgram, LibraryType } from './library-node.ts';
import { inMacro, isMacro } from './macros.ts';
import { CelFailure, meter } from './meter.ts';
import { maxProblems, parseExpression } from './parse-expression.ts';
import { readFields } from './read-fields.ts';
import { writeParts, writeValue } from './values-out.ts';

/** One expression, ready to be evaluated many times. */
export class Program {
  readonly #expression: string;
  readonly #environment: PreparedEnvironment;
  readonly #limits: CelLimits;
  readonly #problems: readonly CelProblem[];
  readonly #program: LibraryProgram | undefined;
  readonly #type: LibraryType | undefined;
  readonly #fields: readonly string[];
  readonly partCount: number;
  #scopes: readonly BoundScope[] = [];
  /** Last values of parts, with `trackstate`. */
  readonly #values = new Map<LibraryNode, unknown>();
  /** The innermost macro in which an error arose, with `macrocalltracking`. */
  readonly #macros = new WeakMap<object, LibraryNode>();

  constructor(expression: string, environment: PreparedEnvironment, limits: CelLimits) {
    this.#expression = expression;
    this.#environment = environment;
    this.#limits = limits;
    const { program, nodes, problems } = parseExpression(expression, environment, limits);
    const checked = program && checkExpression({ program, nodes, environment, limits, expression });
    this.#problems = [...problems, ...(checked?.problems ?? [])].slice(0, maxProblems);
    this.#fields = program === undefined ? [] : readFields(program.ast, new Set(environment.variables.keys()));
    this.#program = this.#problems.length === 0 ? program : undefined;
    this.#type = checked?.type;
    this.partCount = nodes.length;
    if (this.#program === undefined) return;
    for (const node of nodes) this.#instrument(node);
    this.#scopes = nodes.flatMap((node) => boundScopeOf(node) ?? []);
    if (limits.evaloptimize) foldConstants(this.#program.ast, environment);
  }

  /** @param expected type of the result */
  describe(expected?: CelType): CompiledCel {
    const problems = this.#problems.length > 0 ? this.#problems : this.#resultProblems(expected);
    if (problems.length > 0 || this.#type === undefined) return { problems, fields: this.#fields };
    return { problems, type: readableTypes(this.#type.name), fields: this.#fields };
  }

  #resultProblems(expected: CelType | undefined): CelProblem[] {
    const type = this.#type?.unwrappedType;
    if (expected === undefined || type === undefined || type.kind === 'dyn') return [];
    const wanted = parseType(expected);
    const isRight =
      wanted.kind === 'list' || wanted.kind === 'map'
        ? type.kind === wanted.kind
        : type.name === libraryTypeName({ ...wanted, isNullable: false }) || expected === 'dyn';
    if (isRight) return [];
    const message = `The result is ${readableTypes(type.name)}, and must be ${expected}.`;
    return [{ code: 'wrong_result_type', message, start: 0, end: this.#expression.length }];
  }

  /** @param deadline by `performance.now()` */
  evaluate({ variables, expected }: CelItem, deadline: number): CelResult {
    const [problem] = this.describe(expected).problems;
    if (problem !== undefined || this.#program === undefined) {
      const { message = '', start, end } = problem ?? {};
      return { error: { code: 'does_not_compile', message, start, end }, cost: 0 };
    }
    const { costlimit, interruptcheckfrequency, timeout } = this.#limits;
    meter.start({ costLimit: costlimit, deadline, checkFrequency: interruptcheckfrequency, timeoutMs: timeout });
    try {
      const value = this.#program(new Variables(this.#environment, variables));
      meter.checkLimits();
      checkResult(value, expected);
      return { value: writeValue(value), ...this.#account() };
    } catch (error) {
      const described = describeFailure(error);
      const macro = error instanceof Error ? this.#macros.get(error) : undefined;
      const message = inMacro(described.message, macro, this.#expression);
      return { error: { ...described, message }, ...this.#account() };
    } finally {
      this.#release();
    }
  }

  /** Drops the values of an evaluation: the library keeps them in the scopes of macros. */
  #release(): void {
    this.#values.clear();
    for (const scope of this.#scopes) {
      scope.reuse(this.#environment.emptyScope);
      scope.accuValue = undefined;
      scope.iterValue = undefined;
    }
  }

  #account(): Pick<CelResult, 'cost' | 'parts'> {
    if (!this.#limits.trackstate) return { cost: meter.cost };
    const parts = [...this.#values].map(([{ start, end }, value]) => ({ start, end, value }));
    return { cost: meter.cost, parts: writeParts(parts) };
  }

  /** Lets a part charge its cost, and keep its value and the place of an error. */
  #instrument(node: LibraryNode): void {
    const cost = visitCost(node);
    const evaluate = evaluationOf(node);
    const isTraced = this.#limits.trackstate && node.op !== 'value';
    const isTracked = this.#limits.macrocalltracking && isMacro(node);
    node.evaluate = (evaluator, _, scope) => {
      try {
        meter.charge(cost);
        const value = evaluate(evaluator, scope);
        if (isTraced) this.#values.set(node, value);
        return value;
      } catch (error) {
        if (error instanceof CelFailure) error.place ??= { start: node.pos, end: node.end };
        if (isTracked && error instanceof Error && !this.#macros.has(error)) this.#macros.set(error, node);
        throw error;
      }
    };
    const step = comprehensionOf(node)?.step;
    if (step === undefined) return;
    step.evaluate = (evaluator, _, scope) => {
      meter.step();
      return step.meta.evaluate(evaluator, step, scope);
    };
  }
}

/** Variables of one evaluation, converted when they are read. */
class Variables extends Map<string, unknown> {
  readonly #environment: PreparedEnvironment;
  readonly #values: CelItem['variables'];

  constructor(environment: PreparedEnvironment, values: CelItem['variables']) {
    super();
    this.#environment = environment;
    this.#values = values;
  }

  override get(name: string): unknown {
    if (!super.has(name)) super.set(name, this.#environment.readVariable(name, this.#values));
    return super.get(name);
  }
}

/** @throws CelFailure wrong_type for a value of type `dyn` that is not what was expected */
function checkResult(value: unknown, expected: CelType | undefined): void {
  if (expected === undefined) return;
  const type = parseType(expected);
  if (value === null && type.isNullable) return;
  const found = typeof value;
  const isRight =
    type.kind === 'list'
      ? Array.isArray(value)
      : type.kind === 'map'
        ? value instanceof Map
        : type.kind === 'plain' && ['string', 'bool'].includes(type.name)
          ? found === (type.name === 'bool' ? 'boolean' : 'string')
          : value !== null || expected === 'dyn';
  if (!isRight) throw new CelFailure('wrong_type', `The result is ${found}, and must be ${expected}.`);
}
