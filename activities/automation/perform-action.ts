import type { Row } from '#entities/automation/approvals/approval-work.ts';
import type { Action, ApprovalAction, ReviewAction } from '#entities/automation/document/definition-document.ts';
import type { ActionRun } from './action-run.ts';
import { callEndpoint } from './actions/call-endpoint.ts';
import { createObject } from './actions/create-object.ts';
import { emailPeople } from './actions/email-people.ts';
import { askIntegration } from './actions/ask-integration.ts';
import { notifyPeople } from './actions/notify-people.ts';
import { updateFields } from './actions/update-fields.ts';

/** Performs an action that asks nobody. @returns facts for the journal */
export function performAction(run: ActionRun, action: Exclude<Action, ApprovalAction | ReviewAction>): Promise<Row> {
  switch (action.type) {
    case 'NOTIFY':
      return notifyPeople(run, action);
    case 'SEND_EMAIL':
      return emailPeople(run, action);
    case 'WEBHOOK':
      return callEndpoint(run, action);
    case 'INTEGRATION':
      return askIntegration(run, action);
    case 'UPDATE_FIELD':
      return updateFields(run, action);
    case 'CREATE_OBJECT':
      return createObject(run, action);
    default:
      action satisfies never;
      throw new TypeError('unknown action');
  }
}
