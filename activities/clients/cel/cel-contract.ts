import type { Config } from '#config/objects/root.ts';

/** Limits and options of expressions: the section `workflows.cel` of the configuration. */
export type CelLimits = Config['workflows']['cel'];

/**
 * A type, as text: `string`, `int`, `uint`, `double`, `bool`, `bytes`, `timestamp`, `duration`, `dyn` (any value), `list<T>`, `map<K, V>`
 * with keys `string`, `int`, `uint` or `bool`, or the name of an object type of the environment. A `?` at the end allows null.
 */
export type CelType = string;

/** The variables of an expression. Plain data, which is serialized once for each object: keep one for each kind. */
export interface CelEnvironment {
  /** Types of the variables by their names. */
  readonly variables: Readonly<Record<string, CelType>>;
  /** Fields of object types, by the name of the type, which has two characters at least and begins with a capital letter. */
  readonly objects?: Readonly<Record<string, Readonly<Record<string, CelType>>>>;
}

export type CelProblemCode =
  | 'syntax'
  | 'expression_too_long'
  | 'nested_too_deep'
  | 'comprehensions_too_deep'
  | 'unknown_variable'
  | 'unknown_field'
  | 'unknown_function'
  | 'wrong_type'
  | 'mixed_types'
  | 'invalid_literal'
  | 'wrong_result_type'
  | 'not_enabled'
  | 'too_costly';

/** A reason why an expression cannot be used. */
export interface CelProblem {
  readonly code: CelProblemCode;
  readonly message: string;
  /** Place in the expression, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
}

export interface CompileRequest {
  readonly expression: string;
  readonly environment: CelEnvironment;
  /** Type that the result must have. A result of type `dyn` is accepted and checked at each evaluation. */
  readonly expected?: CelType;
}

export interface CompiledCel {
  /** All problems; empty for an expression that can be evaluated. */
  readonly problems: readonly CelProblem[];
  /** Type of the result; undefined if there are problems. */
  readonly type?: CelType;
  /** Variables and fields that the expression reads, as the longest paths that are known without evaluation: `object.status`. */
  readonly fields: readonly string[];
}

/**
 * A value that leaves an evaluation. Integers are BigInt, a timestamp is a Date, a duration is a text such as `5400s`, a type is its name;
 * an optional is its value, or null.
 */
export type CelValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Date
  | CelValue[]
  | { [key: string]: CelValue };

export type CelErrorCode =
  | 'timeout'
  | 'cost_limit'
  | 'memory_limit'
  | 'value_too_large'
  | 'no_such_key'
  | 'wrong_type'
  | 'division_by_zero'
  | 'overflow'
  | 'invalid_argument'
  | 'does_not_compile'
  | 'busy';

export interface CelError {
  readonly code: CelErrorCode;
  readonly message: string;
  /** Place in the expression, in UTF-16 code units, where it is known. */
  readonly start?: number;
  readonly end?: number;
}

/** Value of a part of an expression (`workflows.cel.trackstate`); of a part that is evaluated more than once, the last value. */
export interface CelPart {
  readonly start: number;
  readonly end: number;
  readonly value: CelValue;
}

export interface CelItem {
  readonly expression: string;
  /** Values as the API shows them: a timestamp is a Date or a text of RFC 3339, a duration a text such as `90m`. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly expected?: CelType;
}

export interface CelBatch {
  readonly environment: CelEnvironment;
  readonly items: readonly CelItem[];
  /** `workflows.cel.timeout` limits the whole batch, including the time for which it waits, and not each item. */
  readonly together?: boolean;
}

export type CelResult = ({ readonly value: CelValue } | { readonly error: CelError }) & {
  /** In the units of `workflows.cel.costlimit`. */
  readonly cost: number;
  /** With `workflows.cel.trackstate`: values of parts, 16 KB at most. */
  readonly parts?: readonly CelPart[];
};

/** Compiles and evaluates expressions in threads that can be stopped. */
export interface CelEvaluator {
  compile(request: CompileRequest): Promise<CompiledCel>;
  /** One result for each item, in their order. Nothing that an expression does rejects the promise. */
  evaluate(batch: CelBatch): Promise<CelResult[]>;
  /** Ends the threads; running calls reject. */
  close(): Promise<void>;
}
