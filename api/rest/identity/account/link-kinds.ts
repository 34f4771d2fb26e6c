import { emailChange } from '#entities/identity/email-change.ts';
import { emailVerification } from '#entities/identity/email-verification.ts';
import { passwordReset } from '#entities/identity/password-reset.ts';
import { reactivationEnd, user } from '#entities/identity/user.ts';
import { invite } from '#entities/organizations/invite.ts';
import { subscriber } from '#entities/organizations/subscriber.ts';
import type { TokenPurpose } from '#entities/kit/base/secrets/one-time-token.ts';
import type { EntityModule, RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';

/** State of the record behind a mailed link. */
interface LinkState {
  /** Part of the token: the link of an earlier round is void. */
  readonly round: number;
  /** The address that it is about; null for a change that has lost it. */
  readonly email: string | null;
  /** Its purpose is fulfilled, or another link has replaced it. */
  readonly isUsed: boolean;
  /** Null for links that do not expire. */
  readonly expiresAt: Date | null;
}

/** The mailed links of one purpose, which stand for records of a kind. */
export interface LinkKind<M extends EntityModule, P extends TokenPurpose = TokenPurpose> {
  readonly purpose: P;
  readonly module: M;
  /** Undefined for a record without a link. */
  readonly stateOf: (found: RowOf<M>) => LinkState | undefined;
  readonly read: (data: DataClient, id: string) => Promise<LinkState | undefined>;
}

function linkKind<M extends EntityModule, P extends TokenPurpose>(
  purpose: P,
  module: M,
  stateOf: LinkKind<M>['stateOf'],
): LinkKind<M, P> {
  return {
    purpose,
    module,
    stateOf,
    read: async (data, id) => {
      const found = await data.findOne(module, { id: { eq: id } });
      return found === undefined ? undefined : stateOf(found);
    },
  };
}

/** The round of links whose records are made anew for each request. */
const only = 1;

/** Kinds of links, by purpose. */
export const linkKinds = {
  'email-verification': linkKind('email-verification', emailVerification, (found) => ({
    ...found,
    isUsed: found.usedAt !== null || found.passwordHash === null,
  })),
  'password-reset': linkKind('password-reset', passwordReset, (found) => ({
    ...found,
    round: only,
    isUsed: found.usedAt !== null || found.sentAt === null,
  })),
  'email-change': linkKind('email-change', emailChange, (found) => ({
    ...found,
    round: only,
    email: found.newEmail,
    isUsed: found.usedAt !== null || found.sentAt === null || found.newEmail === null,
  })),
  // The version of the record at the deactivation: any change since, such as a suspension by an operator, makes the link void.
  reactivation: linkKind('reactivation', user, (found) => {
    const { recordVersion: round, email, status } = found;
    if (status !== 'active' && status !== 'deactivated') return undefined;
    return { round, email, isUsed: status === 'active', expiresAt: reactivationEnd(found) };
  }),
  'subscriber-verification': linkKind('subscriber-verification', subscriber, (found) => ({
    ...found,
    isUsed: found.isEmailVerified || found.isUnsubscribed,
  })),
  invite: linkKind('invite', invite, (found) =>
    found.status === 'withdrawn'
      ? undefined
      : { ...found, email: found.recipient, isUsed: found.status === 'accepted' || found.status === 'declined' },
  ),
} as const;
