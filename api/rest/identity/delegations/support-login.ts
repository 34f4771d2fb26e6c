import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { supportConsent } from '#entities/organizations/support-consent.ts';
import { forgetAttempt, takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { clientNetwork } from '../../../http/limits/client-address.ts';
import { workOf } from '../../../http/request-context.ts';
import { defineRoute, type Call } from '../../../http/route.ts';
import { tooManyAttempts } from '../../../http/limits/too-many-attempts.ts';
import { beginFlow, RedirectSchema } from '../providers/provider-flow.ts';
import { ReasonField } from './begin-delegation.ts';
import { isFirstFactor, settingsDigest, supportProvider, supportSettings } from './support-provider.ts';
import { idSchema } from '../../../http/request-schemas.ts';

/** Period in which failures are counted, in milliseconds. */
const windowMs = 15 * 60_000;

/** Failures within the window after which a network, and everybody, must wait. */
const limits = { network: 10, all: 100 } as const;

/** The first factor of support access. It gives nothing but the way to the second one. */
export const supportLogin = defineRoute({
  method: 'POST',
  url: '/v1/support/login',
  operationId: 'beginSupportAccess',
  tag: 'Acting as another user',
  summary: 'Begin support access',
  description:
    'First factor of support access, for an organization that has given its consent (/v1/support-consents). Returns the URL of the provider of the second factor, and binds the sign-in to this browser. It must be finished within ten minutes. After ten failures the network address waits for a quarter of an hour.',
  // A person who is signed in in this browser has no part in it.
  access: 'anonymous',
  body: Type.Object(
    {
      email: Type.String({ minLength: 1, maxLength: 254, description: 'Address of the support identity.' }),
      password: Type.String({
        minLength: 1,
        maxLength: 256,
        writeOnly: true,
        description: 'Password of the support identity.',
      }),
      organization_id: idSchema('Id of the organization.'),
      reason: ReasonField,
    },
    { additionalProperties: false },
  ),
  answers: { 200: RedirectSchema },
  // It counts the attempt in a transaction of its own, and asks the provider.
  runsOnce: true,
  errors: [
    'invalid_input',
    'not_found',
    'invalid_credentials',
    'permission_denied',
    'too_many_requests',
    'provider_unavailable',
  ],
  handle: async (call) => {
    const { body } = call;
    const settings = supportSettings(call);
    await provePassword(call, isFirstFactor(settings, body.email, body.password));
    const organizationId = body.organization_id;
    await consentOf(call, organizationId);
    const location = await beginFlow(call, supportProvider(call, settings), {
      provider: 'support',
      purpose: 'sign-in',
      target: '',
      session: null,
      organizationId,
      settings: settingsDigest(settings),
      reason: body.reason,
    });
    return { status: 200, body: { location } };
  },
});

/** Counts the attempt before its result is known. @throws AppError invalid_credentials, too_many_requests */
async function provePassword({ services, request }: Call<unknown>, isRight: boolean): Promise<void> {
  const network = { key: `support:${clientNetwork(request, services)}`, limit: limits.network };
  const all = { key: 'support', limit: limits.all };
  const context = workOf(request.core, systemCaller('support sign-in'));
  await services.database.transact(context, async (unit) => {
    const freeAt = await takeAttempt(unit, [network, all], windowMs);
    if (freeAt) throw tooManyAttempts('Too many failed sign-ins', freeAt, services.clock.now());
    if (isRight) await forgetAttempt(unit, network.key, all.key);
  });
  if (!isRight) throw new AppError('invalid_credentials', 'The e-mail address or the password is wrong.');
}

/** The consent of an organization. @throws AppError permission_denied, the same for an organization that does not exist */
export async function consentOf(
  { services, request }: Call<unknown>,
  organizationId: string,
): Promise<RowOf<typeof supportConsent>> {
  const context = workOf(request.core, systemCaller('support sign-in'));
  const { subjectid } = services.config.current.auth.supportaccess;
  const held = await services.database.transact(context, async ({ data }) => {
    // It would have the rights of that person to single records.
    if (await data.findOne(user, { id: { eq: subjectid } }))
      throw new AppError('permission_denied', 'auth.supportaccess.subjectid is the id of a user; choose another one.');
    return isId(organizationId) ? data.findOne(supportConsent, { organizationId: { eq: organizationId } }) : undefined;
  });
  if (!held || held.expiresAt <= services.clock.now()) throw new AppError('permission_denied', noConsent);
  return held;
}

export const noConsent =
  'There is no organization with this id that has given its consent to support access; ask its owner.';
