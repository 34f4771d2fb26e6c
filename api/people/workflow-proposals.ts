import { Type } from 'typebox';
import type { ApprovalWork, Proposal } from '#entities/automation/approvals/approval-work.ts';
import { proposedRecordField } from '#entities/kit/model/derived/proposal.ts';
import { proposalsOf } from '#entities/automation/approvals/lock-instance.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { namedIn, snakeCase } from '#entities/kit/base/snake-case.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { validateChanges } from '#entities/kit/model/input.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import type { Asking } from '../credentials/asking.ts';
import { idSchema } from '../http/request-schemas.ts';

/** A proposal, with its kind and that of the record. */
export interface FoundProposal {
  readonly module: EntityModule;
  readonly proposals: EntityModule;
  readonly proposal: Proposal;
  readonly recordId: string;
}

/** An open proposal of the caller, with its record; both are locked. */
export interface OwnProposal extends FoundProposal {
  readonly record: Readonly<Record<string, unknown>>;
}

/** Parameters of the routes of proposals. */
export interface ProposalAddress {
  readonly recordKind: string;
  readonly id: string;
}

/** A proposal that the caller may view. @param recordKind such as `task` or `api_token` @throws AppError not_found */
export async function visibleProposal({ unit }: Asking, recordKind: string, id: string): Promise<FoundProposal> {
  const automated = unit.registry.modules.filter(({ automation }) => automation !== undefined);
  const kind = namedIn(
    automated.map((module) => module.kind),
    recordKind,
  );
  const module = automated.find((one) => one.kind === kind);
  if (!module)
    throw new AppError(
      'not_found',
      `There are no proposals about records of the kind "${shortened(recordKind)}"; kinds are ${automated.map((one) => snakeCase(one.kind)).join(', ')}.`,
    );
  const proposals = proposalsOf({ unit }, module);
  const proposal = (await unit.data.findOne(proposals, { id: { eq: existingId(proposals, id) } })) as
    | Proposal
    | undefined;
  if (!proposal) throw missingRecord(proposals, id);
  return { module, proposals, proposal, recordId: proposal[proposedRecordField(module)] as string };
}

/**
 * A proposal of the caller, locked after its record, that has not ended.
 * @throws AppError not_found; permission_denied for one of somebody else; rule_violated for one that has ended
 */
export async function ownOpenProposal(
  asking: Asking,
  work: ApprovalWork,
  { recordKind, id }: ProposalAddress,
  userId: string,
): Promise<OwnProposal> {
  const found = await visibleProposal(asking, recordKind, id);
  const { module, proposals, recordId } = found;
  if (found.proposal.submitterId !== userId)
    throw new AppError('permission_denied', 'Only the person who has made the change edits, submits or withdraws it.');
  const record = await work.data.findLocked(module, recordId);
  const proposal = (await work.data.findLocked(proposals, id)) as Proposal | undefined;
  if (!record || !proposal) throw missingRecord(proposals, id);
  if (proposal.status !== 'draft' && proposal.status !== 'submitted')
    throw new AppError('rule_violated', `The proposal has ended: it is ${proposal.status}. Make the change again.`);
  return { ...found, proposal, record };
}

/** Parameters of the routes of proposals. */
export const proposalInput = {
  recordKind: Type.String({ minLength: 1, maxLength: 64, description: 'Kind of the record, such as `task`.' }),
  id: idSchema('Id of the proposal.'),
};

/**
 * Values that a person proposes, by the names of the fields, in GraphQL's writing or in that of REST.
 * @throws AppError invalid_input for other fields than those of the proposal, and for values that do not fit
 */
export function proposedChanges(
  module: EntityModule,
  { domain }: Proposal,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const known = String(domain).split(',');
  const named = Object.entries(given).map(([name, value]) => [namedIn(known, name) ?? name, value] as const);
  const unknown = named.filter(([name]) => !known.includes(name));
  if (unknown.length > 0)
    throw inputError(
      unknown.map(([name]) => ({
        path: `/changes/${name}`,
        message: `is not proposed; proposed are: ${known.join(', ')}`,
      })),
    );
  return validateChanges(module, Object.fromEntries(named));
}
