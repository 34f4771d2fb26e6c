import type { UnitOfWork } from '../../kit/unit/unit-of-work.ts';
import { membership } from '../../organizations/membership.ts';
import { directoryAccount } from '../directory-account.ts';
import { isProvisioning, surplusMemberships } from '../provisioning-rows.ts';

/** Memberships that one transaction ends. */
const endedAtOnce = 100;

const lastOwner =
  'The person is the last active owner of the organization. Transfer the ownership to another member; the membership ends then.';

/**
 * Ends memberships that the primary directory of an organization has given to accounts which are inactive or gone. The last owner stays, and
 * the account says so.
 * @param unit of the server: that which has changed the accounts, so that the rights are gone with the next request
 * @param options `after`: id of the last account of the call before; `among`: ids of the only accounts to look at
 * @returns id of the last account; undefined when there are no more
 */
export async function endSurplusMemberships(
  unit: UnitOfWork,
  integrationId: string,
  { after = '', among }: { readonly after?: string; readonly among?: readonly string[] } = {},
): Promise<string | undefined> {
  if (!(await isProvisioning(unit, integrationId))) return undefined;
  const { data, clock } = unit;
  const found = await surplusMemberships(unit, integrationId, { after, among, limit: endedAtOnce });
  for (const { accountId, membershipId, isGone, isLastOwner, provisioning } of found) {
    if (!isLastOwner) await data.remove(membership, membershipId);
    if (isGone || (isLastOwner && provisioning === 'refused')) continue;
    await data.update(directoryAccount, accountId, {
      ...(isLastOwner
        ? { provisioning: 'refused', provisioningProblem: lastOwner }
        : { provisioning: 'ended', provisioningProblem: null, membershipId: null }),
      provisionedAt: clock.now(),
    });
  }
  return found.length === endedAtOnce ? found.at(-1)?.accountId : undefined;
}
