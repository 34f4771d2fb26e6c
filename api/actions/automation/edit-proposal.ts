import { Type } from 'typebox';
import { endInstance } from '#entities/automation/approvals/end-instance.ts';
import { lockInstance } from '#entities/automation/approvals/lock-instance.ts';
import {
  beginInstance,
  emitSubmitted,
  reviseDraft,
  resubmit,
  submitDraft,
  versionInForce,
  withdrawDraft,
} from '#entities/automation/approvals/submit-proposal.ts';
import { proposedValues } from '#entities/automation/proposed-values.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { deniedMessage } from '#entities/kit/model/denied-message.ts';
import type { Asking } from '../../credentials/asking.ts';
import {
  ownOpenProposal,
  proposalInput,
  proposedChanges,
  type OwnProposal,
  type ProposalAddress,
} from '../../people/workflow-proposals.ts';
import { personAtWork } from '../../people/workflow-work.ts';
import { message } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const common = {
  tag: 'Workflow proposals',
  acceptsSingleSignOn: true,
  errors: ['not_found', 'permission_denied', 'rule_violated', 'workflows_disabled'],
} as const;

const revision = Type.Integer({ description: 'Number of the submission.' });
const hash = Type.String({ description: 'SHA-256 of the proposed values, in hexadecimal.' });

export const submitWorkflowProposal = defineAction({
  ...common,
  name: 'submitWorkflowProposal',
  url: '/v1/workflow-proposals/:recordKind/:id/submit',
  summary: 'Submit a draft of a change',
  description: 'For the person who has made the change. The people whom the definition names are asked.',
  input: proposalInput,
  answer: { instanceId: Type.String({ description: 'Id of the workflow that decides.' }), revision, hash },
  title: 'SubmittedWorkflowProposal',
  run: async (asking, address) => {
    const { work, own } = await ownProposal(asking, address);
    const { module, proposals, proposal, record } = own;
    if (proposal.status !== 'draft') throw new AppError('rule_violated', 'The proposal is submitted already.');
    const version = await versionInForce(work, proposal.definitionId);
    if (!version)
      throw new AppError(
        'rule_violated',
        'The definition holds no changes any more. Withdraw the draft, and make the change again.',
      );
    await requireEdit(asking, own);
    const submitted = await submitDraft(work, own);
    const { id: instanceId } = await beginInstance(work, { module, proposal: submitted, version, record });
    emitSubmitted(work.unit, proposals, submitted);
    return { instanceId, revision: submitted.revision, hash: submitted.hash };
  },
});

export const editWorkflowProposal = defineAction({
  ...common,
  name: 'editWorkflowProposal',
  url: '/v1/workflow-proposals/:recordKind/:id/edit',
  summary: 'Propose other values',
  description:
    'For the person who has made the change. Values of fields that are left out stay as they are proposed. Everybody is asked again, and decisions about the former values are not valid any more.',
  input: {
    ...proposalInput,
    changes: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Values by the names of the proposed fields.',
    }),
  },
  answer: { revision, hash },
  title: 'EditedWorkflowProposal',
  errors: [...common.errors, 'invalid_input'],
  run: async (asking, { changes: given, ...address }) => {
    const { work, own } = await ownProposal(asking, address);
    const { module, proposal, record } = own;
    if (proposal.trigger === 'delete')
      throw new AppError('rule_violated', 'A deletion has no values to edit; withdraw it instead.');
    await requireEdit(asking, own);
    const changes = { ...proposal.changes, ...proposedChanges(module, proposal, given) };
    const values = proposedValues(record, changes);
    if (proposal.status === 'draft') return reviseDraft(work, own, values);
    const locked = await lockInstance(work, String(proposal.instanceId));
    if (!locked || locked.instance.endedAt !== null) throw new AppError('rule_violated', 'The workflow has ended.');
    return resubmit(work, locked, values);
  },
});

export const withdrawWorkflowProposal = defineAction({
  ...common,
  name: 'withdrawWorkflowProposal',
  url: '/v1/workflow-proposals/:recordKind/:id/withdraw',
  summary: 'Withdraw a change that is not approved yet',
  description: 'For the person who has made the change. Nobody is asked about it any more.',
  input: {
    ...proposalInput,
    reason: Type.Optional(Type.String({ maxLength: 2_000, description: 'The reason, which the journal keeps.' })),
  },
  answer: { status: Type.String({ description: 'withdrawn' }), message },
  title: 'WithdrawnWorkflowProposal',
  run: async (asking, { reason = null, ...address }) => {
    const { work, own, userId } = await ownProposal(asking, address);
    const { instanceId } = own.proposal;
    const locked = instanceId === null ? undefined : await lockInstance(work, instanceId);
    if (locked)
      await endInstance(work, locked, {
        status: 'cancelled',
        reason: reason ?? 'The change was withdrawn.',
        code: 'withdrawn',
        actorId: userId,
        proposalStatus: 'withdrawn',
      });
    else await withdrawDraft(work, own, reason);
    return { status: 'withdrawn', message: 'The change is withdrawn.' };
  },
});

async function ownProposal(asking: Asking, address: ProposalAddress) {
  const { work, userId } = personAtWork(asking);
  return { work, userId, own: await ownOpenProposal(asking, work, address, userId) };
}

/** @throws AppError permission_denied for a person who may not edit the record any more */
async function requireEdit({ unit }: Asking, { module, record }: OwnProposal): Promise<void> {
  const row = { ...record };
  if ((await unit.data.decide(module, 'edit', row)).isAllowed) return;
  throw new AppError(
    'permission_denied',
    deniedMessage(module, { operation: 'edit', caller: unit.context.caller, row }),
  );
}
