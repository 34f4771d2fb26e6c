/** Types of values in expressions, as the evaluator names them: `string`, `int`, `timestamp?`, `list<string>`, or the name of an object type. */
export type ExpressionType = string;

/** Variables of an expression, and fields of the object types that they have. */
export interface ExpressionEnvironment {
  readonly variables: Readonly<Record<string, ExpressionType>>;
  readonly objects: Readonly<Record<string, Readonly<Record<string, ExpressionType>>>>;
}

/** A reason why an expression cannot be used. */
interface ExpressionProblem {
  readonly code: string;
  readonly message: string;
  /** Place in the expression, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
}

interface CompileRequest {
  readonly expression: string;
  readonly environment: ExpressionEnvironment;
  readonly expected?: ExpressionType;
}

interface ExpressionError {
  readonly code: string;
  readonly message: string;
}

/** A value, or the reason why there is none; in both cases with its cost. */
export type ExpressionResult = ({ readonly value: unknown } | { readonly error: ExpressionError }) & {
  readonly cost: number;
  /** With `workflows.cel.trackstate`: values of its parts, with their places. */
  readonly parts?: readonly { readonly start: number; readonly end: number; readonly value: unknown }[];
};

interface ExpressionBatch {
  readonly environment: ExpressionEnvironment;
  readonly items: readonly {
    readonly expression: string;
    readonly variables: Readonly<Record<string, unknown>>;
    readonly expected?: ExpressionType;
  }[];
  /** The time limit is that of the whole batch. */
  readonly together?: boolean;
}

/** Evaluates expressions of definitions (CEL) under limits of time, cost and memory. */
export interface Expressions {
  compile(request: CompileRequest): Promise<{ readonly problems: readonly ExpressionProblem[] }>;
  /** One result for each item, in their order. Nothing that an expression does rejects the promise. */
  evaluate(batch: ExpressionBatch): Promise<readonly ExpressionResult[]>;
}
