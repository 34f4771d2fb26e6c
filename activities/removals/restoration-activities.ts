import { setTimeout as pause } from 'node:timers/promises';
import { isUnknownWorkflow } from '../clients/temporal/temporal-client.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { placeOfWork } from '../kit/work-kind.ts';
import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { endFailures } from '#entities/kit/outbox/failing-work.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { restoreAll, restoredKinds, restorePage, type UndoneDeletion } from '#entities/kit/write/restore-deleted.ts';
import { organizationsOfRemoval, type DeletedOrganization } from '#entities/organizations/organization-removal-rows.ts';
import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { noMark } from '#entities/organizations/lifecycle.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
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
      async restoreContents({
        removalId,
        from,
      }: Restoration & { readonly from: RestorationProgress }): Promise<RestorationProgress> {
        let progress = from;
        if (from.isCompleted) return from;
        await restingSlice(async () => {
          progress = await transact(removalId, (unit) => restoreSome(unit, removalId, progress));
          return !progress.isCompleted;
        });
        return progress;
      },

      /** Restores the organizations with what was deleted together with them. @returns how many records it restored */
      completeRestoration: ({ removalId }: Restoration): Promise<number> =>
        transact(removalId, async (unit) => {
          const deletion = await deletionOf(unit, removalId);
          // An attempt before has committed.
          if (!deletion) return 0;
          const { atOnce } = restoredKinds(unit, organization);
          const restored =
            (await restoreAll(unit, [organization], deletion)) + (await restoreAll(unit, atOnce, deletion));
          for (const one of deletion.organizations) await finish(unit, one);
          return restored;
        }),
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
  removalId: string,
  progress: RestorationProgress,
): Promise<RestorationProgress> {
  const deletion = await deletionOf(unit, removalId);
  if (!deletion) return { ...progress, isCompleted: true };
  const { contents } = restoredKinds(unit, organization);
  const { before } = progress;
  const { restored, next } = await restorePage(unit, contents, deletion, { before, limit: pageSize });
  const restoredRecords = progress.restoredRecords + restored;
  const restoredInWalk = progress.restoredInWalk + restored;
  if (next) return { restoredRecords, restoredInWalk, before: next, isCompleted: false };
  return { restoredRecords, restoredInWalk: 0, before: null, isCompleted: restoredInWalk === 0 };
}

/** Nobody pays for it any more: it is not marked, and its customer is read again. */
async function finish(unit: UnitOfWork, { organizationId, removalId }: DeletedOrganization): Promise<void> {
  const { data } = unit;
  const at = { organizationId: { eq: organizationId } };
  const settings = await data.findOne(organizationSetting, at);
  if (settings && (settings.markedForDeletionAt !== null || settings.deletionRequesterId !== null))
    await data.update(organizationSetting, settings.id, noMark);
  const billing = await data.findOne(organizationBilling, at);
  if (billing) unit.emit(customEvent(organizationBilling, 'requested', billing, { change: 'undelete' }));
  await data.remove(organizationRemoval, removalId);
}
