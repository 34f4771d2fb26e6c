import { snakeCase } from '../../kit/base/snake-case.ts';
import type { EntityModule } from '../../kit/model/define.ts';
import { answeredFields } from '../../kit/model/exposure.ts';
import type { Outcome } from '../outcome.ts';
import type { TriggerOperation } from '../definition-fields.ts';
import type { AssignmentStatus } from '../workflow-assignment.ts';

type Values = Readonly<Record<string, unknown>>;

/** A change of a record, with names of fields as in rows. */
export interface ChangeFacts {
  readonly operation: TriggerOperation;
  /** Values of the record after the change; of a deletion, the last ones. Fields that it lacks have their defaults. */
  readonly object: Values;
  /** Values before the change; null for a new record, or where they are unknown. */
  readonly oldObject: Values | null;
  /** Person who made the change; null for a program or the server. */
  readonly userId: string | null;
  readonly changedFields: readonly string[];
  readonly at: Date;
  readonly changedEdges?: readonly string[];
  /** Ids of linked and of unlinked records, by the names of the edges. */
  readonly addedIds?: Readonly<Record<string, readonly string[]>>;
  readonly removedIds?: Readonly<Record<string, readonly string[]>>;
  /** Values that wait for an approval. */
  readonly proposedChanges?: Values;
}

/** A workflow and its decisions, for expressions of actions. */
export interface RunFacts {
  readonly instanceId: string;
  readonly status: string;
  readonly actionIndex: number;
  readonly definitionId: string;
  readonly objectId: string;
  readonly actionKey: string;
  readonly initiatorId: string | null;
  readonly assignments: readonly Decision[];
  /** Outcomes of the actions that have asked people, by their keys. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
}

/** Facts about the workflow that a change would start: nobody has decided yet. */
export function notBegun(
  run: Pick<RunFacts, 'objectId' | 'actionKey' | 'initiatorId'> &
    Partial<Pick<RunFacts, 'actionIndex' | 'definitionId'>>,
): RunFacts {
  return {
    instanceId: '',
    status: 'running',
    actionIndex: 0,
    definitionId: '',
    assignments: [],
    outcomes: new Map(),
    ...run,
  };
}

interface Decision {
  readonly actionKey: string;
  readonly status: AssignmentStatus;
  readonly userId: string;
}

/** Values of the variables of `environmentOf` for a change. @param run with the variables of actions */
export function valuesOf(module: EntityModule, change: ChangeFacts, run?: RunFacts): Record<string, unknown> {
  const { oldObject, proposedChanges = {} } = change;
  return {
    object: recordValues(module, change.object, change.at),
    old_object: oldObject && recordValues(module, oldObject, change.at),
    user_id: change.userId,
    changed_fields: change.changedFields.map(snakeCase),
    changed_edges: change.changedEdges ?? [],
    added_ids: change.addedIds ?? {},
    removed_ids: change.removedIds ?? {},
    event_type: change.operation.toUpperCase(),
    event_time: change.at,
    proposed_changes: Object.fromEntries(
      Object.entries(proposedChanges).map(([name, value]) => [snakeCase(name), inExpressions(module, name, value)]),
    ),
    ...(run && valuesOfRun(module, run)),
  };
}

/** Values of the variables that only expressions of actions have. */
export function valuesOfRun(module: EntityModule, run: RunFacts): Record<string, unknown> {
  const byAction = Map.groupBy(run.assignments, ({ actionKey }) => actionKey);
  return {
    assignments: {
      ...countsOf(run.assignments),
      by_action: Object.fromEntries(
        Array.from(byAction, ([key, own]) => [key, actionValues(key, own, run.outcomes.get(key) ?? 'unattended')]),
      ),
    },
    instance: { id: run.instanceId, state: run.status.toUpperCase(), current_action_index: run.actionIndex },
    initiator: run.initiatorId,
    instance_id: run.instanceId,
    definition_id: run.definitionId,
    object_id: run.objectId,
    object_type: module.typeName,
    action_key: run.actionKey,
  };
}

function countsOf(decisions: readonly Decision[]) {
  const count = (wanted: AssignmentStatus) => decisions.filter(({ status }) => status === wanted).length;
  return {
    total: decisions.length,
    pending: count('pending'),
    approved: count('approved'),
    rejected: count('rejected'),
  };
}

/** Statuses of actions in expressions. */
const statusOf = {
  satisfied: 'APPROVED',
  rejected: 'REJECTED',
  pending: 'PENDING',
  changes_requested: 'PENDING',
  unattended: 'CANCELLED',
} as const satisfies Record<Outcome, string>;

function actionValues(key: string, own: readonly Decision[], outcome: Outcome) {
  const approved = own.filter(({ status }) => status === 'approved');
  return { key, status: statusOf[outcome], ...countsOf(own), approver_ids: approved.map(({ userId }) => userId) };
}

function recordValues(module: EntityModule, row: Values, at: Date): Record<string, unknown> {
  return Object.fromEntries(
    answeredFields(module).map((name) => [
      snakeCase(name),
      inExpressions(module, name, row[name] ?? missingValue(module, name, at)),
    ]),
  );
}

/** Value in place of one that a record lacks because it is older than the field; null where that is a value. */
function missingValue({ fields }: EntityModule, name: string, at: Date): unknown {
  const field = fields[name];
  if (!field) return name.endsWith('At') ? at : name === 'recordVersion' ? 1 : '';
  if (field.optional || field.type === 'json') return null;
  if (field.default !== undefined) return field.default;
  const empty = { integer: 0, decimal: '0', boolean: false, textList: [], date: at, timestamp: at } as const;
  return field.type in empty ? empty[field.type as keyof typeof empty] : '';
}

function inExpressions({ fields }: EntityModule, name: string, value: unknown): unknown {
  const type = fields[name]?.type;
  if (type === 'decimal' && typeof value === 'string') return Number(value);
  if (type === 'date' && typeof value === 'string') return new Date(`${value}T00:00:00Z`);
  return value;
}
