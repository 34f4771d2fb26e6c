import { delegation } from '#entities/identity/delegation.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from './listener.ts';
import { ownersOfOrganization } from './owners-of-organization.ts';

/** Tells the member as whom somebody acts; of support access, the owners of the organization. */
export const mailDelegation = defineListener(
  'mail-delegation',
  [on(delegation, 'begun')],
  async ({ event: { entityId, payload }, unit: { data }, key, start }) => {
    const isSupport = payload.type === 'support';
    for (const userId of isSupport ? await ownersOfOrganization(data) : [payload.subjectId])
      start(sendEmailContract, {
        key: `${key}/${userId}`,
        template: isSupport ? 'support-access-begun' : 'impersonation-begun',
        userId,
        about: { id: entityId, round: 1 },
      });
  },
);
