import { ApplicationFailure } from '@temporalio/common';
import type { ApprovalWork, LockedInstance } from '#entities/automation/approvals/approval-work.ts';
import { isApplied, RefusedWhenWritten } from '#entities/automation/approvals/apply-proposal.ts';
import { askedStatesOf } from '#entities/automation/approvals/asked-state.ts';
import { isAsking, isOfGate } from '#entities/automation/approvals/asking-action.ts';
import { endInstance } from '#entities/automation/approvals/end-instance.ts';
import { journal } from '#entities/automation/approvals/journal.ts';
import { lockInstance } from '#entities/automation/approvals/lock-instance.ts';
import type { DefinitionDocument } from '#entities/automation/document/definition-document.ts';
import { withTraced, type TracedExpression } from '#entities/automation/document/traced-expressions.ts';
import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { workflowVersion } from '#entities/automation/workflow-version.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { organization } from '#entities/organizations/organization.ts';
import type { InstanceStep } from '#workflows/automation/run-workflow-instance.contract.ts';
import { isOutage } from '../events/listener-transaction.ts';
import { ActionRun } from './action-run.ts';
import { inInstance, type AutomationDependencies, type InstanceReference } from './instance-work.ts';
import { performAction } from './perform-action.ts';
import { shownInstance } from './shown-instance.ts';
import { stepGate, stepReview } from './step-decisions.ts';
import { done, next } from './step-results.ts';

/** Pause between looks at the configuration while workflows are off, in milliseconds. */
const offMs = 60_000;

const maxReason = 2_000;

/** The action that a step has reached, for the entry of one that fails. */
interface Progress {
  index: number | undefined;
  run: ActionRun | undefined;
  round: number | undefined;
}

/**
 * One step of an instance in one transaction: an action, a count of decisions, or its end. An action that fails leaves nothing of itself; the
 * instance then says so, and the step is tried again until an operator skips the action.
 */
export async function stepInstance(
  dependencies: AutomationDependencies,
  reference: InstanceReference,
): Promise<InstanceStep> {
  if (!dependencies.config.current.workflows.enabled) return { isDone: false, waitMs: offMs };
  const progress: Progress = { index: undefined, run: undefined, round: undefined };
  try {
    const result = await inInstance(dependencies, reference, async (unit) => {
      const ended = await step(dependencies, unit, reference, progress);
      const shown = await shownInstance(unit, reference.instanceId);
      failpoint('instance-step-before-commit');
      return { ...ended, ...(shown && { shown }) };
    });
    failpoint('instance-step-after-commit');
    return result;
  } catch (error) {
    if (error instanceof RefusedWhenWritten) return endRefused(dependencies, reference, error, progress.round);
    const { index, run } = progress;
    if (isOutage(error) || index === undefined) throw error;
    return markFailing(dependencies, reference, index, { error, traced: run?.traced ?? [] });
  }
}

