import { Type } from 'typebox';
import { changedSince } from '#entities/automation/approvals/apply-proposal.ts';
import { asJson } from '#entities/automation/proposed-values.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { proposalInput, visibleProposal } from '../../people/workflow-proposals.ts';
import { workflowWork } from '../../people/workflow-work.ts';
import { orNull } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

/** Any JSON value, null included. */
const anyValue = (description: string) => Type.Unsafe<unknown>({ anyOf: [{}, { type: 'null' }], description });

const field = Type.Object(
  {
    field: Type.String({ description: 'Name of the field.' }),
    current: anyValue('Value that the record has now.'),
    base: anyValue('Value that the record had when the change was submitted.'),
    proposed: anyValue('Value that is proposed.'),
    isOutdated: Type.Boolean({
      description:
        'Whether the record has changed since: the proposal is then not applied, until it is submitted again.',
    }),
  },
  { title: 'ProposedField', description: 'Proposed value of one field.' },
);

export const previewWorkflowProposal = defineAction({
  name: 'previewWorkflowProposal',
  method: 'GET',
  url: '/v1/workflow-proposals/:recordKind/:id/preview',
  tag: 'Workflow proposals',
  summary: 'Compare a proposal with the record',
  description: 'Current and proposed values, field by field. For everybody who may view the record.',
  acceptsSingleSignOn: true,
  input: proposalInput,
  answer: {
    status: Type.String({ description: 'Status of the proposal.' }),
    trigger: Type.String({ description: 'update, or delete: the record is deleted when the proposal is applied.' }),
    revision: Type.Integer({ description: 'Number of the submission; each change of the proposal is a new one.' }),
    hash: Type.String({ description: 'SHA-256 of the proposed values, in hexadecimal.' }),
    recordId: idSchema('Id of the record.'),
    instanceId: orNull(Type.String({ description: 'Id of the workflow that decides; null for a draft.' })),
    fields: Type.Array(field, { description: 'The proposed fields; empty for a deletion.' }),
  },
  title: 'WorkflowProposalPreview',
  errors: ['not_found', 'workflows_disabled'],
  run: async (asking, { recordKind, id }) => {
    // Rights are the caller's own: only what the caller may view is compared.
    workflowWork(asking);
    const { module, proposal, recordId } = await visibleProposal(asking, recordKind, id);
    const record = asJson(await asking.unit.data.get(module, recordId));
    const outdated = new Set(changedSince(record, proposal));
    const { status, trigger, revision, hash, instanceId, changes, baseValues } = proposal;
    const fields = Object.entries(changes).map(([name, proposed]) => ({
      field: snakeCase(name),
      current: record[name] ?? null,
      base: baseValues[name] ?? null,
      proposed,
      isOutdated: outdated.has(name),
    }));
    return { status, trigger, revision, hash, recordId, instanceId, fields };
  },
});
