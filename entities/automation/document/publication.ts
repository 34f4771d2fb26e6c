import { snakeCase } from '../../kit/base/snake-case.ts';
import type { EntityModule } from '../../kit/model/define.ts';
import { topicOf } from '../../kit/model/events.ts';
import type { Registry } from '../../kit/model/registry.ts';
import type { approvalTimings, TriggerOperation } from '../definition-fields.ts';
import { edgesOf, fieldNamed } from './automated-kinds.ts';
import type { ApprovalAction, DefinitionDocument, DocumentOperation, Trigger } from './definition-document.ts';

const verbs = { CREATE: 'created', UPDATE: 'updated', DELETE: 'deleted' } as const satisfies Record<
  DocumentOperation,
  string
>;

/** Facts that follow from a valid document, for its version. */
interface Publication {
  readonly timing: (typeof approvalTimings)[number];
  /** Topics of the events that its triggers want. */
  readonly topics: readonly string[];
  /** Fields whose changes it holds, sorted. */
  readonly gatedFields: readonly string[];
  readonly gatesDeletion: boolean;
  readonly isGate: boolean;
}

export function publicationOf(document: DefinitionDocument, module: EntityModule, registry: Registry): Publication {
  const { triggers, approvalTiming = 'PRE_COMMIT' } = document;
  const edges = new Map(edgesOf(registry, module).map(({ name, through }) => [name, through]));
  const topics = triggers.flatMap((trigger) => {
    const links = trigger.operation === 'UPDATE' ? (trigger.edges ?? []) : [];
    const onlyLinks = links.length > 0 && !trigger.fields?.length;
    return [
      ...(onlyLinks ? [] : [topicOf(module, verbs[trigger.operation])]),
      ...links.flatMap((name) => {
        const through = edges.get(name);
        return through ? [topicOf(through, 'created'), topicOf(through, 'deleted')] : [];
      }),
    ];
  });
  const approvals = approvalTiming === 'PRE_COMMIT' ? approvalsOf(document) : [];
  const holds = (operation: DocumentOperation) =>
    approvals.length > 0 && triggers.some((trigger) => trigger.operation === operation);
  const gated = holds('UPDATE') ? approvals.flatMap(({ params }) => heldFieldsOf(module, params)) : [];
  return {
    timing: approvalTiming === 'PRE_COMMIT' ? 'pre_commit' : 'post_commit',
    topics: [...new Set(topics)],
    gatedFields: [...new Set(gated)].sort(),
    gatesDeletion: holds('DELETE'),
    isGate: gated.length > 0 || holds('DELETE'),
  };
}

/** Whether the approvals of a definition can hold a change: they concern the deletion, or one of the changed fields. A creation is never held. */
export function holdsChange(
  { gatedFields, gatesDeletion }: Pick<Publication, 'gatedFields' | 'gatesDeletion'>,
  { operation, changedFields }: TriggeringChange,
): boolean {
  if (operation === 'create') return false;
  return operation === 'delete' ? gatesDeletion : changedFields.some((name) => gatedFields.includes(name));
}

/** Fields that an approval holds, by their names in rows: those that it names, and those whose values are valid only together with them. */
export function heldFieldsOf(
  module: EntityModule,
  { fields = [] }: Pick<ApprovalAction['params'], 'fields'>,
): string[] {
  const named = fields.flatMap((name) => fieldNamed(module, name) ?? []);
  return named.flatMap((field) => [field, ...boundTo(module, field)]);
}

function boundTo({ fields }: EntityModule, name: string): string[] {
  return Object.entries(fields).flatMap(([other, { momentOf, pairedWith }]) =>
    momentOf?.field === name || pairedWith === name || fields[name]?.pairedWith === other ? [other] : [],
  );
}

function approvalsOf({ actions }: DefinitionDocument): ApprovalAction[] {
  return actions.filter((action): action is ApprovalAction => action.type === 'REQUEST_APPROVAL');
}

/** A change of a record, as far as triggers name it. */
export interface TriggeringChange {
  readonly operation: TriggerOperation;
  /** Names as in rows. */
  readonly changedFields: readonly string[];
  readonly changedEdges?: readonly string[];
}

/** The triggers whose operation, fields and edges fit a change; their selectors and expressions are still to be evaluated. */
export function triggersOf({ triggers }: DefinitionDocument, change: TriggeringChange): Trigger[] {
  const names = new Set([...change.changedFields.map(snakeCase), ...(change.changedEdges ?? [])]);
  return triggers.filter(({ operation, fields = [], edges = [] }) => {
    const wanted = [...fields, ...edges];
    // A change of links alone starts only what names the link.
    const isOfRecord = change.operation !== 'update' || change.changedFields.length > 0;
    const isNamed = wanted.length === 0 ? isOfRecord : wanted.some((name) => names.has(name));
    return operation.toLowerCase() === change.operation && isNamed;
  });
}