async function step(
  dependencies: AutomationDependencies,
  unit: UnitOfWork,
  { instanceId }: InstanceReference,
  progress: Progress,
): Promise<InstanceStep> {
  const work: ApprovalWork = { unit, data: unit.data };
  const locked = await lockInstance(work, instanceId);
  if (!locked || locked.instance.endedAt !== null) return done;
  const { instance, record, held } = locked;
  // A wake may come, or start the workflow again, before the removal of the organization reaches the rows.
  if (!(await unit.data.findOne(organization, { id: { eq: instance.organizationId } }))) return done;
  if (!record && instance.trigger !== 'delete') {
    await endInstance(work, locked, { status: 'cancelled', reason: 'The record was deleted.' });
    return done;
  }
  const version = await unit.data.get(workflowVersion, instance.versionId);
  const document = version.document as DefinitionDocument;
  const runOf = (action: ActionRun['action']) => {
    progress.run = new ActionRun(dependencies, work, locked, version, action);
    return progress.run;
  };
  progress.index = instance.actionIndex;
  progress.round = instance.round;
  if (held && !(await isApplied(work, locked))) return stepGate(dependencies, work, locked, document, runOf);
  const action = document.actions[instance.actionIndex];
  if (!action) {
    await endInstance(work, locked, { status: 'completed', reason: null });
    return done;
  }
  const run = runOf(action);
  // Approvals of a gate are asked for together, before all other actions, and only about a change that is held.
  const isAskedBefore = isOfGate(action, document);
  // People who are asked stay asked, although the condition was about the time before.
  const isAsked = isAsking(action) && askedStatesOf(instance)[action.key] !== undefined;
  if (isAskedBefore || !(isAsked || (await run.isWanted()))) {
    const skipped = { actionKey: action.key, details: withTraced(null, run.traced) };
    if (!isAskedBefore || !held) await journal(work, instance, 'action_skipped', skipped);
    await advance(work, locked);
    return next;
  }
  if (isAsking(action)) {
    const review = await stepReview(work, locked, document, action);
    if (review !== 'satisfied') return review;
  }
  const details = isAsking(action) ? null : await performAction(run, action);
  const completed = { actionKey: action.key, details: withTraced(details, run.traced) };
  await journal(work, instance, 'action_completed', completed);
  await advance(work, locked);
  return next;
}

/** The next action follows. */
export async function advance({ data }: ApprovalWork, { instance }: LockedInstance): Promise<void> {
  const actionIndex = instance.actionIndex + 1;
  await data.update(workflowInstance, instance.id, {
    actionIndex,
    status: 'running',
    reason: null,
    waitingUntil: null,
  });
}

/** Ends an instance whose approved change cannot be written; the transaction that tried it is lost. A change that was edited since stays. */
function endRefused(
  dependencies: AutomationDependencies,
  reference: InstanceReference,
  { code, message: reason }: RefusedWhenWritten,
  round: number | undefined,
): Promise<InstanceStep> {
  return inInstance(dependencies, reference, async (unit) => {
    const work: ApprovalWork = { unit, data: unit.data };
    const locked = await lockInstance(work, reference.instanceId);
    if (!locked) return done;
    if (locked.instance.round !== round) return next;
    await endInstance(work, locked, { status: 'rejected', code, reason });
    return done;
  });
}

/** Says that an action fails, and why. @throws ApplicationFailure, so that the step is tried again */
async function markFailing(
  dependencies: AutomationDependencies,
  reference: InstanceReference,
  index: number,
  { error, traced }: { readonly error: unknown; readonly traced: readonly TracedExpression[] },
): Promise<InstanceStep> {
  const code = isAppError(error) ? error.code : 'internal';
  const said = isAppError(error) ? error.message : 'The server could not run the action; its log says why.';
  const message = shortened(said, maxReason - 1);
  const key = await inInstance(dependencies, reference, async (unit): Promise<string | undefined> => {
    const work: ApprovalWork = { unit, data: unit.data };
    const locked = await lockInstance(work, reference.instanceId);
    if (!locked || locked.instance.endedAt !== null || locked.instance.actionIndex !== index) return undefined;
    const { instance } = locked;
    const version = await unit.data.get(workflowVersion, instance.versionId);
    const actionKey = (version.document as DefinitionDocument).actions[index]?.key ?? 'end';
    if (instance.status === 'failing' && instance.reason === message) return actionKey;
    await unit.data.update(workflowInstance, instance.id, { status: 'failing', reason: message });
    await journal(work, instance, 'action_failed', { actionKey, details: withTraced({ code, message }, traced) });
    return actionKey;
  });
  // The instance has ended, or the action was skipped, meanwhile.
  if (key === undefined) return next;
  // The reason can quote values of records, which belong neither into logs nor to Temporal. The instance has it.
  const failure = isAppError(error) ? { code } : { err: error };
  dependencies.logger.warn(
    { ...failure, instance_id: reference.instanceId, action: key },
    'an action of a workflow failed',
  );
  throw ApplicationFailure.retryable(`action ${key}: ${code}; the instance ${reference.instanceId} says why`, code);
}
