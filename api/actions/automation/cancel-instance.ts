import { Type } from 'typebox';
import { applyProposal, isFinal, RefusedWhenWritten } from '#entities/automation/approvals/apply-proposal.ts';
import type { ApprovalWork, LockedInstance } from '#entities/automation/approvals/approval-work.ts';
import { endInstance } from '#entities/automation/approvals/end-instance.ts';
import { laterCaller } from '#entities/automation/approvals/caller-of-submitter.ts';
import { authorsOf } from '#entities/automation/approvals/who-counts.ts';
import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import type { LaterPrincipal } from '#entities/kit/access/later-caller.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { Asking } from '../../credentials/asking.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { callerSettings, lockedForManager, personAtWork } from '../../people/workflow-work.ts';
import { listOf, orNull, recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

/** Workflows that are ended by one request. */
const maxIds = 100;

const common = {
  tag: 'Workflow instances',
  acceptsSingleSignOn: true,
  errors: ['not_found', 'permission_denied', 'rule_violated', 'workflows_disabled'],
} as const;

const reason = Type.String({ minLength: 1, maxLength: 2_000, description: 'The reason, which the journal keeps.' });

const isApplied = Type.Optional(
  Type.Boolean({
    description:
      'Whether the held change is written although it is not approved; false when left out. Nobody does this with a change of their own.',
  }),
);

const one = { id: idSchema('Id of the workflow.'), reason };

const many = {
  ids: Type.Array(idSchema('Id of a workflow.'), {
    minItems: 1,
    maxItems: maxIds,
    description: 'Ids of the workflows.',
  }),
  reason,
};

const results = listOf(
  Type.Object(
    {
      id: idSchema('Id of the workflow.'),
      code: orNull(Type.String({ description: 'Code of the error for which it has not ended; null if it has.' })),
      message: orNull(Type.String({ description: 'The reason, as text for people.' })),
    },
    { title: 'EndedWorkflowInstance', description: 'Result for one workflow.' },
  ),
);

const forced = 'For owners and admins. Open assignments are cancelled, and never approved; further actions do not run.';
const appliedOnDemand = `${forced} A held change is written only with \`is_applied\`; otherwise its proposal is rejected.`;

export const cancelWorkflowInstance = defineAction({
  ...common,
  name: 'cancelWorkflowInstance',
  url: '/v1/workflow-instances/:id/cancel',
  summary: 'Cancel a workflow',
  description: `${forced} A held change is not written.`,
  input: one,
  answer: { workflowInstance: recordOf(workflowInstance) },
  run: async (asking, { id, reason: given }) => ({ workflowInstance: await cancelOne(asking, id, given) }),
});

export const cancelWorkflowInstances = defineAction({
  ...common,
  name: 'cancelWorkflowInstances',
  url: '/v1/workflow-instances/cancel',
  summary: 'Cancel several workflows',
  description: `${forced} Held changes are not written.`,
  input: many,
  answer: results,
  run: (asking, { ids, reason: given }) => each(ids, (id) => cancelOne(asking, id, given)),
});

export const forceCompleteWorkflowInstance = defineAction({
  ...common,
  name: 'forceCompleteWorkflowInstance',
  url: '/v1/workflow-instances/:id/force-complete',
  summary: 'Complete a workflow without the decisions for which it waits',
  description: appliedOnDemand,
  input: { ...one, isApplied },
  answer: { workflowInstance: recordOf(workflowInstance) },
  run: async (asking, { id, reason: given, isApplied: apply = false }) => ({
    workflowInstance: await completeOne(asking, id, given, apply).catch((error: unknown) => refuseRequest(id, error)),
  }),
});

export const forceCompleteWorkflowInstances = defineAction({
  ...common,
  name: 'forceCompleteWorkflowInstances',
  url: '/v1/workflow-instances/force-complete',
  summary: 'Complete several workflows without the decisions for which they wait',
  description: appliedOnDemand,
  input: { ...many, isApplied },
  answer: results,
  run: (asking, { ids, reason: given, isApplied: apply = false }) =>
    each(ids, (id) => completeOne(asking, id, given, apply)),
});

async function cancelOne(asking: Asking, id: string, given: string): Promise<string> {
  const { work, userId } = personAtWork(asking);
  const locked = await lockedForManager(asking, work, id);
  await endInstance(work, locked, { status: 'cancelled', reason: given, code: 'cancelled', actorId: userId });
  return id;
}

async function completeOne(asking: Asking, id: string, given: string, apply: boolean): Promise<string> {
  const { work, userId } = personAtWork(asking);
  const locked = await lockedForManager(asking, work, id);
  if (apply) await applyUnapproved(asking, work, locked, userId);
  await endInstance(work, locked, { status: 'completed', reason: given, code: 'forced', actorId: userId });
  return id;
}

/** @throws AppError rule_violated for a change of the caller, and for one that cannot be written any more */
async function applyUnapproved(
  asking: Asking,
  work: ApprovalWork,
  locked: LockedInstance,
  userId: string,
): Promise<void> {
  if (!locked.held) throw new AppError('rule_violated', 'The workflow holds no change: it is written already.');
  if ((await authorsOf(work, locked)).has(userId))
    throw new AppError(
      'rule_violated',
      'You have made the change yourself, so somebody else writes it without approvals.',
    );
  const callerOf = (principal: LaterPrincipal) => laterCaller(work.unit, principal, callerSettings(asking));
  const applied = await applyProposal(work, locked, { callerOf, forcedBy: userId });
  if (applied.is === 'refused')
    throw new AppError('rule_violated', `The change cannot be written: ${applied.reason} Cancel the workflow instead.`);
}

/** Ends each, and says of which it was refused; an error that is no refusal ends the request. */
async function each(ids: readonly string[], end: (id: string) => Promise<string>) {
  const found = [];
  for (const id of new Set(ids)) found.push(await outcomeOf(id, end));
  return found;
}

async function outcomeOf(id: string, end: (id: string) => Promise<string>) {
  try {
    return { id: await end(id), code: null, message: null };
  } catch (error) {
    if (!isFinal(error)) return refuseRequest(id, error);
    return { id, code: error.code, message: error.message };
  }
}

/** Ends the request: nothing more can be written after a refused statement. @throws AppError rule_violated, or the error itself */
function refuseRequest(id: string, error: unknown): never {
  if (!(error instanceof RefusedWhenWritten)) throw error;
  const message = `The change that the workflow ${id} holds cannot be written: ${error.message} Nothing has ended. Cancel this workflow instead.`;
  throw new AppError('rule_violated', message, { cause: error });
}
