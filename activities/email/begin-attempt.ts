import type { accountEmail } from '#entities/email/account-email.ts';
import { addressHashOf } from '#entities/email/address-hash.ts';
import type { ChangesOf } from '#entities/kit/model/define.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { DatabaseOptions } from '#entities/kit/access/database-options.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { suppressionOf } from '../listeners/email/suppress-address.ts';
import type { SendEmailInput, SendEmailResult } from '#workflows/email/send-email.contract.ts';
import type { StartInput } from '#workflows/kit/contract.ts';
import type { EmailThemeName } from '../clients/email/content.ts';
import type { EmailTransport, OutgoingEmail } from '../clients/email/transport.ts';
import { isOpen, kindOf, lockedEmail, resultOf, unsealed, type EmailRow, type SealedEmail } from './email-records.ts';
import { finalProblems } from './send-problems.ts';
import { readMail, recordUnsent, type AddressedMail } from './read-mail.ts';
import type { Links } from '../mails/define-mail.ts';

/** Work of an attempt to send a mail. */
export type Attempt =
  /** Nothing: the mail has come to its end. */
  | { readonly result: SendEmailResult }
  /** To wait: nothing is configured that could send it. */
  | { readonly isWithoutProvider: true }
  /** To send it. Its record says already that it is being sent. */
  | { readonly message: OutgoingEmail; readonly body: string }
  /** To ask what became of an earlier attempt, of which nobody knows whether the provider has accepted it. */
  | { readonly message: OutgoingEmail; readonly uncertain: Pick<EmailRow, 'carrier'> & { readonly since: Date } };

export interface AttemptSettings {
  readonly options: DatabaseOptions;
  readonly links: Omit<Links, 'emailId'>;
  readonly transport: EmailTransport | undefined;
  /** The mail as it is sent. @param id of its record */
  readonly render: (mail: AddressedMail, id: string, theme: EmailThemeName) => OutgoingEmail;
}

/**
 * Decides what to do with a mail, and records it before it is done: whoever comes later, after a crash too, knows that the mail may be at
 * the provider. The first attempt renders it; later ones send the same bytes.
 * @param isAnswered an uncertain attempt was asked about, and the provider has not accepted it
 */
export async function beginAttempt(
  input: SendEmailInput,
  unit: UnitOfWork,
  settings: AttemptSettings,
  isAnswered = false,
): Promise<Attempt> {
  const kind = kindOf(input);
  const row = await lockedEmail(input, unit);
  // A refused content was certainly not sent: an operator can have it tried again, as it is rendered by then.
  const isRefusedContent = row?.status === 'failed' && row.errorCode === finalProblems.content.code;
  if (row && !isOpen(row.status) && !isRefusedContent) return { result: resultOf(row.status) };
  const held = row && (await unsealed(settings.options, kind, row));
  if (row?.status === 'sending' && held && !isAnswered)
    return {
      message: held.message,
      uncertain: { carrier: row.carrier, since: row.attemptedAt ?? row.createdAt },
    };
  const { transport } = settings;
  const id = row?.id ?? newId(unit.clock.now().getTime());
  const mail = await readMail(input, unit, { ...settings.links, emailId: id });
  if (!mail) {
    await recordUnsent(input, unit);
    if (row) await unit.data.update(kind, id, { status: 'outdated', content: null });
    return { result: 'outdated' };
  }
  const scope = { organizationId: input.organizationId ?? null };
  // A mail that was rendered goes where it was to go then, whatever the address of the person is by now.
  const to = held?.message.to ?? mail.to;
  const { unsubscribeToken } = mail.content;
  const topics = [...(mail.content.topics ?? [])];
  const reason = await suppressionOf(unit, scope, to, unsubscribeToken === undefined ? undefined : topics);
  if (reason !== undefined) {
    const ended = { status: 'suppressed', errorCode: reason, errorMessage: null } as const;
    if (row) await unit.data.update(kind, id, { ...ended, content: null });
    else await unit.data.create(kind, { id, ...identity(input), topics, ...ended });
    return { result: 'suppressed' };
  }
  // The provider may know the key of what it has refused, and take no other content with it.
  const round = isRefusedContent ? { round: row.attempts } : {};
  const message = held?.message ?? { ...settings.render(mail, id, await themeOf(unit)), ...round };
  const { values, body } = attemptOf({ row, held, message, transport, at: unit.clock.now() });
  if (row) await unit.data.update(kind, id, values);
  else
    await unit.data.create(kind, {
      id,
      ...identity(input),
      ...addressedTo(input, id, to, settings),
      topics,
      ...values,
    });
  return body === undefined ? { isWithoutProvider: true } : { message, body };
}

/** Content of the record of a mail before the attempt, and the request; without a provider there is none. */
function attemptOf({ row, held, message, transport, at }: PlannedAttempt): {
  readonly values: ChangesOf<typeof accountEmail>;
  readonly body: string | undefined;
} {
  const kept = transport && held?.bodies[transport.carrier];
  const body = kept ?? transport?.bodyOf(message);
  const isComplete = held !== undefined && (kept !== undefined || !transport);
  const content: SealedEmail = {
    message,
    bodies: { ...held?.bodies, ...(transport && body !== undefined ? { [transport.carrier]: body } : {}) },
  };
  const values: ChangesOf<typeof accountEmail> = {
    ...(isComplete ? {} : { content: JSON.stringify(content) }),
    ...(transport
      ? {
          status: 'sending',
          carrier: transport.carrier,
          attempts: (row?.attempts ?? 0) + 1,
          attemptedAt: at,
          errorCode: null,
          errorMessage: null,
        }
      : { status: 'waiting', errorCode: 'no_provider', errorMessage: null }),
  };
  return { values, body };
}

interface PlannedAttempt {
  /** The record of the mail; undefined before the first attempt. */
  readonly row: EmailRow | undefined;
  /** Sealed part of the record. */
  readonly held: SealedEmail | undefined;
  readonly message: OutgoingEmail;
  readonly transport: EmailTransport | undefined;
  readonly at: Date;
}

/** The looks that the organization has chosen for its mails. */
async function themeOf({ data }: UnitOfWork): Promise<EmailThemeName> {
  if (data.caller.organizationId === null) return 'modern';
  const settings = await data.findOne(organizationSetting, {});
  return settings?.emailTheme ?? 'modern';
}

/** Form in which the record of an e-mail of an organization keeps the address to which it goes. @param id of the record */
function addressedTo(
  { organizationId }: Pick<SendEmailInput, 'organizationId'>,
  id: string,
  address: string,
  { links }: AttemptSettings,
): { readonly addressHash?: string } {
  return organizationId === undefined ? {} : { addressHash: addressHashOf(links.tokenKey, id, address) };
}

/** An e-mail, as its record describes it. */
function identity({ key, template, userId, about }: StartInput<SendEmailInput>) {
  return {
    key,
    template,
    ...(userId === undefined ? {} : { recipientId: userId }),
    ...(about === undefined ? {} : { aboutId: about.id, aboutRound: about.round }),
  };
}
