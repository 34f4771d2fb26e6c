import { idPattern } from '../kit/base/ids.ts';
import type { FieldUse } from '../kit/model/declared-field.ts';
import { choice, integer, sealed, text, textList, timestamp } from '../kit/model/fields.ts';

/** How far an e-mail is, in the order of the life of one. */
const emailStatuses = [
  'pending',
  'sending',
  'waiting',
  'sent',
  'delivered',
  'bounced',
  'complained',
  'refused',
  'suppressed',
  'outdated',
  'failed',
] as const;

export type EmailStatus = (typeof emailStatuses)[number];

/** Those after which nobody has to do anything about an e-mail. */
export const endedEmailStatuses: readonly EmailStatus[] = [
  'sent',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'outdated',
];

/** Names of what can carry e-mails: the folder of development, and the providers of `integrations.email.provider`. */
const emailCarriers = ['folder', 'providera', 'providerb'] as const;

/**
 * Fields of every e-mail, whoever it concerns. The address is not: it is read from the recipient at each attempt.
 * @param isShown whether managers see e-mails of the kind
 */
export function emailFields({ isShown }: { readonly isShown: boolean }) {
  const shown: Pick<FieldUse, 'exposed'> = isShown ? { exposed: 'read' } : {};
  const filtered: FieldUse = isShown ? { ...shown, lists: ['filter'] } : {};
  const ordered: FieldUse = isShown ? { ...shown, lists: ['order'] } : {};
  return {
    key: text('Idempotency key: repeated requests with the same key send one e-mail.', {
      max: 300,
      immutable: true,
      ...shown,
    }),
    template: text('Name of the e-mail, for example invite.', {
      max: 64,
      pattern: /^[a-z][a-z-]*$/,
      immutable: true,
      ...shown,
      lists: ['filter'],
    }),
    topics: textList(
      'E-mails that its link to unsubscribe ends: topics of notifications such as task.assigned, or a type of e-mail such as invite. Without topics, it ends all e-mails of the organization.',
      { max: 64, maxItems: 100, ...shown },
    ),
    recipientId: text(
      'Id of the recipient; null for an address without an account, which is in the record that the e-mail is about.',
      { max: 26, pattern: idPattern, optional: true, immutable: true, ...shown, lists: ['filter'] },
    ),
    aboutId: text('Id of the record that it is about.', {
      max: 26,
      pattern: idPattern,
      optional: true,
      immutable: true,
      ...filtered,
    }),
    aboutRound: integer('Number of the link, for a record with links.', {
      min: 0,
      max: 2_147_483_647,
      optional: true,
      immutable: true,
    }),
    status: choice(
      'pending: to be sent; sending: handed to the provider, whose answer is not known; waiting: the provider takes none at the moment (see errorCode); sent: the provider has accepted it; delivered, bounced, complained: what the provider has reported since; refused: the provider does not accept the address; suppressed: the address gets no e-mails; outdated: its content was no longer true; failed: given up.',
      emailStatuses,
      { default: 'pending', ...shown, lists: ['filter'] },
    ),
    attempts: integer('Number of attempts to hand it to a provider.', { min: 0, max: 1_000_000, default: 0, ...shown }),
    attemptedAt: timestamp('When the last attempt began.', { optional: true, ...shown }),
    carrier: choice('Carrier of the e-mail: a provider, or in development a folder.', emailCarriers, {
      optional: true,
      ...filtered,
    }),
    messageId: text('Id of the e-mail at the provider.', { max: 200, optional: true, ...shown }),
    content: sealed('The e-mail as it is sent, until it is accepted: a repeated attempt sends the same bytes.', {
      max: 1_000_000,
      optional: true,
    }),
    errorCode: text(
      'Code of the reason why it is not sent, for example too_many_requests, credentials_refused, address_refused.',
      { max: 64, optional: true, ...filtered },
    ),
    errorMessage: text('Answer of the provider.', { max: 500, lines: true, optional: true, ...shown }),
    sentAt: timestamp('When the provider accepted it.', { optional: true, ...ordered }),
    deliveredAt: timestamp('When the server of the recipient accepted it, as the provider reports.', {
      optional: true,
      ...shown,
    }),
    bouncedAt: timestamp('When the server of the recipient refused it.', { optional: true, ...shown }),
    bounceType: choice('hard: the address takes no e-mails; soft: it might later.', ['hard', 'soft'], {
      optional: true,
      ...shown,
    }),
    complainedAt: timestamp('When the recipient reported it as unwanted.', { optional: true, ...shown }),
    openedAt: timestamp('When it was first opened, where that is tracked.', { optional: true, ...shown }),
    clickedAt: timestamp('When a link of it was first followed, where that is tracked.', { optional: true, ...shown }),
  };
}
