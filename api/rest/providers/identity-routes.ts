import { Type } from 'typebox';
import { externalIdentity } from '#entities/identity/external-identity.ts';
import { passkey } from '#entities/identity/passkey.ts';
import { session } from '#entities/identity/session.ts';
import { user } from '#entities/identity/user.ts';
import { organization } from '#entities/organizations/organization.ts';
import { readMembershipState } from '#entities/kit/access/principal-state.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { AccessClaims } from '../../auth/access-token.ts';
import { requireRecentProof } from '../../credentials/recent-proof.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { workOf } from '../../http/request-context.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import { organizationProvider } from '../single-sign-on/organization-provider.ts';
import { providerNames, type ProviderName } from './configured-provider.ts';
import { beginFlow, RedirectSchema, TargetField, targetOf } from './provider-flow.ts';
import { settingsOf } from './provider-routes.ts';

/** Begins to link an identity: the consent of the account is the session that asks, in the browser that comes back. */
export const beginLink = defineRoute({
  method: 'POST',
  url: '/v1/account/identities',
  tag: 'Account',
  summary: 'Link an identity of a provider',
  description:
    'Returns the URL of the provider to which the browser goes, and binds the link to this session and browser. The identity is linked when the browser comes back; it then signs in to this account. /v1/external-identities lists linked identities.',
  access: 'required',
  body: Type.Object(
    {
      provider: Type.Enum([...providerNames, 'single_sign_on'], {
        description: 'Provider of the identity; `single_sign_on` for that of an organization.',
      }),
      organization_id: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 26,
          description: 'For `single_sign_on`: id of the organization, of which the person must be a member.',
        }),
      ),
      redirect_uri: TargetField,
    },
    { additionalProperties: false },
  ),
  answers: { 200: RedirectSchema },
  errors: ['invalid_input', 'not_found', 'permission_denied', 'step_up_required', 'provider_unavailable'],
  handle: async (call) => {
    const { userId, sessionId } = await ownSession(call);
    await requireRecentProof(call);
    const { provider, redirect_uri: wanted, organization_id: id } = call.body;
    const isOfServer = provider !== 'single_sign_on';
    const organizationId = isOfServer ? null : await ownOrganization(call, userId, id ?? '');
    const location = await beginFlow(
      call,
      organizationId === null
        ? settingsOf(call, provider as ProviderName)
        : (await organizationProvider(call, organizationId)).settings,
      {
        provider: isOfServer ? provider : 'sso',
        purpose: 'link',
        target: targetOf(call.services.config.current, wanted),
        session: { userId, sessionId },
        organizationId,
        settings: null,
      },
    );
    return { status: 200, body: { location } };
  },
});

export const unlinkIdentity = defineRoute({
  method: 'DELETE',
  url: '/v1/account/identities/:id',
  tag: 'Account',
  summary: 'Unlink an identity of a provider',
  description:
    'The identity no longer signs in to this account. The last way to sign in cannot be unlinked: set a password first, with /v1/forgot-password.',
  access: 'required',
  params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 26, description: 'Id of the linked identity.' }) }),
  answers: { 200: MessageSchema },
  errors: ['not_found', 'permission_denied', 'step_up_required', 'last_way_in'],
  handle: async (call) => {
    const { userId } = await ownSession(call);
    await requireRecentProof(call);
    const id = existingId(externalIdentity, call.params['id'] ?? '');
    const data = call.unit.data.privileged('unlink identity');
    // Of two ways that are removed at the same time, the second finds the first gone.
    const person = await data.findLocked(user, userId);
    const held = await data.find(externalIdentity, { where: { userId: { eq: userId } }, limit: 1_000 });
    if (!person || !held.some((one) => one.id === id)) throw missingRecord(externalIdentity, id);
    const others = held.filter((one) => one.id !== id);
    if (!(await hasOtherWay(data, person, others)))
      throw new AppError(
        'last_way_in',
        'This is the only way to sign in to your account; set a password with POST /v1/forgot-password first.',
      );
    await data.remove(externalIdentity, id);
    return { status: 200, body: { message: 'The identity is unlinked.' } };
  },
});

/** Whether a person can sign in without an identity. @param others identities that stay */
async function hasOtherWay(
  data: DataClient,
  { id, passwordHash }: RowOf<typeof user>,
  others: readonly RowOf<typeof externalIdentity>[],
): Promise<boolean> {
  if (passwordHash !== null || others.length > 0) return true;
  return (await data.findOne(passkey, { userId: { eq: id } })) !== undefined;
}

/** An organization of the person. @throws AppError not_found, the same for one that does not exist */
async function ownOrganization({ services, request }: Call<unknown>, userId: string, id: string): Promise<string> {
  const wanted = existingId(organization, id);
  const context = workOf(request.core, systemCaller('link identity'));
  const { role } = await services.database.transact(context, (unit) => readMembershipState(unit, userId, wanted));
  if (role === null) throw missingRecord(organization, wanted);
  return wanted;
}

/**
 * The session of the person who asks.
 * @throws AppError permission_denied for other callers, and for sessions of a single sign-on: whoever runs the provider of an organization
 * could otherwise sign in to the whole account from then on
 */
async function ownSession({ unit, request, services }: Call<unknown>): Promise<AccessClaims> {
  const { claims } = request.core;
  if (unit.context.caller.kind !== 'user' || !claims)
    throw new AppError('permission_denied', 'Only users link identities.');
  const context = workOf(request.core, systemCaller('link identity'));
  const held = await services.database.transact(context, ({ data }) =>
    data.findOne(session, { id: { eq: claims.sessionId } }),
  );
  if (held?.singleSignOnId !== null)
    throw new AppError('permission_denied', 'Sign in without single sign-on to change how you sign in.');
  return claims;
}
