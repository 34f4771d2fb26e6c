import type { accountEmail } from '#entities/email/account-email.ts';
import type { EmailStatus } from '#entities/email/email-fields.ts';
import type { SuppressionReason } from '#entities/email/suppression-fields.ts';
import type { ChangesOf, RowOf } from '#entities/kit/model/define.ts';

/** Reports of providers, as receivers translate them; each with the status that it means, if it means one. */
const outcomes = {
  sent: 'sent',
  delivered: 'delivered',
  opened: 'delivered',
  clicked: 'delivered',
  failed: 'failed',
  suppressed: 'refused',
  soft_bounce: 'bounced',
  hard_bounce: 'bounced',
  complaint: 'complained',
} as const satisfies Readonly<Record<string, EmailStatus>>;

type ReportedOutcome = keyof typeof outcomes;

export function isReportedOutcome(outcome: string | undefined): outcome is ReportedOutcome {
  return outcome !== undefined && Object.hasOwn(outcomes, outcome);
}

/** States that reports lead to. The greatest one of all reports applies, so their order does not matter. */
const ranks: { readonly [State in EmailStatus]?: number } = {
  sent: 1,
  delivered: 2,
  failed: 3,
  refused: 4,
  bounced: 5,
  complained: 6,
};

type Row = Pick<
  RowOf<typeof accountEmail>,
  | 'status'
  | 'errorCode'
  | 'messageId'
  | 'content'
  | 'sentAt'
  | 'deliveredAt'
  | 'bouncedAt'
  | 'bounceType'
  | 'complainedAt'
  | 'openedAt'
  | 'clickedAt'
>;

/** The time of each report is the first that was reported. */
const times = {
  sent: 'sentAt',
  delivered: 'deliveredAt',
  opened: 'openedAt',
  clicked: 'clickedAt',
  soft_bounce: 'bouncedAt',
  hard_bounce: 'bouncedAt',
  complaint: 'complainedAt',
} as const satisfies { readonly [Outcome in ReportedOutcome]?: keyof Row };

interface Report {
  readonly outcome: ReportedOutcome;
  readonly at: Date;
  readonly messageId: string | undefined;
}

/**
 * Changes that a report makes in the record of an e-mail. Any order of the same reports leads to the same record: times are the least, the
 * status and the sort of a bounce the greatest of what was reported.
 */
export function mergedReport(row: Row, { outcome, at, messageId }: Report): ChangesOf<typeof accountEmail> {
  const reported = outcomes[outcome];
  const time = outcome in times ? times[outcome as keyof typeof times] : undefined;
  const known = time && row[time];
  return {
    ...((ranks[reported] ?? 0) > rankOf(row) ? { status: reported, errorCode: null, errorMessage: null } : {}),
    ...(time !== undefined && (known == null || at < known) ? { [time]: at } : {}),
    ...(outcome === 'hard_bounce' && row.bounceType !== 'hard' ? { bounceType: 'hard' as const } : {}),
    ...(outcome === 'soft_bounce' && row.bounceType === null ? { bounceType: 'soft' as const } : {}),
    ...(row.messageId === null && messageId !== undefined ? { messageId } : {}),
    // The provider has it, so nothing has to be sent again.
    ...(row.content === null ? {} : { content: null }),
  };
}

/** A decision of this server does not contradict a report. */
function rankOf({ status, errorCode }: Row): number {
  return status === 'failed' && errorCode !== null ? 0 : (ranks[status] ?? 0);
}

/** Why the address gets no further e-mails after a report. */
export function suppressionAfter(outcome: ReportedOutcome): SuppressionReason | undefined {
  if (outcome === 'hard_bounce') return 'hard_bounce';
  if (outcome === 'complaint') return 'complaint';
  return outcome === 'suppressed' ? 'refused' : undefined;
}
