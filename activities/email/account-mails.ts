import { emailChange } from '#entities/identity/email-change.ts';
import { user } from '#entities/identity/user.ts';
import { oneTimeToken } from '#entities/kit/base/one-time-token.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import type { Links, Mail } from './mail.ts';

const templates = [
  'confirm-email-change',
  'email-change-requested',
  'email-changed',
  'account-deactivated',
  'account-deleted',
] as const;

/** Mails about an address or an account that is given up. */
export type AccountTemplate = (typeof templates)[number];

export function isAccountTemplate(template: SendEmailInput['template']): template is AccountTemplate {
  return (templates as readonly string[]).includes(template);
}

/** @returns undefined when the content of the mail is no longer true */
export async function accountMail(
  template: AccountTemplate,
  { about }: SendEmailInput,
  unit: UnitOfWork,
  links: Links,
): Promise<Mail | undefined> {
  if (!about) return undefined;
  if (template === 'account-deactivated') return deactivatedMail(about, unit, links);
  const change = await unit.data.findOne(emailChange, { id: { eq: about.id } });
  if (!change) return undefined;
  const { email, newEmail, usedAt, expiresAt } = change;
  switch (template) {
    case 'confirm-email-change':
      if (usedAt || expiresAt <= unit.clock.now() || newEmail === null) return undefined;
      return {
        to: newEmail,
        // Somebody may have misspelt the address, so a stranger may get this mail.
        name: undefined,
        content: {
          subject: 'Confirm your new e-mail address',
          paragraphs: [
            'Somebody, hopefully you, wants to use this address for an account. If it was not you, do nothing.',
            `To confirm, you need the password of the account. The link works once, until ${expiresAt.toUTCString()}. It signs out all other devices.`,
          ],
          action: {
            text: 'Confirm the address',
            url: `${links.apiUrl}/v1/account/email/confirm#token=${oneTimeToken(links.tokenKey, 'email-change', change.id, about.round)}`,
          },
        },
      };
    case 'email-change-requested':
      return {
        to: email,
        name: undefined,
        content: {
          subject: 'Somebody wants to change the e-mail address of your account',
          paragraphs: [
            `Somebody who knows your password asked to change the e-mail address of your account to ${newEmail ?? ''}. It changes when a link is confirmed that was sent there.`,
            'If it was not you, change your password at once: that signs out all other devices.',
          ],
        },
      };
    case 'email-changed':
      return {
        to: email,
        name: undefined,
        content: {
          subject: 'The e-mail address of your account was changed',
          paragraphs: [
            `Your account now has the address ${newEmail ?? ''}; sign in with it. Links that were sent to this address no longer work.`,
            'If it was not you, answer to our support at once.',
          ],
        },
      };
    case 'account-deleted':
      return {
        to: email,
        name: undefined,
        content: {
          subject: 'Your account was deleted',
          paragraphs: [
            'Your account was deleted, with the organizations of which you were the only member. All devices are signed out.',
            'You can sign up again with this address. If it was not you, answer to our support at once.',
          ],
        },
      };
    default:
      template satisfies never;
      throw new Error(`unknown mail ${String(template)}`);
  }
}

async function deactivatedMail(
  { id, round }: NonNullable<SendEmailInput['about']>,
  unit: UnitOfWork,
  { tokenKey, apiUrl }: Links,
): Promise<Mail | undefined> {
  const person = await unit.data.findOne(user, { id: { eq: id } });
  // Changed since: this link would not work.
  if (person?.status !== 'deactivated' || person.recordVersion !== round) return undefined;
  return {
    to: person.email,
    name: person.displayName,
    content: {
      subject: 'Your account is deactivated',
      paragraphs: [
        'Your account is deactivated, and all devices are signed out. Nothing is deleted.',
        'To use it again, open the link within 90 days; you need your password.',
      ],
      action: {
        text: 'Reactivate the account',
        url: `${apiUrl}/v1/account/reactivate#token=${oneTimeToken(tokenKey, 'reactivation', id, round)}`,
      },
    },
  };
}
