import { defineMail, sample } from './mail-definition.ts';

interface MailedToken {
  readonly isOfOrganization: boolean;
  readonly name: string;
  readonly hint: string;
}

const sampleToken: MailedToken = { isOfOrganization: true, name: '“Nightly export”', hint: 'x7Qa' };
const tokenAdvice = 'If you did not expect this, delete the token in the list of tokens, and change your password.';

function kindOfToken({ isOfOrganization }: MailedToken): string {
  return isOfOrganization ? 'API token of your organization' : 'token of your account';
}

/** Mails about the account of a person that say more than that something has happened (notices.ts). */
export const accountContents = {
  welcome: defineMail<{ organization: string | undefined; url: string }>(
    { organization: sample.organization, url: sample.signInUrl },
    ({ organization, url }) => ({
      subject: 'Welcome',
      paragraphs: [
        organization === undefined
          ? 'Your address is confirmed and your own organization is ready.'
          : `Your address is confirmed, and you have joined ${organization}.`,
        'Sign in and look around.',
      ],
      action: { text: 'Sign in', url },
    }),
  ),
  'verify-address': defineMail({ url: sample.url }, ({ url }) => ({
    subject: 'Confirm your e-mail address',
    paragraphs: [
      'Somebody signed up with this address. If this was not you, ignore this e-mail.',
      'To confirm, enter the password of that sign-up, or set a new one. If you received several of these e-mails, each belongs to a separate sign-up.',
      'The link works for seven days.',
    ],
    action: { text: 'Confirm the address', url },
  })),
  'reset-password': defineMail({ url: sample.url, until: sample.until }, ({ url, until }) => ({
    subject: 'Set a new password',
    paragraphs: [
      'Somebody requested a link to set a new password for your account. If this was not you, ignore this e-mail: your password does not change.',
      `The link works once, until ${until}. A new password signs out all devices.`,
    ],
    action: { text: 'Set a new password', url },
  })),
  'new-device': defineMail(
    { device: 'Firefox/128.0', address: '192.0.2.1', at: sample.until },
    ({ device, address, at }) => ({
      subject: 'New sign-in to your account',
      paragraphs: [
        'Somebody signed in to your account with a browser or program that was not used for it before.',
        `Device: ${device}. Network address: ${address}. Time: ${at}.`,
        'If this was not you, change your password immediately. This signs out all other devices.',
      ],
    }),
  ),
  'token-created': defineMail<{ token: MailedToken | undefined }>({ token: sampleToken }, ({ token }) => ({
    subject: 'A token for programs was created',
    paragraphs: [
      token
        ? `The ${kindOfToken(token)} ${token.name} was created. Its secret ends in ${token.hint}.`
        : 'A token for programs was created. It has been deleted since.',
      tokenAdvice,
    ],
  })),
  'token-rotated': defineMail<{ token: MailedToken | undefined }>({ token: sampleToken }, ({ token }) => ({
    subject: 'The secret of a token was replaced',
    paragraphs: [
      token
        ? `The secret of the ${kindOfToken(token)} ${token.name} was replaced. The new secret ends in ${token.hint}.`
        : 'The secret of a token for programs was replaced. The token has been deleted since.',
      tokenAdvice,
    ],
  })),
  'confirm-email-change': defineMail({ url: sample.url, until: sample.until }, ({ url, until }) => ({
    subject: 'Confirm your new e-mail address',
    paragraphs: [
      'Somebody wants to use this address for an account. If this was not you, ignore this e-mail.',
      `To confirm, enter the password of the account. The link works once, until ${until}. Confirming signs out all other devices.`,
    ],
    action: { text: 'Confirm the address', url },
  })),
  'email-change-requested': defineMail({ newEmail: sample.person }, ({ newEmail }) => ({
    subject: 'A new e-mail address was requested for your account',
    paragraphs: [
      `Somebody who knows your password asked to change the e-mail address of your account to ${newEmail}. The address changes when the link that was sent there is confirmed.`,
      'If this was not you, change your password immediately. This signs out all other devices.',
    ],
  })),
  'email-changed': defineMail({ newEmail: sample.person }, ({ newEmail }) => ({
    subject: 'The e-mail address of your account was changed',
    paragraphs: [
      `Your account now has the address ${newEmail}; sign in with it. Links that were sent to this address no longer work.`,
      'If this was not you, contact our support immediately.',
    ],
  })),
  'account-deleted': defineMail({}, () => ({
    subject: 'Your account was deleted',
    paragraphs: [
      'Your account was deleted, together with the organizations of which you were the only member. All devices are signed out.',
      'You can sign up again with this address. If this was not you, contact our support immediately.',
    ],
  })),
  'account-deactivated': defineMail({ url: sample.url, until: sample.until }, ({ url, until }) => ({
    subject: 'Your account is deactivated',
    paragraphs: [
      'Your account is deactivated, and all devices are signed out. Nothing is deleted.',
      `To use it again, open the link before ${until} and enter your password.`,
    ],
    action: { text: 'Reactivate the account', url },
  })),
  'reactivation-expired': defineMail({}, () => ({
    subject: 'Your account is deactivated',
    paragraphs: [
      'Somebody tried to sign in, to sign up or to set a new password with this address. If this was not you, ignore this e-mail.',
      'The account with this address was deactivated more than 90 days ago, so a link can no longer reactivate it. Nothing is deleted. To use the account again, contact our support.',
    ],
  })),
} as const;
