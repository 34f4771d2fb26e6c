import { Environment, type Environment as LibraryEnvironment } from 'cel-js';
import type { CelEnvironment, CelLimits } from './cel-contract.ts';
import { libraryTypeName, parseType, plainTypes, type ParsedType } from './cel-type.ts';
import { isEqual } from './equality.ts';
import { registerFunctions } from './functions/register-functions.ts';
import type { LibraryEvaluator, LibraryNode, LibraryProgram, Scope } from './library-node.ts';
import { CelFailure } from './meter.ts';
import { TypedRecord, ValueReader, type RecordClass } from './values-in.ts';

/** Parts of an expression; each takes some hundred bytes. */
const maxNodes = 20_000;

/** Functions of cel-js that CEL does not have. */
const notOfCel: ReadonlySet<string> = new Set(['at', 'json', 'hex', 'base64']);

/** The variables, types and functions that expressions of one environment may use, under limits that concern parsing and checking. */
export class PreparedEnvironment {
  readonly #library: LibraryEnvironment;
  readonly #reader: ValueReader;
  readonly variables: ReadonlyMap<string, ParsedType>;
  /** Names of fields, by object type. */
  readonly objects: ReadonlyMap<string, readonly string[]>;
  /** Evaluates parts of expressions apart from the whole. */
  readonly evaluator: LibraryEvaluator;
  readonly emptyScope: Scope;
  readonly functionNames: ReadonlySet<string>;

  /** @throws TypeError for an environment that is not well-formed */
  constructor(environment: CelEnvironment, limits: CelLimits) {
    const objects = Object.entries(environment.objects ?? {}).map(([name, fields]) => ({
      name,
      fields: new Map(Object.entries(fields).map(([field, type]) => [field, parseType(type)] as const)),
      type: class extends TypedRecord {} as RecordClass,
    }));
    this.objects = new Map(objects.map(({ name, fields }) => [name, [...fields.keys()]]));
    this.variables = new Map(Object.entries(environment.variables).map(([name, type]) => [name, parseType(type)]));
    this.#reader = new ValueReader(new Map(objects.map((known) => [known.name, known])));
    this.#library = new Environment({
      homogeneousAggregateLiterals: false,
      enableOptionalTypes: limits.optionaltypes,
      limits: {
        maxDepth: limits.parserrecursionlimit,
        maxAstNodes: maxNodes,
        maxListElements: maxNodes,
        maxMapEntries: maxNodes,
        maxCallArguments: maxNodes,
      },
    });
    for (const { name, fields, type } of objects) {
      const names = Object.fromEntries([...fields].map(([field, parsed]) => [field, libraryTypeName(parsed)]));
      this.#library.registerType(name, { ctor: type, fields: names });
    }
    this.#registerEqualities(
      objects.map(({ name }) => name),
      limits,
    );
    registerFunctions(this.#library, limits);
    for (const [name, type] of this.variables) this.#library.registerVariable(name, libraryTypeName(type));
    const names = this.#library.getDefinitions().functions.map(({ name }) => name);
    this.functionNames = new Set(names.filter((name) => !notOfCel.has(name)));
    const { evaluator, scope } = this.#probe();
    this.evaluator = evaluator;
    this.emptyScope = scope;
  }

  /** Equality is our own (`isEqual`); the checker has to know which types may be compared. */
  #registerEqualities(objects: readonly string[], limits: CelLimits): void {
    for (const name of objects)
      for (const other of [name, 'null']) this.#library.registerOperator(`${name} == ${other}`, isEqual);
    if (limits.crosstypenumericcomparisons)
      for (const pair of ['int == double', 'int == uint', 'uint == double'])
        this.#library.registerOperator(pair, isEqual);
    for (const name of plainTypes.filter((plain) => plain !== 'dyn')) {
      const type = libraryTypeName({ kind: 'plain', name, isNullable: true });
      this.#library.registerOperator(`null == ${type}`, isEqual);
    }
  }

  /** @throws LibraryError for a text that is no expression */
  parse(source: string): LibraryProgram {
    return this.#library.parse(source) as unknown as LibraryProgram;
  }

  /** A variable in the form of the library. @throws CelFailure no_such_key, wrong_type */
  readVariable(name: string, values: Readonly<Record<string, unknown>>): unknown {
    const type = this.variables.get(name);
    if (type === undefined) throw new CelFailure('no_such_key', `There is no variable ${name}.`);
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined && !type.isNullable)
      throw new CelFailure('no_such_key', `The variable ${name} has no value.`);
    return this.#reader.read(value, type, name);
  }

  /** The evaluator of the library, which no function returns. Limits end an evaluation also where the library ignores errors. */
  #probe(): { readonly evaluator: LibraryEvaluator; readonly scope: Scope } {
    const program = this.parse('true');
    const found: { evaluator?: LibraryEvaluator; scope?: Scope } = {};
    program.check();
    program.ast.evaluate = (evaluator: LibraryEvaluator, _: LibraryNode, scope: Scope) => {
      found.evaluator = evaluator;
      found.scope = scope;
      return true;
    };
    program(new Map());
    const { evaluator, scope } = found;
    if (evaluator === undefined || scope === undefined) throw new Error('cel-js evaluates without an evaluator');
    evaluator.tryEval = (node, inner) => {
      try {
        return evaluator.run(node, inner);
      } catch (error) {
        if (!(error instanceof Error) || (error instanceof CelFailure && error.isLimit)) throw error;
        return error;
      }
    };
    return { evaluator, scope };
  }
}
