import { newId } from '../../kit/base/ids.ts';
import { actorOf, type Caller } from '../../kit/model/caller.ts';
import type { EntityModule } from '../../kit/model/define.ts';
import { proposalKindOf, proposedRecordField } from '../../kit/model/derived/proposal.ts';
import type { ChangeWork, Stamp } from '../../kit/write/change-work.ts';
import { customEvent } from '../../kit/write/custom-events.ts';
import type { HoldRequest } from '../../kit/write/held-changes.ts';
import type { Proposal } from '../approvals/approval-work.ts';
import { emitSubmitted, instanceOfProposal, nextRound } from '../approvals/submit-proposal.ts';
import { withTraced, type TracedExpression } from '../document/traced-expressions.ts';
import { hashOfChanges, proposalKey, proposedValues } from '../proposed-values.ts';
import { workflowEvent } from '../workflow-event.ts';
import { workflowInstance } from '../workflow-instance.ts';
import { keptGate, type KeptGate } from '../kept-gate.ts';
import type { Gate } from './gate.ts';
import { serverData, type OpenProposal } from './open-proposals.ts';
import type { Submitter } from './submitter.ts';

type Row = Readonly<Record<string, unknown>>;

/** A change of a record that a gate holds. */
export interface WantedProposal {
  readonly gate: Gate;
  readonly row: Row;
  readonly trigger: 'update' | 'delete';
  /** Values of the held fields. */
  readonly values: Row;
  readonly submitter: Submitter;
  readonly proposalId: string;
  /** The open proposal that gets a new revision. */
  readonly existing: OpenProposal | undefined;
  /** Keys of the approvals that the gate has found needed. */
  readonly approvals: readonly string[];
  /** Expressions with which the gate has decided. */
  readonly traced: readonly TracedExpression[];
}

/** Writes proposals, the instances that decide about them, and the first entries of their journals; or new revisions of open proposals. */
export async function recordProposals(
  work: ChangeWork,
  caller: Caller,
  { module }: HoldRequest,
  wanted: readonly WantedProposal[],
): Promise<void> {
  const stamp = { at: work.clock.now(), actor: actorOf(caller) };
  const proposals = work.registry.byKind(proposalKindOf(module));
  for (const one of wanted) if (one.existing) await revise(work, proposals, one, one.existing, stamp);
  const made = wanted.filter(({ existing }) => !existing).map((one) => newProposal(module, one, stamp));
  if (made.length === 0) return;
  // Each of them refers to those before.
  await create(
    work,
    workflowInstance,
    made.flatMap(({ instance }) => instance ?? []),
  );
  await create(
    work,
    proposals,
    made.map(({ proposal }) => proposal),
  );
  await create(
    work,
    workflowEvent,
    made.flatMap(({ entry }) => entry ?? []),
  );
  for (const { proposal } of made)
    if (proposal.status === 'submitted') emitSubmitted(work, proposals, { ...proposal, recordVersion: 1 });
}

/** Records of the server: the limit of changes in one request is not about them. */
async function create(work: ChangeWork, module: EntityModule, inputs: readonly Row[]): Promise<void> {
  if (inputs.length === 0) return;
  await serverData(work).createAll(inputs.map((input) => ({ module, input, path: '', isGranted: true })));
}

function newProposal(module: EntityModule, wanted: WantedProposal, { at }: Stamp) {
  const { gate, row, trigger, submitter, proposalId: id, traced } = wanted;
  const organizationId = row['organizationId'] as string;
  const recordId = row['id'] as string;
  // Nobody could submit a draft of a program later.
  const isDraft = gate.isSubmittedByHand && submitter.submitterId !== null;
  const instanceId = isDraft ? null : newId();
  const values = proposedValues(row, wanted.values);
  const proposal = {
    id,
    organizationId,
    [proposedRecordField(module)]: recordId,
    definitionId: gate.definitionId,
    instanceId,
    trigger,
    ...values,
    revision: 1,
    status: instanceId === null ? ('draft' as const) : ('submitted' as const),
    ...submitter,
    submittedAt: instanceId === null ? null : at,
    openKey: proposalKey(gate.definitionId, recordId),
  };
  if (instanceId === null) return { proposal, instance: undefined, entry: undefined };
  const { context, ...begun } = instanceOfProposal(module, proposal, gate, row, at);
  const instance = { id: instanceId, ...begun, context: { ...context, ...keptGate(1, wanted.approvals) } };
  const entry = {
    organizationId,
    instanceId,
    type: 'workflow_triggered',
    personId: submitter.submitterId,
    details: withTraced({ hash: values.hash, revision: 1 }, traced),
  };
  return { proposal, instance, entry };
}

/** The same submitter changes the same fields again: everybody is asked anew, by the version that is in force. */
async function revise(
  work: ChangeWork,
  proposals: EntityModule,
  { gate, row, values: given, approvals, traced }: WantedProposal,
  existing: OpenProposal,
  stamp: Stamp,
): Promise<void> {
  const { instance, ...proposal } = existing;
  const values = proposedValues(row, { ...existing.changes, ...given });
  // Nothing new is proposed: decisions about these values stay valid.
  if (
    values.hash === existing['hash'] &&
    hashOfChanges(values.baseValues) === hashOfChanges(existing['baseValues'] as Row)
  )
    return;
  const revision = existing.revision + 1;
  const submitted = existing.status === 'submitted' ? { submittedAt: stamp.at } : {};
  const after = await work.update('system', proposals, proposal, {
    values: { ...values, revision, ...submitted },
    stamp,
  });
  if (!instance) return;
  const next = nextRound(instance, gate.id);
  const { gate: former } = (instance.context ?? {}) as Partial<KeptGate>;
  // Values of before are proposed, too, so their approvals stay needed, as far as the version has them.
  const keys = gate.approvals.flatMap(({ action: { key } }) =>
    approvals.includes(key) || former?.keys.includes(key) ? [key] : [],
  );
  const started = { ...next, context: { ...(instance.context as object | null), ...keptGate(next.round, keys) } };
  const running = await work.update('system', workflowInstance, { ...instance }, { values: started, stamp });
  emitSubmitted(work, proposals, after as unknown as Proposal);
  const { round } = started;
  const { id: instanceId, organizationId } = instance;
  if (traced.length > 0)
    await create(work, workflowEvent, [
      { organizationId, instanceId, type: 'round_started', details: withTraced({ round }, traced) },
    ]);
  work.emit(customEvent(workflowInstance, 'round_started', running as unknown as typeof instance, { round }));
}
