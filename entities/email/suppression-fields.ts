import type { FieldUse } from '../kit/model/declared-field.ts';
import { choice, email, text, timestamp } from '../kit/model/fields.ts';

/** Why an address gets no e-mails. */
export const suppressionReasons = ['hard_bounce', 'complaint', 'refused', 'unsubscribed', 'manual'] as const;

export type SuppressionReason = (typeof suppressionReasons)[number];

/** Reasons that do not concern e-mails about security: managers could keep them from somebody otherwise. */
export const optionalReasons: ReadonlySet<SuppressionReason> = new Set(['unsubscribed', 'manual']);

/** The topic of a suppression that concerns all e-mails of the organization. */
export const everyTopic = '*';

/** @param isShown whether managers see suppressions of the kind */
export function suppressionFields({ isShown }: { readonly isShown: boolean }) {
  const shown: Pick<FieldUse, 'exposed'> = isShown ? { exposed: 'read' } : {};
  const address: FieldUse = isShown ? { exposed: 'read-write', lists: ['filter', 'order'] } : { lists: ['filter'] };
  const filtered: FieldUse = isShown ? { ...shown, lists: ['filter'] } : {};
  return {
    email: email('Address that gets no e-mails.', { immutable: true, ...address }),
    reason: choice(
      'hard_bounce: its server takes no e-mails for it; complaint: the recipient has reported one as unwanted; refused: the provider does not send to it; unsubscribed: the recipient wants no more; manual: a manager has entered it. The last two do not concern e-mails about security.',
      suppressionReasons,
      { default: 'manual', immutable: true, ...shown, lists: ['filter'] },
    ),
    emailId: text('Id of the e-mail that caused it; null for one that a manager has entered.', {
      max: 26,
      optional: true,
      immutable: true,
      ...shown,
    }),
    releasedAt: timestamp('When it was released; since then, e-mails are sent again.', { optional: true, ...filtered }),
    releaseReason: text('Reason of the release, as stated by the person who released it.', {
      max: 500,
      lines: true,
      optional: true,
      ...shown,
    }),
    suppressedEmail: email('`email` until it is released; null afterwards: the address can be suppressed again.', {
      optional: true,
    }),
  };
}

/** Derives `suppressedEmail`. */
export function suppressedEmailOf(
  { email: address, releasedAt }: { readonly email?: string; readonly releasedAt?: Date | null },
  { operation }: { readonly operation: 'create' | 'update' },
): { readonly suppressedEmail?: string | null } {
  if (operation === 'create') return { suppressedEmail: address ?? null };
  return releasedAt ? { suppressedEmail: null } : {};
}
