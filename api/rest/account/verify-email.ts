import { Type } from 'typebox';
import { emailVerification } from '#entities/identity/email-verification.ts';
import { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import { organization } from '#entities/organizations/organization.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { deriveKey } from '#entities/kit/base/keys.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { checkOneTimeToken, claimedId, invalidToken } from '#entities/kit/base/one-time-token.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { defineRoute } from '../../http/route.ts';

/** Confirms the address and creates a personal organization for the user. */
export const verify = defineRoute({
  method: 'POST',
  url: '/v1/verify',
  tag: 'Account',
  summary: 'Confirm an e-mail address',
  description:
    'Confirms the address with the token of the e-mailed link. A token can be used once within seven days; only the newest one is valid.',
  access: 'public',
  body: Type.Object(
    {
      token: Type.String({ minLength: 1, maxLength: 200, writeOnly: true, description: 'Token of the e-mailed link.' }),
    },
    { additionalProperties: false },
  ),
  answers: {
    200: Type.Object({
      message: Type.String({ description: 'What happened, as text for people.' }),
      email: Type.String({ description: 'The confirmed address.' }),
    }),
  },
  errors: ['invalid_input', 'invalid_token', 'token_expired'],
  handle: async ({ body, unit, services }) => {
    const id = claimedId(body.token);
    const data = unit.data.privileged('confirm address');
    const claimed = await data.findOne(emailVerification, { id: { eq: id } });
    if (!claimed) throw invalidToken();
    // A concurrent sign-up either ends first and invalidates this token, or finds the address confirmed.
    await lockEmail(unit, claimed.email);
    const verification = await data.findLocked(emailVerification, id);
    if (!verification) throw invalidToken();
    const key = deriveKey(services.config.current.sessions.signingkey, 'one-time-token');
    checkOneTimeToken(key, 'email-verification', id, verification.round, body.token);
    if (verification.usedAt) throw invalidToken();
    const now = services.clock.now();
    if (verification.expiresAt <= now) {
      throw new AppError('token_expired', 'This link has expired; request a new one with POST /v1/resend.');
    }

    // The user may have been deleted since.
    if (!(await data.findOne(user, { id: { eq: verification.userId } }))) throw invalidToken();
    await data.update(emailVerification, id, { usedAt: now });
    const person = await data.update(user, verification.userId, { emailConfirmedAt: now });
    const own = await data.create(organization, {
      // Not derived from the user's name: names are unique, and others could take a name that they can guess.
      name: `personal-${newId()}`,
      displayName: person.displayName,
      isPersonal: true,
    });
    await data.create(membership, { organizationId: own.id, userId: person.id, role: 'owner' });
    unit.emit(customEvent(user, 'confirmed', person, {}));
    return { status: 200, body: { message: 'The address is confirmed; you can sign in now.', email: person.email } };
  },
});
