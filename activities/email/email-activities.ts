import { publicApiUrl } from '#config/objects/public-api-url.ts';
import { apiToken } from '#entities/identity/api-token.ts';
import { emailVerification } from '#entities/identity/email-verification.ts';
import { passwordReset } from '#entities/identity/password-reset.ts';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { deriveKey } from '#entities/kit/base/keys.ts';
import { oneTimeToken } from '#entities/kit/base/one-time-token.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { inviteAcceptedMail, inviteMail, recordSentInvite } from './invite-mails.ts';
import { delegationMail, supportConsentMail } from './delegation-mails.ts';
import { enforcementMail, newOwnerMail, removalMail } from './organization-mails.ts';
import { recipientOf, type Links, type Mail } from './mail.ts';
import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { emailTheme, emailTransport } from '../clients/email/from-config.ts';
import { renderEmail, type EmailContent } from '../clients/email/render.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import { accountMail, isAccountTemplate, type AccountTemplate } from './account-mails.ts';

type EmailDependencies = Pick<ActivityDependencies, 'config' | 'database'>;

export type EmailActivities = ReturnType<typeof createEmailActivities>;

/** Sends mail. Its content is read when it is sent, so neither address nor token is in a workflow's history. */
export const createEmailActivities = defineActivities(({ config, database }: EmailDependencies) => {
  const transport = emailTransport(config.current);
  const tokenKey = deriveKey(config.current.sessions.signingkey, 'one-time-token');
  return {
    /** @returns `outdated` when the content of the mail is no longer true; then nothing is sent */
    async deliverEmail(input: SendEmailInput): Promise<'sent' | 'outdated'> {
      const context = { ...workContext(systemCaller('send e-mail'), `email-${input.key}`), readOnly: true };
      const message = await database.transact(context, async (unit): Promise<Mail | undefined> => {
        const links = { tokenKey, apiUrl: publicApiUrl(config.current) };
        if (isAccountTemplate(input.template)) return accountMail(input.template, input, unit, links);
        if (hasMail(input.template)) return mails[input.template](input, unit, links);
        const person = await recipientOf(input, unit);
        if (!person) return undefined;
        return { to: person.email, name: person.displayName, content: contentOf(input.template) };
      });
      if (!message) return 'outdated';
      const theme = emailTheme(config.current);
      await transport.send({
        key: input.key,
        from: theme.fromEmail,
        to: message.to,
        ...renderEmail(message.content, message.name, theme),
      });
      if (input.template === 'invite')
        await database.transact(workContext(systemCaller('send e-mail'), `email-${input.key}`), (unit) =>
          recordSentInvite(input, unit),
        );
      return 'sent';
    },
  };
});

async function verificationMail(
  { about }: SendEmailInput,
  unit: UnitOfWork,
  { tokenKey, apiUrl }: Links,
): Promise<Mail | undefined> {
  const verification = about && (await unit.data.findOne(emailVerification, { id: { eq: about.id } }));
  // The address was confirmed meanwhile: this link would not work.
  if (!verification || verification.usedAt) return undefined;
  const token = oneTimeToken(tokenKey, 'email-verification', verification.id, verification.round);
  return {
    to: verification.email,
    // The name is left out until the address is confirmed: a stranger may have chosen it as a text for this address.
    name: undefined,
    content: {
      subject: 'Confirm your e-mail address',
      paragraphs: [
        'Somebody, hopefully you, signed up with this address. If it was not you, do nothing.',
        'To confirm, you need the password of that sign-up. If you got several of these e-mails, each belongs to a sign-up of its own; you can also set a new password when you confirm.',
        'The link works for seven days.',
      ],
      action: { text: 'Confirm the address', url: `${apiUrl}/v1/verify#token=${token}` },
    },
  };
}

