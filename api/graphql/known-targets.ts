import {
  getArgumentValues,
  getDirectiveValues,
  getOperationAST,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  OperationTypeNode,
  validateExecutionArgs,
  type ExecutionArgs,
  type FieldNode,
  type SelectionSetNode,
  type ValidatedExecutionArgs,
} from 'graphql';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import type { LockTarget } from '#entities/kit/write/lock-order.ts';

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
  const targets = rootFields(operation.selectionSet, validated).flatMap((node): LockTarget[] => {
    const field = fields[node.name.value];
    const targetsOf = field?.extensions[changesRecords] as TargetsOf | undefined;
    if (!field || !targetsOf) return [];
    try {
      const values: Record<string, unknown> = getArgumentValues(field, node, validated.variableValues);
      return [targetsOf(values as unknown as ChangeArguments)];
    } catch {
      // The executor reports the wrong argument.
      return [];
    }
  });
  return targets.length > 1 ? targets : [];
}

/** The fields of a selection, with fragments expanded and `@skip` and `@include` applied. */
function rootFields({ selections }: SelectionSetNode, args: ValidatedExecutionArgs): FieldNode[] {
  return selections.flatMap((node): FieldNode[] => {
    if (getDirectiveValues(GraphQLSkipDirective, node, args.variableValues)?.['if'] === true) return [];
    if (getDirectiveValues(GraphQLIncludeDirective, node, args.variableValues)?.['if'] === false) return [];
    if (node.kind === Kind.FIELD) return [node];
    const { selectionSet } =
      node.kind === Kind.INLINE_FRAGMENT ? node : (args.fragmentDefinitions[node.name.value] ?? {});
    return selectionSet ? rootFields(selectionSet, args) : [];
  });
}
