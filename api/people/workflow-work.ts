import type { ApprovalWork, LockedInstance } from '#entities/automation/approvals/approval-work.ts';
import type { CallerSettings } from '#entities/automation/approvals/caller-of-submitter.ts';
import { lockInstance } from '#entities/automation/approvals/lock-instance.ts';
import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { isManager } from '#entities/presets/roles.ts';
import type { Asking } from '../credentials/asking.ts';
import { signedInPerson } from '../credentials/signed-in-person.ts';
import { requireEngine } from './saved-definition.ts';

/** The rights of the server to the rows of workflows; the code of each action says who may do what. @throws AppError workflows_disabled */
export function workflowWork(asking: Asking): ApprovalWork {
  requireEngine(asking);
  const { unit } = asking;
  return { unit, data: unit.data.privileged('act on workflow') };
}

/** Settings with which the rights of people are read who are not there. */
export function callerSettings({ services }: Asking): CallerSettings {
  return {
    contextOfCallers: services.contextOfCallers,
    tokenSettings: () => services.config.current.auth.token.apitokens,
  };
}

/** A signed-in person who acts on workflows. @throws AppError workflows_disabled, permission_denied */
export function personAtWork(asking: Asking): { readonly work: ApprovalWork; readonly userId: string } {
  const work = workflowWork(asking);
  return { work, userId: signedInPerson(asking).userId };
}

/**
 * An open instance, locked for an owner or admin who ends it.
 * @throws AppError not_found for instances that the caller may not view; permission_denied; rule_violated for one that has ended
 */
export async function lockedForManager(asking: Asking, work: ApprovalWork, id: string): Promise<LockedInstance> {
  const { unit } = asking;
  if (!(await unit.data.findOne(workflowInstance, { id: { eq: existingId(workflowInstance, id) } })))
    throw missingRecord(workflowInstance, id);
  if (!isManager(unit.context.caller.role))
    throw new AppError('permission_denied', 'Only owners and admins of the organization end workflows.');
  const locked = await lockInstance(work, id);
  if (!locked) throw missingRecord(workflowInstance, id);
  if (locked.instance.endedAt !== null)
    throw new AppError('rule_violated', `The workflow has ended already: it is ${locked.instance.status}.`);
  return locked;
}
