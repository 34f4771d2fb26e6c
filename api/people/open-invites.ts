import { invite, inviteLifetimeMs, maxResends, openStatuses } from '#entities/organizations/invite.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { Asking } from '../credentials/asking.ts';

type Invite = RowOf<typeof invite>;

/**
 * Sends the link of an invitation again; older links stop working. The person who does so is its inviter: the rules decide with their own
 * rights whether they may give its role.
 * @throws AppError not_found, permission_denied, already_exists, limit_exceeded, rule_violated
 */
export async function resendInvite({ unit, services }: Asking, id: string): Promise<Invite> {
  const held = await openInvite({ unit }, id);
  if (held.round > maxResends)
    throw new AppError(
      'limit_exceeded',
      `This invitation was sent again ${maxResends} times already; withdraw it and invite the address once more.`,
    );
  const { caller } = unit.context;
  const resent = await unit.data.update(invite, held.id, {
    status: 'pending',
    activeRecipient: held.recipient,
    inviterId: caller.kind === 'user' ? caller.subjectId : null,
    round: held.round + 1,
    expiresAt: new Date(services.clock.now().getTime() + inviteLifetimeMs),
  });
  unit.emit(customEvent(invite, 'resent', resent, { round: resent.round }));
  return resent;
}

/** Ends the links of an invitation. @throws AppError not_found, permission_denied, rule_violated */
export async function withdrawInvite({ unit }: Pick<Asking, 'unit'>, id: string): Promise<Invite> {
  const held = await openInvite({ unit }, id);
  return unit.data.update(invite, held.id, { status: 'withdrawn' });
}

/** An invitation that nobody has answered, locked; also one that has expired. @throws AppError not_found, rule_violated */
async function openInvite({ unit }: Pick<Asking, 'unit'>, id: string): Promise<Invite> {
  const wanted = existingId(invite, id);
  const held = await unit.data.findLocked(invite, wanted);
  if (!held) throw missingRecord(invite, wanted);
  if (![...openStatuses, 'expired'].includes(held.status))
    throw new AppError('rule_violated', `This invitation is ${held.status}; invite the address once more.`);
  return held;
}
