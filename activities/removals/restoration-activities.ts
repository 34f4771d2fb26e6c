import { setTimeout as pause } from 'node:timers/promises';
import { isUnknownWorkflow } from '../clients/temporal/temporal-client.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { placeOfWork } from '../kit/work-kind.ts';
import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { endFailures } from '#entities/kit/outbox/failing-work.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { restoreAll, restoredKinds, restorePage, type UndoneDeletion } from '#entities/kit/write/restore-deleted.ts';
import { organizationsOfRemoval, type DeletedOrganization } from '#entities/organizations/organization-removal-rows.ts';
import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { noMark } from '#entities/organizations/lifecycle.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { membership } from '#entities/organizations/membership.ts';
import { organization } from '#entities/organizations/organization.ts';
import { removeOrganizationContract } from '#workflows/organizations/remove-organization.contract.ts';
import type { RestorationProgress } from '#workflows/organizations/restore-organization.contract.ts';
import { releaseRemovalSteps } from './release-removal-steps.ts';
import { removalRequest } from './removal-state.ts';
import { restingSlice } from './resting-slice.ts';

export type RestorationActivities = ReturnType<typeof createRestorationActivities>;

interface Restoration {
  readonly removalId: string;
}

interface ContinuedRestoration extends Restoration {
  readonly from: RestorationProgress;
}

/** Workflows of before did not say where to continue. */
const atBeginning: RestorationProgress = { restoredRecords: 0, restoredInWalk: 0, before: null, isCompleted: false };

/** Deletions of which one transaction undoes those that it can. */
const pageSize = 200;

/** Clocks of servers may differ by as much. Requests decide; the time only limits what is read. */
const clocksDifferByMs = 3_600_000;

/** Time in which an attempt of a step that is under way ends after its cancellation, in milliseconds. */
const endsWithinMs = 30_000;

