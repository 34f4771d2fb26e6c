import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { organization } from '#entities/organizations/organization.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { concurrentChanges } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { signInFirst } from '../../../http/plugins/sign-in-first.ts';
import { MessageSchema } from '../../../http/request-schemas.ts';
import { defineRoute, type Call, type Route } from '../../../http/route.ts';
import { readPerson, withCurrentPassword } from '../account/current-password.ts';
import { PasswordSchema } from '../account/password-schemas.ts';
import { forgetSession } from '../account/session-answer.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';
import { requireRecentFactor } from '../../../credentials/recent-proof.ts';
import { lastOwned, ownedOrganizations, refuseLastOwner, type LastOwned } from './owned-organizations.ts';

/** Differences between the routes that end an account. */
type LeavingRoute = Pick<Route, 'method' | 'url' | 'operationId' | 'summary' | 'description'> & {
  /** Ends the account. @returns a message for people */
  readonly leave: (call: Call<{ readonly password: string }>) => Promise<string>;
};

/** A route that ends the account of the caller, who gives the password. */
export function leavingRoute({ leave, ...route }: LeavingRoute): Route {
  return defineRoute({
    ...route,
    tag: 'Account',
    access: 'required',
    allowsMissingFactor: true,
    body: Type.Object({ password: PasswordSchema('Current password.') }, { additionalProperties: false }),
    answers: { 200: MessageSchema },
    // It counts the attempt in a transaction of its own.
    runsOnce: true,
    errors: [
      'invalid_input',
      'invalid_credentials',
      'permission_denied',
      'step_up_required',
      'last_owner',
      'too_many_requests',
      'overloaded',
      'concurrent_changes',
    ],
    handle: async (call) => {
      const message = await leave(call);
      forgetSession(call);
      return { status: 200, body: { message } };
    },
  });
}

interface Leaving {
  readonly person: RowOf<typeof user>;
  readonly owned: LastOwned;
}

/**
 * First steps of deactivating and deleting an account: the password is right, and no organization is left without an owner. The person,
 * what hangs on them and their organizations are locked, so that of the last two owners only one can leave.
 * @param operation what will happen to the record of the user
 * @throws AppError invalid_credentials, step_up_required, too_many_requests, overloaded, last_owner, concurrent_changes
 */
export async function beginLeaving(
  call: Call<{ readonly password: string }>,
  data: DataClient,
  operation: 'edit' | 'remove',
): Promise<Leaving> {
  const { userId } = signedInPerson(call);
  const compared = await readPerson(call, userId);
  await withCurrentPassword(call, compared, call.body.password, async () => {});
  await lockEmail(call.unit, compared.email);
  // Before everything else of the person, as in all work that changes accounts and sessions (docs/decisions/lock-order.md).
  await data.findLocked(user, userId);
  const owned = await ownedOrganizations(data, userId);
  await data.lockAll([
    { module: user, ids: [userId], operation, values: {} },
    { module: organization, ids: owned, operation: 'edit', values: {} },
  ]);
  const person = await data.findLocked(user, userId);
  const isSame = person?.status === 'active' && person.email === compared.email;
  if (!isSame || person.passwordHash !== compared.passwordHash) throw signInFirst();
  await requireRecentFactor(call);
  const after = await ownedOrganizations(data, userId);
  // Somebody gave them another organization meanwhile, which is not locked.
  if (after.some((id) => !owned.includes(id))) throw concurrentChanges(undefined);
  const last = await lastOwned(data, userId, after);
  await refuseLastOwner(data, last);
  return { person, owned: last };
}
