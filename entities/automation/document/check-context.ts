import type { EntityModule } from '../../kit/model/define.ts';
import type { Registry } from '../../kit/model/registry.ts';
import type { DefinitionProblems } from './definition-problem.ts';
import type { ExpressionUsage } from './expression-environment.ts';
import type { ExpressionType } from './expressions.ts';

/** An expression of a document. */
export interface PlacedExpression {
  /** JSON pointer into the document. */
  readonly path: string;
  readonly expression: string;
  readonly usage: ExpressionUsage;
  /** Type that its value must have; undefined: any. */
  readonly expected: ExpressionType | undefined;
}

/** An id in a document, of a record that must exist in the organization. For `user`, a member of it. */
export interface PlacedReference {
  readonly path: string;
  readonly kind: string;
  readonly id: string;
  readonly code: string;
}

/** An operation of an integration that an action asks for. */
export interface PlacedOperation {
  readonly path: string;
  readonly integrationId: string;
  readonly operation: string;
}

/** The check of one document, while it walks through its parts. */
export interface CheckContext {
  readonly module: EntityModule;
  readonly registry: Registry;
  readonly problems: DefinitionProblems;
  readonly expressions: PlacedExpression[];
  readonly references: PlacedReference[];
  readonly operations: PlacedOperation[];
}
