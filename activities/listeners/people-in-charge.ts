import { personIn } from '#entities/kit/model/caller.ts';
import { membership } from '#entities/organizations/membership.ts';
import { sendEmailContract, type EmailTemplate } from '#workflows/email/send-email.contract.ts';
import type { Delivery } from './listener.ts';

/** Maximum number of owners of an organization who are notified. */
const maxOwners = 20;

/** Mails the owners of the organization of an event, and the person who acted: they notice what they did not expect. */
export async function mailPeopleInCharge(
  delivery: Delivery<unknown>,
  template: EmailTemplate,
  recordId = delivery.event.entityId,
): Promise<void> {
  const { event, unit } = delivery;
  const owners = await unit.data.find(membership, { where: { role: { eq: 'owner' } }, limit: maxOwners });
  for (const userId of new Set([...owners.map((owner) => owner.userId), ...personIn(event.actor)]))
    mailAboutRecord(delivery, template, userId, recordId);
}

/** Mails a person about a record: that of the event, unless another is named. */
export function mailAboutRecord(
  { event, key, start }: Delivery<unknown>,
  template: EmailTemplate,
  userId: string,
  recordId = event.entityId,
): void {
  const { organizationId } = event;
  start(sendEmailContract, {
    key: `${key}/${userId}`,
    template,
    userId,
    about: { id: recordId, round: 1 },
    ...(organizationId === null ? {} : { organizationId }),
  });
}