async function resetMail(
  input: SendEmailInput,
  unit: UnitOfWork,
  { tokenKey, apiUrl }: Links,
): Promise<Mail | undefined> {
  const { about } = input;
  const reset = about && (await unit.data.findOne(passwordReset, { id: { eq: about.id } }));
  const person = await recipientOf(input, unit);
  const isUsable = reset && !reset.usedAt && reset.expiresAt > unit.clock.now();
  // Meanwhile a password was set, the account changed, or the time is up: this link would not work.
  if (!isUsable || !person?.emailConfirmedAt || person.status !== 'active' || person.email !== reset.email)
    return undefined;
  const token = oneTimeToken(tokenKey, 'password-reset', reset.id, about.round);
  return {
    to: reset.email,
    name: person.displayName,
    content: {
      subject: 'Set a new password',
      paragraphs: [
        'Somebody, hopefully you, asked for a link to set a new password for your account. If it was not you, do nothing: your password stays as it is.',
        `The link works once, until ${reset.expiresAt.toUTCString()}. A new password signs out all devices.`,
      ],
      action: { text: 'Set a new password', url: `${apiUrl}/v1/password-reset#token=${token}` },
    },
  };
}

async function newDeviceMail(input: SendEmailInput, unit: UnitOfWork): Promise<Mail | undefined> {
  const person = await recipientOf(input, unit);
  const { device } = input;
  if (!person || !device) return undefined;
  return {
    to: person.email,
    name: person.displayName,
    content: {
      subject: 'New sign-in to your account',
      paragraphs: [
        'Somebody signed in to your account with a browser or program that had not signed in to it before.',
        `Device: ${productsOf(device.userAgent)}. Network address: ${device.address}. Time: ${device.at}.`,
        'If it was you, do nothing. If not, change your password: that signs out all other devices.',
      ],
    },
  };
}

/** Without the name of the token: who creates it chooses the text. */
async function tokenMail(input: SendEmailInput, unit: UnitOfWork): Promise<Mail | undefined> {
  const person = await recipientOf(input, unit);
  if (!person || !input.about) return undefined;
  const where = { id: { eq: input.about.id } };
  const ofOrganization = await unit.data.findOne(apiToken, where);
  const found = ofOrganization ?? (await unit.data.findOne(personalAccessToken, where));
  const which = ofOrganization ? 'an API token of your organization' : 'a token';
  return {
    to: person.email,
    name: person.displayName,
    content: {
      subject: 'A token for programs was created',
      paragraphs: [
        found
          ? `Somebody created ${which}, or gave it a new secret. It ends in ${found.hint}.`
          : 'Somebody created a token for programs, or gave it a new secret, and has deleted it since.',
        'If you do not expect this, delete the token in the list of tokens and change your password.',
      ],
    },
  };
}

/** The products that a User-Agent names (RFC 9110, section 10.1.5), and nothing else of it: who signs in chooses the text. */
function productsOf(userAgent: string): string {
  const products = userAgent.match(/(?<![^ ])[A-Za-z]{2,20}\/\d{1,5}(?:\.\d{1,5}){0,3}(?![^ ])/g) ?? [];
  return products.slice(0, 4).join(' ') || 'unknown';
}

/** Mails that say more than that something has happened, besides those of accounts. */
const mails = {
  'verify-address': verificationMail,
  'reset-password': resetMail,
  'new-device': newDeviceMail,
  'token-created': tokenMail,
  'support-consent-given': supportConsentMail,
  'support-access-begun': delegationMail,
  'impersonation-begun': delegationMail,
  'new-owner': newOwnerMail,
  'single-sign-on-enforcement': enforcementMail,
  'single-sign-on-removed': removalMail,
  invite: inviteMail,
  'invite-accepted': inviteAcceptedMail,
} as const;

function hasMail(template: SendEmailInput['template']): template is keyof typeof mails {
  return Object.hasOwn(mails, template);
}

type PlainTemplate = Exclude<SendEmailInput['template'], keyof typeof mails | AccountTemplate>;

