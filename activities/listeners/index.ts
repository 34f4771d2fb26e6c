import { mailRepeatedRegistration } from './mail-repeated-registration.ts';
import { mailVerification } from './mail-verification.ts';
import { mailWelcome } from './mail-welcome.ts';
import { setUpOrganization } from './set-up-organization.ts';
import type { Listener } from './listener.ts';

/** Every listener of the product. */
export const listeners: readonly Listener[] = [
  mailVerification,
  mailWelcome,
  mailRepeatedRegistration,
  setUpOrganization,
];
