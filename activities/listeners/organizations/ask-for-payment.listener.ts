import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { membership } from '#entities/organizations/membership.ts';
import { organization } from '#entities/organizations/organization.ts';
import { task } from '#entities/work/task.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineListener } from '../listener.ts';

const externalId = 'lifecycle/payment-method';

/** A task for the owner of an organization that is marked because nobody pays; it is completed when the organization is spared. */
export const askForPayment = defineListener(
  'ask-for-payment',
  [on(organization, 'marked_for_deletion'), on(organization, 'spared')],
  async ({ event: { entityId: organizationId }, unit: { data } }) => {
    // Locked, so that two deliveries follow each other.
    if (!(await data.findLocked(organization, organizationId))) return;
    const of = { organizationId: { eq: organizationId } };
    const setting = await data.findOne(organizationSetting, of);
    const held = await data.findOne(task, { ...of, externalId: { eq: externalId } });
    const isOpen = held && held.status !== 'completed' && held.status !== 'wont_do';
    if (setting && setting.markedForDeletionAt !== null && setting.deletionRequesterId === null) {
      const dueAt = setting.deletionNotBefore;
      if (isOpen) return;
      if (held) {
        await data.update(task, held.id, { status: 'open', dueAt });
        return;
      }
      const owner = await data.findOne(membership, { ...of, role: { eq: 'owner' } });
      await data.create(task, {
        organizationId,
        externalId,
        title: 'Add a payment method',
        details:
          'Nobody pays for the organization, so it is marked for deletion. With a payment method or a subscription, it is not deleted.',
        assigneeId: owner?.userId ?? null,
        dueAt,
      });
    } else if (isOpen) await data.update(task, held.id, { status: 'completed' });
  },
);
