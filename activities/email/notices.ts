import type { EmailTemplate } from '#workflows/email/send-email.contract.ts';
import type { EmailContent } from '../clients/email/content.ts';

/** Mails that say no more than that something has happened. */
export const notices = {
  'registration-repeated': {
    subject: 'You already have an account',
    paragraphs: [
      'Somebody tried to sign up with this address, which already has an account. If this was you, sign in instead. If not, ignore this e-mail: nothing has changed.',
    ],
  },
  'password-changed': {
    subject: 'Your password was changed',
    paragraphs: [
      'The password of your account was changed. If this was not you, set a new password immediately with “Forgot password”, and check who can read your e-mail.',
    ],
  },
  'password-set-by-link': {
    subject: 'Your password was changed',
    paragraphs: [
      'A new password was set for your account with a link that was e-mailed to you. All devices are signed out.',
      'Passkeys, linked identities and personal tokens of the account were removed, because somebody else may have added them. Sign in, then set up again those that you use. Your second factor has not changed.',
      'If this was not you, set a new password immediately with “Forgot password”, and check who can read your e-mail.',
    ],
  },
  'identity-linked': {
    subject: 'An identity was linked to your account',
    paragraphs: [
      'Signing in with this identity at its provider now signs in to your account.',
      'If this was not you, sign in, unlink the identity, sign out all other devices, and change your password.',
    ],
  },
  'identity-unlinked': {
    subject: 'An identity was unlinked from your account',
    paragraphs: [
      'The identity can no longer be used to sign in to your account.',
      'If this was not you, sign out all devices and change your password.',
    ],
  },
  'session-copied': {
    subject: 'One of your sessions was ended',
    paragraphs: [
      'A token of one of your sessions was used twice, so it may have been copied. The device of the session is signed out. Sign in there again.',
      'If you did not expect this, change your password, and check on which devices you are signed in.',
    ],
  },
  'second-factor-confirmed': {
    subject: 'Your account has a second factor',
    paragraphs: [
      'An authenticator app was set up for your account. Each sign-in now asks for one of its codes. Keep the recovery codes in a safe place.',
      'If this was not you, somebody has used a device on which you are signed in. Sign out that device, and contact our support immediately.',
    ],
  },
  'second-factor-removed': {
    subject: 'The second factor of your account was removed',
    paragraphs: [
      'The authenticator app was removed from your account. Sign-ins no longer ask for a code.',
      'If this was not you, change your password immediately, and set up an authenticator app again.',
    ],
  },
  'recovery-code-used': {
    subject: 'A recovery code was used',
    paragraphs: [
      'A recovery code was used instead of a code of your authenticator app. This recovery code no longer works.',
      'If this was not you, change your password immediately, and create new recovery codes.',
    ],
  },
  'recovery-codes-replaced': {
    subject: 'Your account has new recovery codes',
    paragraphs: [
      'New recovery codes were created for your account. The previous ones no longer work.',
      'If this was not you, change your password immediately, and create new recovery codes.',
    ],
  },
  'account-reactivated': {
    subject: 'Your account is active again',
    paragraphs: [
      'Your account was reactivated with the link that we sent you. If this was not you, set a new password immediately with “Forgot password”.',
    ],
  },
  'token-authorized': {
    subject: 'A token was authorized for single sign-on',
    paragraphs: [
      'One of your personal tokens was authorized in a session of the single sign-on of your organization.',
      'If this was not you, end the authorization in the list of tokens, and contact the administrators of the single sign-on.',
    ],
  },
  'passkey-added': {
    subject: 'A passkey was added to your account',
    paragraphs: [
      'The new passkey can now be used to sign in to your account.',
      'If this was not you, sign in, delete the passkey, sign out all other devices, and change your password.',
    ],
  },
  'passkey-removed': {
    subject: 'A passkey was removed from your account',
    paragraphs: [
      'The removed passkey can no longer be used to sign in to your account.',
      'If this was not you, sign out all devices and change your password.',
    ],
  },
  'passkey-copied': {
    subject: 'A sign-in to your account was refused',
    paragraphs: [
      'A sign-in was attempted with a passkey that may be a copy of your passkey. The sign-in was refused.',
      'If you did not expect this, delete the passkey and add a new one.',
    ],
  },
} as const satisfies Partial<Record<EmailTemplate, EmailContent>>;
