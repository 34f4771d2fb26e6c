import { email } from '#entities/email/email.ts';
import type { accountEmail } from '#entities/email/account-email.ts';
import { emailForm } from '#entities/kit/base/email-address.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { ChangesOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { emailOfDigest, type DigestToSend } from '#workflows/email/send-digests.contract.ts';
import type { RenderedEmail } from '../clients/email/transport.ts';
import { settleDigests } from '../listeners/notifications/settle-digests.ts';
import { suppressAddress, suppressionsOf } from '../listeners/suppress-address.ts';
import { addressedTo, attemptOf, identity, themeOf, type AttemptSettings } from './begin-attempt.ts';
import {
  acceptedAs,
  isOpen,
  kindOf,
  problemOf,
  unsealed,
  type EmailProblem,
  type EmailRow,
  type SealedEmail,
} from './email-records.ts';
import { digestMailOf, nameForDigest, topicsOf } from './notification-mails.ts';

/** A digest whose mail is being sent, as its record says. */
export interface BegunDigest extends RenderedEmail {
  readonly digest: DigestToSend;
}

/** Digests of one organization. */
interface OwnDigests {
  readonly organizationId: string;
  readonly digests: readonly DigestToSend[];
  /** Name of the batch that they are in. */
  readonly batch: string;
}

/** What a request with the mails of digests has to do. */
export interface BegunBatch {
  readonly mails: readonly BegunDigest[];
  /** Digests of which an earlier attempt may have been accepted. */
  readonly uncertain: readonly DigestToSend[];
  /** How many mails wait for a provider. */
  readonly waiting: number;
}

/**
 * Decides what to do with the digests of an organization, and records it before it is done, as `beginAttempt` does for one mail. The number of
 * statements does not depend on how many there are.
 */
export async function beginBatch(
  unit: UnitOfWork,
  { organizationId, digests, batch }: OwnDigests,
  settings: AttemptSettings,
): Promise<BegunBatch> {
  const kind = kindOf({ organizationId });
  const rows = await lockedRows(unit, organizationId, digests);
  const uncertain = digests.filter((digest) => rows.get(digest.id)?.status === 'sending');
  const open = digests.filter((digest) => {
    const row = rows.get(digest.id);
    return !row || (isOpen(row.status) && row.status !== 'sending');
  });
  const current = await settleDigests(unit, open, batch);
  const name = current.size > 0 ? await nameForDigest({ organizationId }, unit) : undefined;
  const helds = new Map<string, SealedEmail>();
  for (const { id } of open) {
    const row = rows.get(id);
    const held = row && (await unsealed(settings.options, kind, row));
    if (held) helds.set(id, held);
  }
  // A mail that was rendered goes where it was to go then.
  const addressOf = (id: string) => helds.get(id)?.message.to ?? current.get(id)?.person.email ?? '';
  const addresses = [...current.keys()].map(addressOf);
  const suppressed = await suppressionsOf(unit, organizationId, addresses);
  const theme = await themeOf(unit);
  const [changes, creations] = [new Map<string, ChangesOf<typeof accountEmail>>(), [] as Record<string, unknown>[]];
  const mails: BegunDigest[] = [];
  let waiting = 0;
  for (const digest of open) {
    const row = rows.get(digest.id);
    const id = row?.id ?? newId(unit.clock.now().getTime());
    const found = current.get(digest.id);
    const topics = topicsOf(found?.notifications ?? []);
    const record = (values: ChangesOf<typeof accountEmail>) =>
      row
        ? void changes.set(id, values)
        : void creations.push({
            id,
            ...identity(emailOfDigest(digest)),
            ...addressedTo({ organizationId }, id, addressOf(digest.id), settings),
            topics,
            ...values,
          });
    if (!found || name === undefined) {
      if (row) record({ status: 'outdated', content: null });
      continue;
    }
    const reason = suppressed.get(emailForm(addressOf(digest.id)));
    if (reason !== undefined) {
      record({ status: 'suppressed', errorCode: reason, errorMessage: null, ...(row ? { content: null } : {}) });
      continue;
    }
    const held = helds.get(digest.id);
    const message =
      held?.message ?? settings.render(digestMailOf(found, name, { ...settings.links, emailId: id }), id, theme);
    const { transport } = settings;
    const { values, body } = attemptOf({ row, held, message, transport, at: unit.clock.now() });
    record(values);
    if (body === undefined) waiting++;
    else mails.push({ digest, message, body });
  }
  await unit.data.createAll(creations.map((input) => ({ module: kind, input, path: '' })));
  await unit.data.changeEach(kind, [...changes.keys()], ({ id }) => changes.get(id));
  return { mails, uncertain, waiting };
}

/** The records of mails that an earlier attempt has made, by id of the digest, locked until the end of the transaction. */
async function lockedRows(
  unit: UnitOfWork,
  organizationId: string,
  digests: readonly DigestToSend[],
): Promise<ReadonlyMap<string, EmailRow>> {
  const byKey = new Map(digests.map((digest) => [emailOfDigest(digest).key, digest.id]));
  const where = { key: { in: [...byKey.keys()] } };
  const found = await unit.data.find(email, { where, limit: byKey.size });
  const ids = found.map(({ id }) => id);
  const locked = await unit.data.findAllLocked(kindOf({ organizationId }), ids);
  return new Map(
    locked.flatMap((row): [string, EmailRow][] => {
      const id = byKey.get(row.key);
      return id === undefined ? [] : [[id, row]];
    }),
  );
}

/** What became of a mail: the id at the provider, or why it is not sent. */
export type DigestOutcome = { readonly messageId: string } | EmailProblem;

/** Records what became of mails of an organization. */
export async function recordOutcomes(
  unit: UnitOfWork,
  organizationId: string,
  outcomes: ReadonlyMap<BegunDigest, DigestOutcome>,
): Promise<void> {
  const byId = new Map([...outcomes].map(([{ message }, outcome]) => [message.id, outcome]));
  await unit.data.changeEach(kindOf({ organizationId }), [...byId.keys()], (row) => {
    const outcome = byId.get(row.id);
    if (!outcome) return undefined;
    return 'messageId' in outcome ? acceptedAs(row, outcome.messageId, unit.clock.now()) : problemOf(row, outcome);
  });
  for (const [{ message }, outcome] of outcomes)
    if ('code' in outcome && outcome.status === 'refused')
      await suppressAddress(unit, { organizationId }, message.to, { reason: 'refused', emailId: message.id });
}

/** Records that nobody tries any longer to send the mails of these digests. */
export async function recordGivenUp(
  unit: UnitOfWork,
  organizationId: string,
  digests: readonly DigestToSend[],
): Promise<void> {
  const rows = await lockedRows(unit, organizationId, digests);
  const ids = [...rows.values()].map(({ id }) => id);
  await unit.data.changeEach(kindOf({ organizationId }), ids, (row) =>
    problemOf(row, { status: 'failed', code: 'given_up' }),
  );
}
