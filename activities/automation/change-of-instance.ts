import type { LockedInstance } from '#entities/automation/approvals/approval-work.ts';
import type { ChangeFacts } from '#entities/automation/document/expression-values.ts';
import { keptChangeOf } from '#entities/automation/kept-change.ts';
import { rowOfRecord } from '#entities/kit/unit/record-rows.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/**
 * The change that started an instance, for expressions of its actions. The record has its current values, and after its deletion the last ones.
 * While a change is held, it has the proposed values, as for the gate that holds the change: the same conditions apply.
 */
export async function changeOfInstance(
  unit: UnitOfWork,
  { instance, module, record, held }: LockedInstance,
): Promise<ChangeFacts> {
  const {
    changedFields = [],
    changedEdges = [],
    addedIds = {},
    removedIds = {},
    oldValues = null,
    userId = instance.initiatorId,
    at = instance.createdAt.toISOString(),
  } = keptChangeOf(instance);
  const { subjectId: id, organizationId, trigger: operation } = instance;
  const last = record ?? (await rowOfRecord(unit, module, id));
  const proposal = held?.proposal;
  const proposed = proposal?.changes ?? {};
  const former = proposal?.baseValues ?? oldValues;
  const object = { ...last, ...(proposal?.status === 'submitted' ? proposed : {}), id, organizationId };
  return {
    operation,
    object,
    oldObject: operation === 'create' || former === null ? null : { ...object, ...former },
    userId,
    changedFields: proposal ? Object.keys(proposed) : changedFields,
    at: new Date(at),
    changedEdges,
    addedIds,
    removedIds,
    proposedChanges: proposed,
  };
}
