import type { Row } from '#entities/automation/approvals/approval-work.ts';
import { peopleOf } from '#entities/automation/approvals/targets.ts';
import type { NotifyAction } from '#entities/automation/document/definition-document.ts';
import { viewersOf } from '#entities/automation/approvals/who-counts.ts';
import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { ActionRun } from '../action-run.ts';

/** Notifies people who may view the record (activities/mails/automation/workflow-instance-messaged.mail.ts). */
export async function notifyPeople(run: ActionRun, { key, params }: NotifyAction): Promise<Row> {
  const { work, locked } = run;
  const [title, body] = await run.resolve([
    { value: params.title, expected: 'string' },
    { value: params.body ?? '', expected: 'string' },
  ]);
  const userIds = [...(await viewersOf(work, locked, await peopleOf(work, locked, params.targets)))];
  if (userIds.length > 0)
    work.unit.emit(
      customEvent(workflowInstance, 'messaged', locked.instance, {
        actionKey: key,
        userIds,
        title: shortened(String(title), 199),
        body: shortened(String(body), 999),
      }),
    );
  return { people: userIds.length };
}
