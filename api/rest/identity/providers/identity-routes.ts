import { Type } from 'typebox';
import { externalIdentity } from '#entities/identity/external-identity.ts';
import { passkey } from '#entities/identity/passkey.ts';
import { user } from '#entities/identity/user.ts';
import { organization } from '#entities/organizations/organization.ts';
import { readMembershipState } from '#entities/kit/access/principal-state.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { requireRecentProof } from '../../../credentials/recent-proof.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';
import { MessageSchema, idSchema } from '../../../http/request-schemas.ts';
import { workOf } from '../../../http/request-context.ts';
import { defineRoute } from '../../../http/route.ts';
import { organizationProvider } from '../single-sign-on/organization-provider.ts';
import { providerNames, type ProviderName } from './configured-provider.ts';
import { beginFlow, RedirectSchema, TargetField, targetOf } from './provider-flow.ts';
import { settingsOf } from './provider-routes.ts';

/** Begins to link an identity: the consent of the account is the session that asks, in the browser that comes back. */
export const beginLink = defineRoute({
  method: 'POST',
  url: '/v1/account/identities',
  operationId: 'linkIdentity',
  tag: 'Account',
  summary: 'Link an identity of a provider',
  description:
    'Returns the URL of the provider to which the browser goes, and binds the link to this session and browser. The identity is linked when the browser comes back; it then signs in to this account. /v1/external-identities lists linked identities.',
  access: 'required',
  answersCredential: true,
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
  // It asks the provider.
  runsOnce: true,
  errors: ['invalid_input', 'not_found', 'permission_denied', 'step_up_required', 'provider_unavailable'],
  handle: async (call) => {
    const { userId, sessionId } = signedInPerson(call);
    const { provider, redirect_uri: wanted, organization_id: id } = call.body;
    const isOfServer = provider !== 'single_sign_on';
    const { services, request } = call;
    // A transaction that ends before the provider is asked.
    const organizationId = await services.database.transact(workOf(request.core), async (unit) => {
      await requireRecentProof({ unit, services, request });
      return isOfServer ? null : ownOrganization(unit, userId, id ?? '');
    });
    const { settings, intent } =
      organizationId === null
        ? { settings: settingsOf(call, provider as ProviderName), intent: { provider, organizationId, settings: null } }
        : await organizationProvider(call, organizationId);
    const location = await beginFlow(call, settings, {
      ...intent,
      purpose: 'link',
      target: targetOf(services.config.current, wanted),
      session: { userId, sessionId },
    });
    return { status: 200, body: { location } };
  },
});

export const unlinkIdentity = defineRoute({
  method: 'DELETE',
  url: '/v1/account/identities/:id',
  operationId: 'unlinkIdentity',
  tag: 'Account',
  summary: 'Unlink an identity of a provider',
  description:
    'Unlinks the identity: it can no longer be used to sign in to this account. The last way to sign in cannot be unlinked; set a password with POST /v1/forgot-password first. An identity of single sign-on is not such a way, because it opens only its organization.',
  access: 'required',
  params: Type.Object({ id: idSchema('Id of the linked identity.') }),
  answers: { 200: MessageSchema },
  errors: ['not_found', 'permission_denied', 'step_up_required', 'last_way_in'],
  handle: async (call) => {
    const { userId } = signedInPerson(call);
    const id = existingId(externalIdentity, call.params['id'] ?? '');
    const data = call.unit.data.privileged('unlink identity');
    // Of two ways that are removed at the same time, the second finds the first gone.
    const person = await data.findLocked(user, userId);
    await requireRecentProof(call);
    const held = await data.find(externalIdentity, { where: { userId: { eq: userId } }, limit: 1_000 });
    const unlinked = held.find((one) => one.id === id);
    if (!person || !unlinked) throw missingRecord(externalIdentity, id);
    const others = held.filter((one) => one.id !== id);
    if (!(await hasOtherWay(data, person, others)))
      throw new AppError(
        'last_way_in',
        'This is the only way to sign in to your account; a password that you set with POST /v1/forgot-password takes its place.',
      );
    await data.remove(externalIdentity, id);
    call.unit.emit(customEvent(externalIdentity, 'unlinked', unlinked, { userId }));
    return { status: 200, body: { message: 'The identity is unlinked.' } };
  },
});

/**
 * Whether a person can sign in to their account without an identity.
 * @param others identities that stay; those of an organization's single sign-on open that organization alone
 */
async function hasOtherWay(
  data: DataClient,
  { id, passwordHash }: RowOf<typeof user>,
  others: readonly RowOf<typeof externalIdentity>[],
): Promise<boolean> {
  if (passwordHash !== null || others.some(({ provider }) => provider !== 'single_sign_on')) return true;
  return (await data.findOne(passkey, { userId: { eq: id } })) !== undefined;
}

/** An organization of the person. @throws AppError not_found, the same for one that does not exist */
async function ownOrganization(unit: UnitOfWork, userId: string, id: string): Promise<string> {
  const wanted = existingId(organization, id);
  const { role } = await readMembershipState(unit, userId, wanted);
  if (role === null) throw missingRecord(organization, wanted);
  return wanted;
}
