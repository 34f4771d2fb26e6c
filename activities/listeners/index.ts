import {
  mailAccountDeactivated,
  mailAccountDeleted,
  mailAccountReactivated,
  mailEmailChange,
  mailEmailChanged,
} from './identity/mail-account-change.ts';
import { mailDelegation, mailSupportConsent } from './identity/mail-delegation.ts';
import { mailInvite, mailInviteAccepted } from './organizations/mail-invite.ts';
import {
  mailNewOwner,
  mailSingleSignOnEnforcement,
  mailSingleSignOnProvider,
  mailSingleSignOnRemoved,
} from './organizations/mail-organization-change.ts';
import { mailSubscriber } from './organizations/mail-subscriber.ts';
import { mailPasswordReset } from './identity/mail-password-reset.ts';
import { mailRepeatedRegistration } from './identity/mail-repeated-registration.ts';
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
} from './identity/mail-security-notice.ts';
import { mailTokenAuthorized, mailTokenCreated } from './identity/mail-token-created.ts';
import { mailVerification } from './identity/mail-verification.ts';
import { mailWelcome } from './identity/mail-welcome.ts';
import { tellNewUser } from './identity/tell-new-user.ts';
import { admitConfirmed } from './organizations/admit-confirmed.ts';
import { announceEndedSession } from './identity/announce-ended-session.ts';
import { notificationKinds } from './notifications/notification-kinds.ts';
import { notifyListener } from './notifications/notify.ts';
import { linkSubscribers } from './organizations/link-subscribers.ts';
import { removeEmptyDiscussion } from './work/remove-empty-discussion.ts';
import { beginRemoval } from './organizations/begin-removal.ts';
import { beginSetUp } from './organizations/begin-set-up.ts';
import { startExport, startImport } from './transfers/start-transfers.ts';
import { applyEmailReport } from './email/apply-email-report.ts';
import { releaseAtProvider } from './email/release-at-provider.ts';
import { sendAgain } from './email/send-again.ts';
import type { Listener } from './listener.ts';

/** Every listener of the product. Events whose topic none of them names are recorded, but start nothing. */
export const listeners: readonly Listener[] = [
  mailVerification,
  mailWelcome,
  tellNewUser,
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
  mailSubscriber,
  mailNewOwner,
  mailSingleSignOnEnforcement,
  mailSingleSignOnProvider,
  mailSingleSignOnRemoved,
  ...notificationKinds.map(notifyListener),
  removeEmptyDiscussion,
  linkSubscribers,
  beginSetUp,
  beginRemoval,
  admitConfirmed,
  announceEndedSession,
  startExport,
  startImport,
  applyEmailReport,
  sendAgain,
  releaseAtProvider,
];