function contentOf(template: PlainTemplate): EmailContent {
  switch (template) {
    case 'welcome':
      return {
        subject: 'Welcome',
        paragraphs: ['Your address is confirmed and your own organization is ready.', 'Sign in and look around.'],
      };
    case 'registration-repeated':
      return {
        subject: 'You have an account already',
        paragraphs: [
          'Somebody tried to sign up with this address, which has an account. If it was you, sign in instead; if not, nothing has changed.',
        ],
      };
    case 'password-changed':
      return {
        subject: 'Your password was changed',
        paragraphs: [
          'The password of your account was changed. If it was not you, set a new one at once with the link for forgotten passwords, and check who can read your e-mail.',
        ],
      };
    case 'password-set-by-link':
      return {
        subject: 'Your password was changed',
        paragraphs: [
          'A new password was set for your account with a link that was e-mailed to you. All devices are signed out.',
          'Passkeys, linked identities and personal tokens of the account are removed, because somebody else may have added them. Sign in and add again what you use. A second factor stays as it is.',
          'If it was not you, set a new password at once with the link for forgotten passwords, and check who can read your e-mail.',
        ],
      };
    case 'identity-linked':
      return {
        subject: 'An identity was linked to your account',
        paragraphs: [
          'From now on, whoever signs in with this identity at its provider signs in to your account.',
          'If you did not link it, sign in, unlink it, sign out all other devices, and change your password.',
        ],
      };
    case 'identity-unlinked':
      return {
        subject: 'An identity was unlinked from your account',
        paragraphs: [
          'Nobody can sign in to your account with the unlinked identity any more.',
          'If you did not unlink it, sign out all devices and change your password.',
        ],
      };
    case 'session-copied':
      return {
        subject: 'A sign-in of yours was ended',
        paragraphs: [
          'A token of one of your sign-ins was used twice, so somebody may have copied it. That device is signed out; sign in again there.',
          'If you did not expect this, change your password and look through the devices on which you are signed in.',
        ],
      };
    case 'second-factor-confirmed':
      return {
        subject: 'Your account has a second factor',
        paragraphs: [
          'An authenticator app was set up for your account. From now on each sign-in asks for a code of it; keep the recovery codes in a safe place.',
          'If it was not you, somebody has used a device on which you are signed in: sign it out, and write to your support at once.',
        ],
      };
    case 'second-factor-removed':
      return {
        subject: 'The second factor of your account was removed',
        paragraphs: [
          'The authenticator app of your account was removed with a code. Sign-ins no longer ask for a code.',
          'If it was not you, change your password at once, and set up an authenticator app again.',
        ],
      };
    case 'recovery-code-used':
      return {
        subject: 'A recovery code was used',
        paragraphs: [
          'A recovery code of your account was used in place of a code of your authenticator app. It does not work again.',
          'If it was not you, change your password at once, and get new recovery codes.',
        ],
      };
    case 'recovery-codes-replaced':
      return {
        subject: 'Your account has new recovery codes',
        paragraphs: [
          'New recovery codes were made for your account; those before no longer work.',
          'If it was not you, change your password at once, and get new recovery codes.',
        ],
      };
    case 'account-reactivated':
      return {
        subject: 'Your account is active again',
        paragraphs: [
          'Your account was reactivated with the link that we sent you. If it was not you, set a new password at once with the link for forgotten passwords.',
        ],
      };
    case 'token-authorized':
      return {
        subject: 'A token was authorized for single sign-on',
        paragraphs: [
          'Somebody who was signed in with the single sign-on of your organization authorized one of your personal tokens there.',
          'If it was not you, undo it in the list of tokens, and tell the people who run the sign-in of your organization.',
        ],
      };
    case 'passkey-added':
      return {
        subject: 'A passkey was added to your account',
        paragraphs: [
          'From now on, whoever has the new passkey can sign in to your account with it.',
          'If you did not add it, sign in, delete it, sign out all other devices, and change your password.',
        ],
      };
    case 'passkey-removed':
      return {
        subject: 'A passkey was removed from your account',
        paragraphs: [
          'Nobody can sign in to your account with the removed passkey any more.',
          'If you did not remove it, sign out all devices and change your password.',
        ],
      };
    case 'passkey-copied':
      return {
        subject: 'A sign-in to your account was refused',
        paragraphs: [
          'Somebody tried to sign in with a passkey that has been used less often than yours, so it may be a copy. The sign-in was refused.',
          'If you did not expect this, delete the passkey and register another.',
        ],
      };
    default:
      template satisfies never;
      throw new Error(`unknown mail ${String(template)}`);
  }
}
