import { defineMail, sample } from './mail-definition.ts';

/** Mails about the account of a person that say more than that something has happened (notices.ts). */
export const accountContents = {
  'verify-address': defineMail({ url: sample.url }, ({ url }) => ({
    subject: 'Confirm your e-mail address',
    paragraphs: [
      'Somebody, hopefully you, signed up with this address. If it was not you, do nothing.',
      'To confirm, you need the password of that sign-up. If you got several of these e-mails, each belongs to a sign-up of its own; you can also set a new password when you confirm.',
      'The link works for seven days.',
    ],
    action: { text: 'Confirm the address', url },
  })),
  'reset-password': defineMail({ url: sample.url, until: sample.until }, ({ url, until }) => ({
    subject: 'Set a new password',
    paragraphs: [
      'Somebody, hopefully you, asked for a link to set a new password for your account. If it was not you, do nothing: your password stays as it is.',
      `The link works once, until ${until}. A new password signs out all devices.`,
    ],
    action: { text: 'Set a new password', url },
  })),
  'new-device': defineMail(
    { device: 'Firefox/128.0', address: '192.0.2.1', at: '2026-06-01T12:00:00.000Z' },
    ({ device, address, at }) => ({
      subject: 'New sign-in to your account',
      paragraphs: [
        'Somebody signed in to your account with a browser or program that had not signed in to it before.',
        `Device: ${device}. Network address: ${address}. Time: ${at}.`,
        'If it was you, do nothing. If not, change your password: that signs out all other devices.',
      ],
    }),
  ),
  // Without the name of the token: who creates it chooses the text.
  'token-created': defineMail<{ token: { isOfOrganization: boolean; hint: string } | undefined }>(
    { token: { isOfOrganization: true, hint: 'x7Qa' } },
    ({ token }) => ({
      subject: 'A token for programs was created',
      paragraphs: [
        token
          ? `Somebody created ${token.isOfOrganization ? 'an API token of your organization' : 'a token'}, or gave it a new secret. It ends in ${token.hint}.`
          : 'Somebody created a token for programs, or gave it a new secret, and has deleted it since.',
        'If you do not expect this, delete the token in the list of tokens and change your password.',
      ],
    }),
  ),
  'confirm-email-change': defineMail({ url: sample.url, until: sample.until }, ({ url, until }) => ({
    subject: 'Confirm your new e-mail address',
    paragraphs: [
      'Somebody, hopefully you, wants to use this address for an account. If it was not you, do nothing.',
      `To confirm, you need the password of the account. The link works once, until ${until}. It signs out all other devices.`,
    ],
    action: { text: 'Confirm the address', url },
  })),
  'email-change-requested': defineMail({ newEmail: sample.person }, ({ newEmail }) => ({
    subject: 'Somebody wants to change the e-mail address of your account',
    paragraphs: [
      `Somebody who knows your password asked to change the e-mail address of your account to ${newEmail}. It changes when a link is confirmed that was sent there.`,
      'If it was not you, change your password at once: that signs out all other devices.',
    ],
  })),
  'email-changed': defineMail({ newEmail: sample.person }, ({ newEmail }) => ({
    subject: 'The e-mail address of your account was changed',
    paragraphs: [
      `Your account now has the address ${newEmail}; sign in with it. Links that were sent to this address no longer work.`,
      'If it was not you, answer to our support at once.',
    ],
  })),
  'account-deleted': defineMail({}, () => ({
    subject: 'Your account was deleted',
    paragraphs: [
      'Your account was deleted, with the organizations of which you were the only member. All devices are signed out.',
      'You can sign up again with this address. If it was not you, answer to our support at once.',
    ],
  })),
  'account-deactivated': defineMail({ url: sample.url, until: sample.until }, ({ url, until }) => ({
    subject: 'Your account is deactivated',
    paragraphs: [
      'Your account is deactivated, and all devices are signed out. Nothing is deleted.',
      `To use it again, open the link before ${until}; you need your password.`,
    ],
    action: { text: 'Reactivate the account', url },
  })),
} as const;
