import { user } from '#entities/identity/user.ts';
import { organization } from '#entities/organizations/organization.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { concurrentChanges } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { signInFirst } from '../../http/plugins/sign-in-first.ts';
import type { Call } from '../../http/route.ts';
import { readPerson, withCurrentPassword } from '../account/current-password.ts';
import { signedInPerson } from '../../credentials/signed-in-person.ts';
import { requireRecentFactor } from '../../credentials/recent-proof.ts';
import { lastOwned, ownedOrganizations, refuseLastOwner, type LastOwned } from './owned-organizations.ts';

interface Leaving {
  readonly person: RowOf<typeof user>;
  readonly owned: LastOwned;
}

/**
 * What deactivating and deleting an account begin with: the password is right, and no organization is left without an owner. The person,
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
