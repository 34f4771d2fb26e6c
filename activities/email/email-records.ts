import { accountEmail } from '#entities/email/account-email.ts';
import { email } from '#entities/email/email.ts';
import type { EmailStatus } from '#entities/email/email-fields.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DatabaseOptions } from '#entities/kit/access/database-options.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { openSealedValue } from '#entities/kit/write/sealed-values.ts';
import type { SendEmailInput, SendEmailResult } from '#workflows/email/send-email.contract.ts';
import type { EmailCarrier, OutgoingEmail } from '../clients/email/transport.ts';

/** The record of a mail. Those of organizations and those of accounts have the same fields. */
export type EmailRow = RowOf<typeof accountEmail>;

/** The kind of the record: e-mails about accounts are seen by nobody. */
export function kindOf({ organizationId }: Pick<SendEmailInput, 'organizationId'>): typeof accountEmail {
  // `email` has all fields of `accountEmail`, from the same declaration.
  return organizationId === undefined ? accountEmail : (email as unknown as typeof accountEmail);
}

const openStatuses: ReadonlySet<EmailStatus> = new Set(['pending', 'sending', 'waiting']);

/** Whether a mail is still to be sent, or its sending has no known outcome. */
export function isOpen(status: EmailStatus): boolean {
  return openStatuses.has(status);
}

/** How the workflow of a mail ends whose record says this. */
export function resultOf(status: EmailStatus): SendEmailResult {
  return status === 'refused' || status === 'suppressed' || status === 'outdated' || status === 'failed'
    ? status
    : 'sent';
}

/** Part that is kept sealed until a provider has accepted the mail. */
export interface SealedEmail {
  readonly message: OutgoingEmail;
  /** The request to each provider that was tried. */
  readonly bodies: { readonly [Name in EmailCarrier]?: string };
}

export async function unsealed(
  options: DatabaseOptions,
  kind: typeof accountEmail,
  row: EmailRow,
): Promise<SealedEmail | undefined> {
  if (row.content === null) return undefined;
  const { secret } = await openSealedValue(options, kind, { ...row }, 'content');
  return JSON.parse(secret) as SealedEmail;
}

/** The record with the key, locked until the end of the transaction. */
export async function lockedEmail(input: SendEmailInput, { data }: UnitOfWork): Promise<EmailRow | undefined> {
  const kind = kindOf(input);
  const found = await data.findOne(kind, { key: { eq: input.key } });
  return found && (await data.findLocked(kind, found.id));
}

const maxMessage = 500;

interface EmailProblem {
  readonly status: EmailStatus;
  readonly code: string | null;
  readonly message?: string;
}

/** Records why a mail is not sent, unless a provider has reported meanwhile that it was. */
export async function recordProblem(
  input: SendEmailInput,
  unit: UnitOfWork,
  { status, code, message }: EmailProblem,
): Promise<void> {
  const row = await lockedEmail(input, unit);
  if (!row || !isOpen(row.status)) return;
  await unit.data.update(kindOf(input), row.id, {
    status,
    errorCode: code,
    errorMessage: message === undefined ? null : message.slice(0, maxMessage),
    // Without an open status nothing is kept that could be sent.
    ...(isOpen(status) ? {} : { content: null }),
  });
}

/** Records that a provider has accepted a mail; its reports may have come before. */
export async function recordAccepted(input: SendEmailInput, unit: UnitOfWork, messageId: string): Promise<void> {
  const row = await lockedEmail(input, unit);
  if (!row) return;
  const now = unit.clock.now();
  await unit.data.update(kindOf(input), row.id, {
    ...(isOpen(row.status) ? { status: 'sent' } : {}),
    messageId: row.messageId ?? messageId,
    sentAt: row.sentAt === null || row.sentAt > now ? now : row.sentAt,
    content: null,
    errorCode: null,
    errorMessage: null,
  });
}
