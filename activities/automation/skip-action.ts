import { isApplied } from '#entities/automation/approvals/apply-proposal.ts';
import { journal } from '#entities/automation/approvals/journal.ts';
import { lockInstance } from '#entities/automation/approvals/lock-instance.ts';
import type { ApprovalWork } from '#entities/automation/approvals/approval-work.ts';
import type { DefinitionDocument } from '#entities/automation/document/definition-document.ts';
import { workflowVersion } from '#entities/automation/workflow-version.ts';
import { inInstance, type AutomationDependencies, type InstanceReference } from './instance-work.ts';
import { advance } from './step-instance.ts';

/**
 * Continues with the action after the one that fails. It does nothing to an instance that does not fail any more, and to one whose change is still
 * held: before its actions, the change is decided and written.
 */
export function skipAction(dependencies: AutomationDependencies, reference: InstanceReference): Promise<void> {
  return inInstance(dependencies, reference, async (unit) => {
    const work: ApprovalWork = { unit, data: unit.data };
    const locked = await lockInstance(work, reference.instanceId);
    if (locked?.instance.status !== 'failing') return;
    if (locked.held && !(await isApplied(work, locked))) return;
    const { instance } = locked;
    const version = await unit.data.get(workflowVersion, instance.versionId);
    const { key = null } = (version.document as DefinitionDocument).actions[instance.actionIndex] ?? {};
    await journal(work, instance, 'action_skipped', { actionKey: key, details: { reason: instance.reason } });
    await advance(work, locked);
  });
}
