import { AppError } from '#entities/kit/base/errors.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { ExpectedVersion } from '#entities/kit/write/plan-changes.ts';
import { endAnnouncedDeletion, setAnnouncedDeletion } from '#entities/organizations/announced-deletion-rows.ts';
import { peopleOfDeletion } from '#entities/organizations/deletion-audience-rows.ts';
import { namedTime } from '#entities/organizations/named-time.ts';
import { lifecycleOf, noMark } from '#entities/organizations/lifecycle.ts';
import { lifecycleFacts } from '#entities/organizations/lifecycle-rows.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { organization } from '#entities/organizations/organization.ts';
import type { Asking } from '../credentials/asking.ts';
import { requireProofToDelete } from '../credentials/required-proof.ts';

/** Longest time, in days, between the announcement of a deletion and the deletion. */
export const maxAnnouncedDays = 30;

/** The deletion of a record at a later time, for kinds that have it. @returns the time */
type LaterDeletion = (
  asking: Asking,
  id: string,
  notBefore: string,
  path: string,
  version?: ExpectedVersion,
) => Promise<Date>;

export const laterDeletions: Readonly<Record<string, LaterDeletion>> = { [organization.kind]: announceDeletion };

/**
 * Marks an organization for deletion at a time, for those who may delete it. Until then it can be withdrawn.
 * @throws AppError as the deletion does; rule_violated while it is marked because nobody pays, or would be
 */
export async function announceDeletion(
  asking: Asking,
  id: string,
  notBefore: string,
  path: string,
  version?: ExpectedVersion,
): Promise<Date> {
  const { unit } = asking;
  const now = unit.clock.now();
  const at = namedTime(notBefore, path, { now, maxDays: maxAnnouncedDays });
  const home = await lockedAsOwner(asking, id);
  if (home.isPersonal)
    throw new AppError(
      'permission_denied',
      'A personal organization is deleted together with the account; see DELETE /v1/account.',
    );
  if (version !== undefined && ![version].flat().includes(home.recordVersion))
    throw new AppError(
      'stale_record',
      `The Organization is at version ${home.recordVersion}, not ${[version].flat().join(' or ') || 'one that the request expects'}; read it again and repeat the request.`,
    );
  const data = unit.data.privileged('announce deletion');
  const settings = await settingsOf(asking, home.id);
  if (settings.markedForDeletionAt !== null && settings.deletionRequesterId === null)
    throw new AppError(
      'rule_violated',
      `The organization is marked for deletion already, because nobody pays for it: it is not deleted before ${settings.deletionNotBefore?.toISOString()}. Delete it now, or add a payment method.`,
    );
  await requirePayment(asking, home, now);
  await data.update(organizationSetting, settings.id, {
    markedForDeletionAt: now,
    deletionNotBefore: at,
    deletionNotice: 'marked',
    deletionRequesterId: unit.context.caller.subjectId,
  });
  await setAnnouncedDeletion(unit, home.id, at);
  const event = { ...home, organizationId: home.id };
  const userIds = await peopleOfDeletion(unit, home.id);
  const notice = { notBefore: at.toISOString(), userIds, delayS: 0 };
  unit.emit(customEvent(organization, 'marked_for_deletion', event, notice));
  await requireProofToDelete(asking, organization);
  return at;
}

/** An announced organization is not marked, so one announcement after another would keep it for ever without a payment. */
async function requirePayment({ unit, services }: Asking, home: RowOf<typeof organization>, now: Date): Promise<void> {
  const { integrations, ormconfig } = services.config.current;
  const { enabled, dryrun } = integrations.paymentreminder;
  if (!enabled || dryrun) return;
  const facts = await lifecycleFacts(unit, home.id, { now, exemptDomains: ormconfig.billing.bypassemaildomains });
  if (!facts) return;
  const unmarked = { ...facts, ...noMark };
  if (lifecycleOf(unmarked, integrations.paymentreminder, now).action === 'mark')
    throw new AppError(
      'rule_violated',
      'Nobody pays for the organization, so the server will mark it for deletion. Delete it now, or add a payment method.',
    );
}

/** Takes back an announced deletion, for those who may delete the organization. @throws AppError not_found, permission_denied, rule_violated */
export async function withdrawDeletion(asking: Asking, id: string): Promise<RowOf<typeof organization>> {
  const { unit } = asking;
  const home = await lockedAsOwner(asking, id);
  const settings = await settingsOf(asking, home.id);
  if (settings.deletionRequesterId === null)
    throw new AppError(
      'rule_violated',
      settings.markedForDeletionAt === null
        ? 'The organization is not marked for deletion.'
        : 'The organization is marked for deletion because nobody pays for it; add a payment method.',
    );
  await unit.data.privileged('announce deletion').update(organizationSetting, settings.id, noMark);
  await endAnnouncedDeletion(unit, home.id);
  unit.emit(customEvent(organization, 'spared', { ...home, organizationId: home.id }, { reason: 'withdrawn' }));
  return home;
}

/** The organization, locked as by a change; its deletion waits. @throws AppError not_found, permission_denied */
async function lockedAsOwner({ unit }: Asking, id: string): Promise<RowOf<typeof organization>> {
  const wanted = existingId(organization, id);
  await unit.data.get(organization, wanted);
  await unit.data.findLocked(organization, wanted);
  // Read again: it may have changed while somebody else held the lock.
  const home = await unit.data.get(organization, wanted);
  if (!(await unit.data.decide(organization, 'remove', { ...home })).isAllowed)
    throw new AppError(
      'permission_denied',
      'Only owners of the organization, who act in it, can delete it or take that back.',
    );
  return home;
}

async function settingsOf({ unit }: Asking, organizationId: string): Promise<RowOf<typeof organizationSetting>> {
  const found = await unit.data
    .privileged('announce deletion')
    .findOne(organizationSetting, { organizationId: { eq: organizationId } });
  if (!found) throw new Error(`the organization ${organizationId} has no settings`);
  return found;
}
