import {
  mailAccountDeactivated,
  mailAccountDeleted,
  mailAccountReactivated,
  mailEmailChange,
  mailEmailChanged,
} from './mail-account-change.ts';
import { mailDelegation, mailSupportConsent } from './mail-delegation.ts';
import { mailInvite, mailInviteAccepted } from './mail-invite.ts';
import {
  mailNewOwner,
  mailSingleSignOnEnforcement,
  mailSingleSignOnProvider,
  mailSingleSignOnRemoved,
} from './mail-organization-change.ts';
import { mailPasswordReset } from './mail-password-reset.ts';
import { mailRepeatedRegistration } from './mail-repeated-registration.ts';
import {
  mailCopiedPasskey,
  mailCopiedSession,
  mailIdentityLinked,
  mailIdentityUnlinked,
  mailNewDevice,
  mailPasskeyAdded,
  mailPasskeyRemoved,
  mailPasswordChanged,
  mailSecondFactor,
} from './mail-security-notice.ts';
import { mailTokenAuthorized, mailTokenCreated } from './mail-token-created.ts';
import { mailVerification } from './mail-verification.ts';
import { mailWelcome } from './mail-welcome.ts';
import { announceEndedSession } from './announce-ended-session.ts';
import { setUpOrganization } from './set-up-organization.ts';
import type { Listener } from './listener.ts';

/** Every listener of the product. Events whose topic none of them names are recorded, but start nothing. */
export const listeners: readonly Listener[] = [
  mailVerification,
  mailWelcome,
  mailRepeatedRegistration,
  mailPasswordReset,
  mailPasswordChanged,
  mailNewDevice,
  mailCopiedSession,
  mailSecondFactor,
  mailEmailChange,
  mailEmailChanged,
  mailAccountDeactivated,
  mailAccountReactivated,
  mailAccountDeleted,
  mailTokenAuthorized,
  mailTokenCreated,
  mailDelegation,
  mailSupportConsent,
  mailPasskeyAdded,
  mailPasskeyRemoved,
  mailCopiedPasskey,
  mailIdentityLinked,
  mailIdentityUnlinked,
  mailInvite,
  mailInviteAccepted,
  mailNewOwner,
  mailSingleSignOnEnforcement,
  mailSingleSignOnProvider,
  mailSingleSignOnRemoved,
  setUpOrganization,
  announceEndedSession,
];
