import { Type } from 'typebox';
import { refusesChanges } from '../kit/model/behaviours/refuses-changes.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { email, flag, integer, member, text, textList, timestamp } from '../kit/model/fields.ts';
import { managedRecord } from '../presets/managed-record.ts';

const day = 86_400_000;

/** Lifetime of a verification link after each request to send it, in milliseconds. */
export const verificationLifetimeMs = 7 * day;

/** Number of verification e-mails that a subscriber can be sent. */
export const maxSendAttempts = 5;

/** Takes the place of `round` in links to unsubscribe: those of all e-mails work, also of long ago. */
export const unsubscribeRound = 1;

/**
 * Nobody is written to whose address was not verified, and nobody any more who has unsubscribed. The tokens of its links are not stored:
 * they are derived with a secret key of the server, that of a verification from the id and `round`, that to unsubscribe from the id alone,
 * so that it works in every e-mail.
 */
export const subscriber = defineEntityModule({
  kind: 'subscriber',
  table: 'subscribers',
  description:
    'E-mail address that subscribes to the e-mails of an organization. Creating it sends an e-mail with a link that verifies the address; only then is it active.',
  fields: {
    email: email('E-mail address of the subscriber.', {
      immutable: true,
      checked: true,
      exposed: 'read-write',
      lists: ['filter', 'order', 'search'],
    }),
    phoneNumber: text('Phone number in international form (E.164), for example +4312345678.', {
      max: 16,
      pattern: /^\+[1-9][0-9]{1,14}$/,
      optional: true,
      exposed: 'read-write',
    }),
    isEmailVerified: flag('Whether the link of a verification e-mail was used.', {
      default: false,
      exposed: 'read',
      lists: ['filter'],
    }),
    isPhoneVerified: flag('Whether the phone number was verified. The server sends no text messages, so it is false.', {
      default: false,
      exposed: 'read',
    }),
    isActive: flag('Whether e-mails may be sent to the address: it is verified, and has not unsubscribed.', {
      default: false,
      exposed: 'read',
      lists: ['filter'],
    }),
    isUnsubscribed: flag(
      'Whether the subscription has ended. Only its e-mailed link can undo this; a new subscriber of the same address verifies it again.',
      { default: false, exposed: 'read-write', lists: ['filter'] },
    ),
    sendAttempts: integer('Number of verification e-mails sent.', {
      min: 0,
      max: maxSendAttempts,
      default: 0,
      exposed: 'read',
    }),
    expiresAt: timestamp('When the link of the verification e-mail expires: 7 days after it was last requested.', {
      optional: true,
      exposed: 'read',
      lists: ['order'],
    }),
    userId: member(
      'Person in the organization who has confirmed the same address; null if there was none. It stays when they leave.',
      { optional: true, onLeave: 'keep', exposed: 'read', lists: ['filter'] },
    ),
    tags: textList('Search tags.', { max: 64, maxItems: 50, exposed: 'read-write', lists: ['filter'] }),
    subscribedEmail: email('`email` until the subscription ends; null afterwards: the address can subscribe again.', {
      optional: true,
    }),
    round: integer('1 at first; greater by 1 each time the verification e-mail is requested again.', {
      min: 1,
      max: maxSendAttempts,
      default: 1,
    }),
    sentRound: integer('`round` of the last verification e-mail that was sent; 0 for none.', {
      min: 0,
      max: maxSendAttempts,
      default: 0,
    }),
  },
  unique: [
    {
      fields: ['organizationId', 'subscribedEmail'],
      names: 'email',
      message: 'This address is a subscriber already. If it is not verified yet, send the verification e-mail again.',
    },
  ],
  indexes: [['subscribedEmail']],
  tenancy: 'organization',
  policy: managedRecord(),
  behaviours: [
    refusesChanges([
      {
        on: ['edit'],
        // The link of an e-mail takes back what it has ended (api/people/mailed-subscription.ts).
        unlessSystem: true,
        refuseIf: 'row.is_unsubscribed and not given.is_unsubscribed',
        field: 'isUnsubscribed',
        code: 'permission_denied',
        message:
          'Only the link in its e-mails subscribes an address again. Create a new subscriber with the address, which verifies it again.',
      },
    ]),
  ],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    resent: {
      description: 'Somebody asked to send the verification e-mail of a subscriber again.',
      payload: payload({ round: Type.Integer({ description: '`round` of the record.' }) }),
    },
  },
  hooks: {
    derivedValues: ({ email: address, isUnsubscribed }, { operation, at }) => {
      // Only the link in the mail undoes this, with the other values.
      const ended = isUnsubscribed ? { isActive: false, subscribedEmail: null } : {};
      if (operation === 'update') return ended;
      const expiresAt = new Date(at.getTime() + verificationLifetimeMs);
      return { subscribedEmail: address ?? null, expiresAt, ...ended };
    },
  },
});