/** The undo of a removal, whose status is `undoing`. Its request is that of the operator. */
export const createRestorationActivities = defineActivities(
  ({ database, temporal }: Pick<ActivityDependencies, 'database' | 'temporal'>) => {
    const transact = <T>(removalId: string, work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
      database.transact(workContext(systemCaller('undelete organization'), `undelete-${removalId}`), work);

    const restoreFor = async (
      modules: (unit: UnitOfWork) => readonly EntityModule[],
      { removalId, from }: ContinuedRestoration,
    ): Promise<RestorationProgress> => {
      let progress = from;
      if (from.isCompleted) return from;
      await restingSlice(async () => {
        progress = await transact(removalId, (unit) => restoreSome(unit, modules(unit), { removalId, from: progress }));
        return !progress.isCompleted;
      });
      return progress;
    };

    return {
      /** Ends the workflows of the removal, and waits for attempts of their steps that are under way. */
      async stopRemoval({ removalId }: Restoration): Promise<void> {
        const found = await transact(removalId, (unit) => organizationsOfRemoval(unit, removalId));
        for (const one of found) {
          const workflowId = temporal.workflowId(removeOrganizationContract, { removalId: one.removalId });
          const handle = temporal.client.workflow.getHandle(workflowId);
          const isRunning = () =>
            temporal.call('find a workflow', () => handle.describe()).then(({ status }) => status.name === 'RUNNING');
          const stop = async (): Promise<void> => {
            await temporal.call('cancel a workflow', () => handle.cancel());
            const endsAt = Date.now() + endsWithinMs;
            while (await isRunning()) {
              if (Date.now() > endsAt) throw new Error(`The removal ${one.removalId} has not ended yet.`);
              await pause(200);
            }
          };
          await stop().catch((error: unknown) => {
            if (!isUnknownWorkflow(error)) throw error;
          });
          const { name: workflowType } = removeOrganizationContract;
          const keys = releaseRemovalSteps.map(
            ({ name }) => placeOfWork({ workflowId, runId: '', workflowType }, name).key,
          );
          await transact(removalId, (unit) => endFailures(unit, keys));
        }
      },

      /** Restores contents for a while, in short transactions. */
      restoreContents: ({ removalId, from }: ContinuedRestoration): Promise<RestorationProgress> =>
        restoreFor((unit) => restoredKinds(unit, organization).contents, { removalId, from }),

      /** Restores the organizations, and then their members for a while, in short transactions. The last one ends the undo. */
      async completeRestoration({
        removalId,
        from = atBeginning,
      }: Partial<ContinuedRestoration> & Restoration): Promise<RestorationProgress> {
        const restored = await transact(removalId, (unit) => restoreOrganizations(unit, removalId));
        const begun = { ...from, restoredRecords: from.restoredRecords + restored };
        const progress = await restoreFor(() => [membership], { removalId, from: begun });
        if (progress.isCompleted) await transact(removalId, (unit) => endUndo(unit, removalId));
        return progress;
      },
    };
  },
);

interface Deletion extends UndoneDeletion {
  readonly organizations: readonly DeletedOrganization[];
}

/** @returns undefined when it is undone already */
async function deletionOf(unit: UnitOfWork, removalId: string): Promise<Deletion | undefined> {
  const removal = await unit.data.findLocked(organizationRemoval, removalId);
  if (!removal) return undefined;
  const organizations = await organizationsOfRemoval(unit, removalId);
  return {
    organizations,
    organizationIds: organizations.map(({ organizationId }) => organizationId),
    requestIds: organizations.flatMap((one) => [one.requestId ?? [], removalRequest(one.removalId)].flat()),
    since: new Date(removal.createdAt.getTime() - clocksDifferByMs),
  };
}

async function restoreSome(
  unit: UnitOfWork,
  modules: readonly EntityModule[],
  { removalId, from }: ContinuedRestoration,
): Promise<RestorationProgress> {
  const deletion = await deletionOf(unit, removalId);
  if (!deletion) return { ...from, isCompleted: true };
  const { before } = from;
  const { restored, next } = await restorePage(unit, modules, deletion, { before, limit: pageSize });
  const restoredRecords = from.restoredRecords + restored;
  const restoredInWalk = from.restoredInWalk + restored;
  if (next) return { restoredRecords, restoredInWalk, before: next, isCompleted: false };
  return { restoredRecords, restoredInWalk: 0, before: null, isCompleted: restoredInWalk === 0 };
}

/**
 * The organizations with all that was deleted together with them, except their members, of whom there can be many. Nobody enters before. Nobody
 * pays for them any more, so they are not marked.
 * @returns how many records it restored; none after an attempt that has committed
 */
async function restoreOrganizations(unit: UnitOfWork, removalId: string): Promise<number> {
  const deletion = await deletionOf(unit, removalId);
  if (!deletion) return 0;
  const others = restoredKinds(unit, organization).atOnce.filter(({ kind }) => kind !== membership.kind);
  const restored = (await restoreAll(unit, [organization], deletion)) + (await restoreAll(unit, others, deletion));
  if (restored === 0) return 0;
  for (const { organizationId } of deletion.organizations) {
    const settings = await unit.data.findOne(organizationSetting, { organizationId: { eq: organizationId } });
    if (settings && (settings.markedForDeletionAt !== null || settings.deletionRequesterId !== null))
      await unit.data.update(organizationSetting, settings.id, noMark);
  }
  return restored;
}

/** The customers are read again, and there is no removal any more. */
async function endUndo(unit: UnitOfWork, removalId: string): Promise<void> {
  const deletion = await deletionOf(unit, removalId);
  for (const { organizationId, removalId: id } of deletion?.organizations ?? []) {
    const billing = await unit.data.findOne(organizationBilling, { organizationId: { eq: organizationId } });
    if (billing) unit.emit(customEvent(organizationBilling, 'requested', billing, { change: 'undelete' }));
    await unit.data.remove(organizationRemoval, id);
  }
}
