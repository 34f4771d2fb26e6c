import { workflowEvent } from '#entities/automation/workflow-event.ts';
import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { workflowVersion } from '#entities/automation/workflow-version.ts';
import { on } from '#entities/kit/model/events.ts';
import { membership } from '#entities/organizations/membership.ts';
import { inertLine } from '../../clients/email/inert-text.ts';
import { aboutRecord } from '../audience.ts';
import { defineMail, sample } from '../define-mail.ts';
import { organizationName } from '../shown-name.ts';

interface Values {
  readonly name: string;
  readonly subject: string;
  readonly lines: readonly string[];
  readonly unsubscribeToken: string;
}

/** The document of a version, as far as it says which action sends. */
interface Actions {
  readonly actions: readonly { readonly key: string }[];
}

/** An e-mail that an action of a workflow sends to members of the organization; its text is in the journal of the workflow. */
export const workflowEmail = defineMail('workflow-email', {
  follows: [on(workflowInstance, 'mail_requested')],
  audience: (occasion) =>
    occasion.event.payload.userIds.map((userId) => ({
      ...aboutRecord(occasion, userId),
      about: { id: occasion.event.entityId, round: occasion.event.payload.index + 1 },
    })),
  about: workflowInstance,
  priority: 3,
  values: async ({ record, input: { userId = '', about }, unit, unsubscribeToken }): Promise<Values | undefined> => {
    const { data } = unit;
    const version = await data.findOne(workflowVersion, { id: { eq: record.versionId } });
    const action = (version?.document as Actions | undefined)?.actions[(about?.round ?? 1) - 1];
    const instanceId = { eq: record.id };
    const where = { instanceId, type: { eq: 'action_completed' }, actionKey: { eq: action?.key ?? '' } };
    const entry = await data.findOne(workflowEvent, where);
    const of = { organizationId: { eq: record.organizationId }, userId: { eq: userId } };
    const name = await organizationName({ organizationId: record.organizationId }, unit, 'your organization');
    // Without the entry, the action was undone; people who have left get no e-mail.
    if (!entry || name === undefined || !(await data.findOne(membership, of))) return undefined;
    const { subject, body } = entry.details as { readonly subject: string; readonly body: string };
    return { name, subject: inertLine(subject), lines: body.split('\n').map(inertLine), unsubscribeToken };
  },
  text: ({ name, subject, lines }) => ({
    subject,
    paragraphs: [...lines.filter((line) => line !== ''), `A workflow of ${name} has sent this e-mail.`],
  }),
  sample: {
    name: sample.organization,
    subject: 'Review the access rights: completed',
    lines: ['The task was completed today.', 'Archive its evidence by Friday.'],
    unsubscribeToken: sample.unsubscribeToken,
  },
  unsubscribesFrom: 'messages of workflows',
});
