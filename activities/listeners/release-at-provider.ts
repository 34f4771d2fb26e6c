import { emailSuppression } from '#entities/email/email-suppression.ts';
import { releaseAddressContract } from '#workflows/email/release-address.contract.ts';
import { defineListener, on } from './listener.ts';

/** Providers suppress addresses by themselves; what is released here is released there. */
export const releaseAtProvider = defineListener(
  'release-at-provider',
  [on(emailSuppression, 'released')],
  ({ event: { entityId, organizationId }, start }) => {
    if (organizationId !== null) start(releaseAddressContract, { suppressionId: entityId, organizationId });
  },
);
