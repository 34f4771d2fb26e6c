import type { EmailTemplate } from '#workflows/email/send-email.contract.ts';
import type { EmailContent } from '../clients/email/content.ts';

/** Mails that say no more than that something has happened. */
export const notices = {
  welcome: {
    subject: 'Welcome',
    paragraphs: ['Your address is confirmed and your own organization is ready.', 'Sign in and look around.'],
    action: { text: 'Open the application', path: '/' },
  },
  'registration-repeated': {
    subject: 'You have an account already',
    paragraphs: [
      'Somebody tried to sign up with this address, which has an account. If it was you, sign in instead; if not, nothing has changed.',
    ],
  },
  'password-changed': {
    subject: 'Your password was changed',
    paragraphs: [
      'The password of your account was changed. If it was not you, set a new one at once with the link for forgotten passwords, and check who can read your e-mail.',
    ],
  },
  'password-set-by-link': {
    subject: 'Your password was changed',
    paragraphs: [
      'A new password was set for your account with a link that was e-mailed to you. All devices are signed out.',
      'Passkeys, linked identities and personal tokens of the account are removed, because somebody else may have added them. Sign in and add again what you use. A second factor stays as it is.',
      'If it was not you, set a new password at once with the link for forgotten passwords, and check who can read your e-mail.',
    ],
  },
  'identity-linked': {
    subject: 'An identity was linked to your account',
    paragraphs: [
      'From now on, whoever signs in with this identity at its provider signs in to your account.',
      'If you did not link it, sign in, unlink it, sign out all other devices, and change your password.',
    ],
  },
  'identity-unlinked': {
    subject: 'An identity was unlinked from your account',
    paragraphs: [
      'Nobody can sign in to your account with the unlinked identity any more.',
      'If you did not unlink it, sign out all devices and change your password.',
    ],
  },
  'session-copied': {
    subject: 'A sign-in of yours was ended',
    paragraphs: [
      'A token of one of your sign-ins was used twice, so somebody may have copied it. That device is signed out; sign in again there.',
      'If you did not expect this, change your password and look through the devices on which you are signed in.',
    ],
  },
  'second-factor-confirmed': {
    subject: 'Your account has a second factor',
    paragraphs: [
      'An authenticator app was set up for your account. From now on each sign-in asks for a code of it; keep the recovery codes in a safe place.',
      'If it was not you, somebody has used a device on which you are signed in: sign it out, and write to your support at once.',
    ],
  },
  'second-factor-removed': {
    subject: 'The second factor of your account was removed',
    paragraphs: [
      'The authenticator app of your account was removed with a code. Sign-ins no longer ask for a code.',
      'If it was not you, change your password at once, and set up an authenticator app again.',
    ],
  },
  'recovery-code-used': {
    subject: 'A recovery code was used',
    paragraphs: [
      'A recovery code of your account was used in place of a code of your authenticator app. It does not work again.',
      'If it was not you, change your password at once, and get new recovery codes.',
    ],
  },
  'recovery-codes-replaced': {
    subject: 'Your account has new recovery codes',
    paragraphs: [
      'New recovery codes were made for your account; those before no longer work.',
      'If it was not you, change your password at once, and get new recovery codes.',
    ],
  },
  'account-reactivated': {
    subject: 'Your account is active again',
    paragraphs: [
      'Your account was reactivated with the link that we sent you. If it was not you, set a new password at once with the link for forgotten passwords.',
    ],
  },
  'token-authorized': {
    subject: 'A token was authorized for single sign-on',
    paragraphs: [
      'Somebody who was signed in with the single sign-on of your organization authorized one of your personal tokens there.',
      'If it was not you, undo it in the list of tokens, and tell the people who run the sign-in of your organization.',
    ],
  },
  'passkey-added': {
    subject: 'A passkey was added to your account',
    paragraphs: [
      'From now on, whoever has the new passkey can sign in to your account with it.',
      'If you did not add it, sign in, delete it, sign out all other devices, and change your password.',
    ],
  },
  'passkey-removed': {
    subject: 'A passkey was removed from your account',
    paragraphs: [
      'Nobody can sign in to your account with the removed passkey any more.',
      'If you did not remove it, sign out all devices and change your password.',
    ],
  },
  'passkey-copied': {
    subject: 'A sign-in to your account was refused',
    paragraphs: [
      'Somebody tried to sign in with a passkey that has been used less often than yours, so it may be a copy. The sign-in was refused.',
      'If you did not expect this, delete the passkey and register another.',
    ],
  },
} as const satisfies Partial<Record<EmailTemplate, EmailContent>>;
