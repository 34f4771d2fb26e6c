import {
  durationMs,
  type Action,
  type ApprovalAction,
  type DefinitionDocument,
  type ReviewAction,
  type Target,
} from '../document/definition-document.ts';
import type { Quorum } from '../outcome.ts';

/** An action that asks people, as its document declares it. */
export interface AskingAction extends Quorum {
  /** Asks about a change that is written already. */
  readonly isReview: boolean;
  readonly label: string | null;
  readonly targets: readonly Target[];
  /** Undefined: owners and admins. */
  readonly escalateTo: readonly Target[] | undefined;
  readonly remindAfterMs: number | undefined;
  readonly dueInMs: number | undefined;
  readonly onDue: 'ESCALATE' | 'REJECT' | 'APPROVE';
}

export function isAsking(action: Action): action is ApprovalAction | ReviewAction {
  return action.type === 'REQUEST_APPROVAL' || action.type === 'REQUEST_REVIEW';
}

/** Whether an action asks about changes before they are written: an approval of a definition that holds them. */
export function isOfGate({ type }: Action, { approvalTiming }: Pick<DefinitionDocument, 'approvalTiming'>): boolean {
  return type === 'REQUEST_APPROVAL' && approvalTiming !== 'POST_COMMIT';
}

/** @param document with POST_COMMIT, its approvals are reviews */
export function askingActionOf(
  { key, type, params }: ApprovalAction | ReviewAction,
  { approvalTiming }: Pick<DefinitionDocument, 'approvalTiming'>,
): AskingAction {
  const isReview = type === 'REQUEST_REVIEW' || approvalTiming === 'POST_COMMIT';
  const { on_due: onDue = 'ESCALATE', remind_after: remindAfter, due_in: dueIn } = params;
  return {
    key,
    isReview,
    isRequired: params.required ?? true,
    requiredCount: params.required_count ?? 0,
    label: params.label ?? null,
    targets: params.targets,
    escalateTo: params.escalate_to,
    remindAfterMs: remindAfter === undefined ? undefined : durationMs(remindAfter),
    dueInMs: dueIn === undefined ? undefined : durationMs(dueIn),
    // Nothing is approved by time, whatever a document says.
    onDue: onDue === 'APPROVE' && !isReview ? 'ESCALATE' : onDue,
  };
}

/** The asking actions of a document with these keys, in the order of the document. */
export function askingActionsOf(document: DefinitionDocument, keys: readonly string[]): AskingAction[] {
  return document.actions
    .filter(isAsking)
    .filter(({ key }) => keys.includes(key))
    .map((action) => askingActionOf(action, document));
}
