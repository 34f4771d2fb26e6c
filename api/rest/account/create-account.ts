import { emailVerification } from '#entities/identity/email-verification.ts';
import { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import { organization } from '#entities/organizations/organization.ts';
import type { ChangesOf, RowOf } from '#entities/kit/model/define.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/** Maximum length of a display name; an address can be longer. */
const maxDisplayName = 128;

/** What a person writes at sign-up. */
export interface Profile {
  readonly passwordHash: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

/**
 * Creates the account of a person who has proven to own the address, with a personal organization. All links of sign-ups stop working.
 * @param email in lower case and locked; it has no confirmed account
 */
export async function createAccount(
  unit: UnitOfWork,
  data: DataClient,
  email: string,
  profile: Profile,
): Promise<RowOf<typeof user>> {
  const now = unit.clock.now();
  const names = [profile.firstName, profile.lastName].flatMap((name) => name?.trim() || []);
  const values: ChangesOf<typeof user> & { displayName: string } = {
    ...profile,
    displayName: (names.join(' ') || email).slice(0, maxDisplayName),
    emailConfirmedAt: now,
  };
  const existing = await data.findOne(user, { email: { eq: email } });
  const person = existing
    ? await data.update(user, existing.id, values)
    : await data.create(user, { email, ...values });
  await voidLinks(data, email, now);
  const own = await data.create(organization, {
    name: `personal-${newId()}`,
    displayName: person.displayName,
    isPersonal: true,
  });
  await data.create(membership, { organizationId: own.id, userId: person.id, role: 'owner' });
  unit.emit(customEvent(user, 'confirmed', person, {}));
  return person;
}

/** All links of the address stop working, and what was written at sign-up is forgotten. */
async function voidLinks(data: DataClient, email: string, now: Date): Promise<void> {
  // A link beyond these stops working too, because the address is confirmed.
  const all = await data.find(emailVerification, {
    where: { email: { eq: email }, usedAt: { isNull: true } },
    limit: 1_000,
  });
  const ids = all.map(({ id }) => id);
  await data.updateAll(emailVerification, ids, { usedAt: now, passwordHash: null, firstName: null, lastName: null });
}
