import { emailVerification } from '#entities/identity/email-verification.ts';
import { user } from '#entities/identity/user.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { foundOrganization } from '../../../people/found-organization.ts';

type User = RowOf<typeof user>;

/** Maximum length of a display name; an address can be longer. */
const maxDisplayName = 128;

/** Initial values of an account. */
export interface Profile extends Pick<User, 'passwordHash' | 'firstName' | 'lastName' | 'displayName'> {
  /** Address that the person has proven to own, and that is locked. */
  readonly email: string;
}

/**
 * Creates a confirmed account with a personal organization. All links of sign-ups with the address stop working.
 * @param existing an account of the address that was never confirmed
 */
export async function createAccount(
  unit: UnitOfWork,
  data: DataClient,
  { email, ...values }: Profile,
  existing?: User,
): Promise<User> {
  const now = unit.clock.now();
  const confirmed = { ...values, displayName: values.displayName.slice(0, maxDisplayName), emailConfirmedAt: now };
  const person = existing
    ? await data.update(user, existing.id, confirmed)
    : await data.create(user, { email, ...confirmed });
  await voidSignUpLinks(data, email, now);
  await foundOrganization(
    data,
    { name: `personal-${newId()}`, displayName: person.displayName, isPersonal: true },
    person,
  );
  unit.emit(customEvent(user, 'confirmed', person, {}));
  return person;
}

/** All links of sign-ups with the address stop working, and what was written at sign-up is forgotten. @param email locked */
export async function voidSignUpLinks(data: DataClient, email: string, now: Date): Promise<void> {
  // More are not mailed within their lifetime.
  const all = await data.find(emailVerification, {
    where: { email: { eq: email }, usedAt: { isNull: true } },
    limit: 1_000,
  });
  const ids = all.map(({ id }) => id);
  await data.updateAll(emailVerification, ids, { usedAt: now, passwordHash: null, firstName: null, lastName: null });
}
