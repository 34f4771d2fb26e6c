import type { EntityModule, RowOf } from '../../kit/model/define.ts';
import { proposalKindOf } from '../../kit/model/derived/proposal.ts';
import type { UnitOfWork } from '../../kit/unit/unit-of-work.ts';
import type { ChangeWork } from '../../kit/write/change-work.ts';
import { lockOpenProposals } from '../gate-rows.ts';
import { workflowInstance } from '../workflow-instance.ts';
import type { Submitter } from './submitter.ts';

type Row = Readonly<Record<string, unknown>>;

/** A proposal that is locked, with the instance that decides about it. */
export interface OpenProposal extends Row, Submitter {
  readonly id: string;
  readonly openKey: string;
  readonly trigger: 'update' | 'delete';
  readonly status: 'draft' | 'submitted';
  readonly changes: Row;
  readonly revision: number;
  /** Undefined for a draft. */
  readonly instance: RowOf<typeof workflowInstance> | undefined;
}

/** Locks and reads open proposals about records of a kind, which are locked already. @returns them by key */
export async function readOpenProposals(
  work: ChangeWork,
  module: EntityModule,
  keys: readonly string[],
): Promise<Map<string, OpenProposal>> {
  const proposals = work.registry.byKind(proposalKindOf(module));
  const ids = await lockOpenProposals(work, proposals.table, keys);
  if (ids.length === 0) return new Map();
  const data = serverData(work);
  const rows: Row[] = await data.find(proposals, { where: { id: { in: ids } }, limit: ids.length });
  const instanceIds = rows.flatMap(({ instanceId }) => (typeof instanceId === 'string' ? [instanceId] : []));
  const instances =
    instanceIds.length === 0
      ? []
      : await data.find(workflowInstance, { where: { id: { in: instanceIds } }, limit: instanceIds.length });
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  return new Map(
    rows.map((row) => {
      const open = { ...row, instance: byId.get(row['instanceId'] as string) } as OpenProposal;
      return [open.openKey, open];
    }),
  );
}

/** Every work of changes is a unit of work; the data layer below it cannot say so. */
export function serverData(work: ChangeWork) {
  return (work as UnitOfWork).data.privileged('hold a change');
}
