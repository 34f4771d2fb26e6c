import { emailSuppression } from '#entities/email/email-suppression.ts';
import { optionalReasons } from '#entities/email/suppression-fields.ts';
import { releaseAddressContract } from '#workflows/email/release-address.contract.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineListener } from '../listener.ts';

/**
 * Providers suppress addresses by themselves; what is released here is released there. An entry of a manager, or a request of the
 * recipient, is known here alone: releasing it must not undo what the provider keeps because of others.
 */
export const releaseAtProvider = defineListener(
  'release-at-provider',
  [on(emailSuppression, 'released')],
  async ({ event: { entityId, organizationId }, unit, start }) => {
    const held = await unit.data.findOne(emailSuppression, { id: { eq: entityId } });
    if (held && organizationId !== null && !optionalReasons.has(held.reason))
      start(releaseAddressContract, { suppressionId: entityId, organizationId });
  },
);
