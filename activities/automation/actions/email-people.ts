import type { Row } from '#entities/automation/approvals/approval-work.ts';
import { peopleOf } from '#entities/automation/approvals/targets.ts';
import type { EmailAction } from '#entities/automation/document/definition-document.ts';
import { viewersOf } from '#entities/automation/approvals/who-counts.ts';
import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { ActionRun } from '../action-run.ts';

/**
 * Sends an e-mail to people who may view the record. The mail reads its text from the journal
 * (activities/mails/automation/workflow-email.mail.ts).
 */
export async function emailPeople(run: ActionRun, { key, params }: EmailAction): Promise<Row> {
  const { work, locked } = run;
  const [subject, body] = await run.resolve([
    { value: params.subject, expected: 'string' },
    { value: params.body, expected: 'string' },
  ]);
  const userIds = [...(await viewersOf(work, locked, await peopleOf(work, locked, params.targets)))];
  const { instance } = locked;
  if (userIds.length > 0)
    work.unit.emit(
      customEvent(workflowInstance, 'mail_requested', instance, {
        actionKey: key,
        index: instance.actionIndex,
        userIds,
      }),
    );
  return { people: userIds.length, subject: shortened(String(subject), 199), body: shortened(String(body), 4_999) };
}
