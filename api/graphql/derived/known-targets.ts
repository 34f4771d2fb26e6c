import {
  getArgumentValues,
  getDirectiveValues,
  getOperationAST,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  OperationTypeNode,
  validateExecutionArgs,
  type ExecutionArgs,
  type SelectionNode,
} from 'graphql';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import type { LockTarget } from '#entities/kit/write/lock-order.ts';
import { rootFields } from '../documents/root-fields.ts';

/** Arguments of derived mutations; each field has those that it declares. */
interface ChangeArguments {
  readonly id: string;
  readonly ids: readonly string[];
  readonly input: RecordJson;
}

/** The records that a field with these arguments changes. */
type TargetsOf = (args: ChangeArguments) => LockTarget;

/** Extension of mutation fields that change existing records. */
const changesRecords = Symbol('changes records');

export function changing(targetsOf: TargetsOf): { readonly [changesRecords]: TargetsOf } {
  return { [changesRecords]: targetsOf };
}

/**
 * The records that a mutation of several fields will change, as far as its arguments name them; empty for other operations, and
 * for one that the executor will reject. The fields of a mutation run in their order in the document: to lock the records in that
 * order would let two operations wait for each other.
 */
export function knownTargets(args: ExecutionArgs): readonly LockTarget[] {
  const operation = getOperationAST(args.document, args.operationName);
  if (operation?.operation !== OperationTypeNode.MUTATION) return [];
  const validated = validateExecutionArgs(args);
  if (!('schema' in validated)) return [];
  const fields = validated.schema.getMutationType()?.getFields() ?? {};
  const { fragmentDefinitions, variableValues } = validated;
  const isSelected = (node: SelectionNode) =>
    getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.['if'] !== true &&
    getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.['if'] !== false;
  const selected = rootFields(operation.selectionSet, fragmentDefinitions, isSelected);
  const targets = selected.flatMap((node): LockTarget[] => {
    const field = fields[node.name.value];
    const targetsOf = field?.extensions[changesRecords] as TargetsOf | undefined;
    if (!field || !targetsOf) return [];
    try {
      const values: Record<string, unknown> = getArgumentValues(field, node, variableValues);
      return [targetsOf(values as unknown as ChangeArguments)];
    } catch {
      // The executor reports the wrong argument.
      return [];
    }
  });
  return targets.length > 1 ? targets : [];
}
