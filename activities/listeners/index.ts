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
import { mailSubscriber } from './mail-subscriber.ts';
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
import { tellNewUser } from './tell-new-user.ts';
import { admitConfirmed } from './admit-confirmed.ts';
import { announceEndedSession } from './announce-ended-session.ts';
import { notificationKinds } from './notifications/notification-kinds.ts';
import { notifyListener } from './notifications/notify.ts';
import { linkSubscribers } from './link-subscribers.ts';
import { removeEmptyDiscussion } from './remove-empty-discussion.ts';
import { beginRemoval } from './begin-removal.ts';
import { beginSetUp } from './begin-set-up.ts';
import { startExport, startImport } from './start-transfers.ts';
import { applyEmailReport } from './apply-email-report.ts';
import { releaseAtProvider } from './release-at-provider.ts';
import { sendAgain } from './send-again.ts';
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
