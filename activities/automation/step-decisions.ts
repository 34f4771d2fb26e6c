import { applyProposal } from '#entities/automation/approvals/apply-proposal.ts';
import type { ApprovalWork, Instance, LockedInstance } from '#entities/automation/approvals/approval-work.ts';
import { askingActionOf, askingActionsOf, type AskingAction } from '#entities/automation/approvals/asking-action.ts';
import { laterCaller } from '#entities/automation/approvals/caller-of-submitter.ts';
import { endInstance } from '#entities/automation/approvals/end-instance.ts';
import { journal } from '#entities/automation/approvals/journal.ts';
import { stepApprovals } from '#entities/automation/approvals/step-approvals.ts';
import type {
  Action,
  ApprovalAction,
  DefinitionDocument,
  ReviewAction,
} from '#entities/automation/document/definition-document.ts';
import { heldFieldsOf } from '#entities/automation/document/publication.ts';
import { withTraced } from '#entities/automation/document/traced-expressions.ts';
import { keptGate, type KeptGate } from '#entities/automation/kept-gate.ts';
import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import type { InstanceStep } from '#workflows/automation/run-workflow-instance.contract.ts';
import type { ActionRun } from './action-run.ts';
import { callerSettings, type AutomationDependencies } from './instance-work.ts';
import { done, next } from './step-results.ts';

/** Counts the approvals of a change that is held, and writes it when all are given. */
export async function stepGate(
  dependencies: AutomationDependencies,
  work: ApprovalWork,
  locked: LockedInstance,
  document: DefinitionDocument,
  runOf: (action: Action) => ActionRun,
): Promise<InstanceStep> {
  const [keys, instance] = await keysOfRound(work, locked, document, runOf);
  const current = { ...locked, instance };
  const decided = await ask(work, current, askingActionsOf(document, keys), false);
  if (decided !== 'satisfied') return decided;
  const settings = callerSettings(dependencies);
  const applied = await applyProposal(work, current, {
    callerOf: (principal) => laterCaller(work.unit, principal, settings),
  });
  if (applied.is === 'refused') {
    const { code, reason } = applied;
    await endInstance(work, current, { status: 'rejected', code, reason });
    return done;
  }
  await work.data.update(workflowInstance, instance.id, { status: 'running', reason: null, waitingUntil: null });
  return next;
}

/** Counts the decisions about a change that is written. */
export function stepReview(
  work: ApprovalWork,
  locked: LockedInstance,
  document: DefinitionDocument,
  action: ApprovalAction | ReviewAction,
): Promise<InstanceStep | 'satisfied'> {
  return ask(work, locked, [askingActionOf(action, document)], true);
}

async function ask(
  work: ApprovalWork,
  locked: LockedInstance,
  actions: readonly AskingAction[],
  isWritten: boolean,
): Promise<InstanceStep | 'satisfied'> {
  const { instance } = locked;
  const result = await stepApprovals(work, locked, actions, isWritten);
  switch (result.is) {
    case 'satisfied':
      return 'satisfied';
    case 'rejected':
      await endInstance(work, locked, { status: 'rejected', code: result.code, reason: result.reason });
      return done;
    case 'gone':
      await endInstance(work, locked, { status: 'cancelled', reason: 'The record was deleted.' });
      return done;
    case 'waiting': {
      const { wakeAt: waitingUntil, reason } = result;
      await work.data.update(workflowInstance, instance.id, { status: 'waiting', waitingUntil, reason });
      const waitMs = waitingUntil && Math.max(1, waitingUntil.getTime() - work.unit.clock.now().getTime());
      return { isDone: false, waitMs };
    }
    default:
      result satisfies never;
      throw new TypeError('unknown result of a step');
  }
}

/**
 * The approvals that a held change needs: those whose fields it changes and whose condition is not false, decided once for each round, with those
 * that the gate has found. A field that none of them is about needs all that are about it: nothing is written without an approval.
 */
async function keysOfRound(
  work: ApprovalWork,
  { instance, module, held }: LockedInstance,
  document: DefinitionDocument,
  runOf: (action: Action) => ActionRun,
): Promise<readonly [readonly string[], Instance]> {
  const { gate } = (instance.context ?? {}) as Partial<KeptGate>;
  if (gate?.round === instance.round) return [gate.keys, instance];
  const approvals = document.actions.filter(({ type }) => type === 'REQUEST_APPROVAL') as ApprovalAction[];
  const proposed = Object.keys(held?.proposal?.changes ?? {});
  const fieldsOf = ({ params }: ApprovalAction) => {
    const fields = heldFieldsOf(module, params);
    return proposed.filter((name) => fields.includes(name));
  };
  const concerned = approvals.filter((action) => instance.trigger === 'delete' || fieldsOf(action).length > 0);
  const wanted: ApprovalAction[] = [];
  for (const action of concerned) {
    const run = runOf(action);
    if (await run.isNeeded()) wanted.push(action);
    const traced = withTraced({ round: instance.round }, run.traced);
    if (run.traced.length > 0)
      await journal(work, instance, 'round_started', { actionKey: action.key, details: traced });
  }
  const covered = new Set(wanted.flatMap(fieldsOf));
  const isUncovered = (action: ApprovalAction) => fieldsOf(action).some((name) => !covered.has(name));
  const sufficient = concerned.filter((action) => wanted.includes(action) || isUncovered(action));
  const needed = sufficient.length > 0 ? sufficient : concerned.length > 0 ? concerned : approvals;
  const keys = needed.map(({ key }) => key);
  const context = { ...(instance.context as object | null), ...keptGate(instance.round, keys) };
  return [keys, { ...(await work.data.update(workflowInstance, instance.id, { context })) }];
}
