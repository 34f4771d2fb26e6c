import { Type, type Static } from 'typebox';
import { identityProvider } from '#entities/organizations/identity-provider.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { requireAccountProof, requireRecentFactor } from '../../credentials/recent-proof.ts';
import { signInFirst } from '../../http/plugins/sign-in-first.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import { beginFlow, RedirectSchema, targetOf } from '../providers/provider-flow.ts';
import { organizationProvider, sealClientSecret, settingsDigest, type Provider } from './organization-provider.ts';

const SettingsSchema = Type.Object({
  id: Type.String({ description: 'Id of the record; DELETE /v1/identity-providers/<id> ends single sign-on.' }),
  issuer: Type.String({ description: 'URL of the provider.' }),
  client_id: Type.String({ description: 'Client id of this server at the provider.' }),
  allowed_domains: Type.Array(Type.String(), { description: 'Domains whose people become members.' }),
  tested_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'When a manager signed in with these settings; null: not yet.',
  }),
  is_enforced: Type.Boolean({ description: 'Whether members but owners must sign in with it.' }),
});

const BodySchema = Type.Object(
  {
    issuer: Type.String({
      minLength: 1,
      maxLength: 512,
      pattern: '^https?://[^\\s?#]+$',
      description: 'URL of the provider, below which it has its OpenID Connect metadata: https://, without query.',
    }),
    client_id: Type.String({ minLength: 1, maxLength: 256, description: 'Client id of this server at the provider.' }),
    client_secret: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_024,
        writeOnly: true,
        description: 'Client secret; required at first, then kept when left out, unless issuer or client_id change.',
      }),
    ),
    allowed_domains: Type.Optional(
      Type.Array(
        Type.String({
          maxLength: 253,
          pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$',
          description: 'A domain, in lower case.',
        }),
        {
          maxItems: 100,
          description: 'Domains of verified addresses whose people become members at their first sign-in.',
        },
      ),
    ),
  },
  { additionalProperties: false },
);

export const putProvider = defineRoute({
  method: 'PUT',
  url: '/v1/sso/provider',
  tag: 'Single sign-on',
  summary: 'Set the single sign-on provider',
  description:
    'Sets the OpenID Connect provider of the current organization; only its managers may. Register the callback `/v1/sso/callback` of this server there. Other settings than before must be tested again (POST /v1/sso/test) before they can be enforced, and until then none are.',
  access: 'required',
  body: BodySchema,
  answers: { 200: SettingsSchema },
  errors: ['invalid_input', 'permission_denied', 'step_up_required'],
  handle: async (call) => {
    const { unit, services, body } = call;
    const organizationId = currentOrganization(call);
    await requireRecentFactor(call);
    const held = await unit.data.findOne(identityProvider, { organizationId: { eq: organizationId } });
    const isSame = held?.issuer === body.issuer && held.clientId === body.client_id;
    // A secret that is kept is never sent to another provider than the one that it was given for.
    if (body.client_secret === undefined && !isSame) throw secretMissing();
    const values = {
      issuer: body.issuer,
      clientId: body.client_id,
      ...(body.allowed_domains ? { allowedDomains: [...new Set(body.allowed_domains)] } : {}),
      ...(body.client_secret === undefined
        ? {}
        : { clientSecret: await sealClientSecret(services, organizationId, body.client_secret) }),
    };
    const untested = { testedAt: null, isEnforced: false };
    const saved = held
      ? await unit.data.update(identityProvider, held.id, {
          ...values,
          ...(isSame && body.client_secret === undefined ? {} : untested),
        })
      : await unit.data.create(identityProvider, { clientSecret: '', ...values });
    return { status: 200, body: answerOf(saved) };
  },
});

export const testProvider = defineRoute({
  method: 'POST',
  url: '/v1/sso/test',
  tag: 'Single sign-on',
  summary: 'Test the single sign-on provider',
  description:
    'Returns the URL of the provider to which the browser of a manager goes. When it comes back signed in, the current settings count as tested, and the identity is linked to the account of the manager.',
  access: 'required',
  answers: { 200: RedirectSchema },
  errors: ['not_found', 'permission_denied', 'step_up_required', 'provider_unavailable'],
  handle: async (call) => {
    const organizationId = currentOrganization(call);
    const { claims } = call.request.core;
    if (!claims) throw signInFirst();
    const { row, settings } = await organizationProvider(call, organizationId);
    // Who may not see the settings learns that there are none.
    await call.unit.data.get(identityProvider, row.id);
    // The test links the identity to the account.
    await requireAccountProof(call);
    const location = await beginFlow(call, settings, {
      provider: 'sso',
      purpose: 'test',
      target: targetOf(call.services.config.current),
      session: { userId: claims.userId, sessionId: claims.sessionId },
      organizationId,
      settings: settingsDigest(row),
    });
    return { status: 200, body: { location } };
  },
});

export const enforceProvider = defineRoute({
  method: 'POST',
  url: '/v1/sso/enforcement',
  tag: 'Single sign-on',
  summary: 'Enforce single sign-on, or stop',
  description:
    'While it is enforced, all members but owners act in the organization, and in those that are part of it, only in sessions that began with its single sign-on, and with personal tokens that were authorized in such a session (POST /v1/personal-access-tokens/<id>/authorize). Owners keep their other ways to sign in, for emergencies. The settings must have been tested.',
  access: 'required',
  body: Type.Object(
    { is_enforced: Type.Boolean({ description: 'Whether it is enforced from now on.' }) },
    { additionalProperties: false },
  ),
  answers: { 200: SettingsSchema },
  errors: ['invalid_input', 'not_found', 'permission_denied'],
  handle: async (call) => {
    const { unit, body } = call;
    const organizationId = currentOrganization(call);
    const found = await unit.data.findOne(identityProvider, { organizationId: { eq: organizationId } });
    // Locked: the settings may change at this moment.
    const held = found && (await unit.data.findLocked(identityProvider, found.id));
    if (!held)
      throw new AppError('not_found', 'The organization has no single sign-on; set it with PUT /v1/sso/provider.');
    if (body.is_enforced && !held.testedAt)
      throw new AppError(
        'invalid_input',
        'is_enforced needs settings that were tested; test them with POST /v1/sso/test.',
        {
          details: { fields: [{ path: '/is_enforced', message: 'needs settings that were tested' }] },
        },
      );
    const saved = await unit.data.update(identityProvider, held.id, { isEnforced: body.is_enforced });
    return { status: 200, body: answerOf(saved) };
  },
});

/** @throws AppError permission_denied for callers that are no people in an organization */
function currentOrganization({ unit }: Call<unknown>): string {
  const { kind, organizationId } = unit.context.caller;
  if (kind !== 'user' || organizationId === null)
    throw new AppError('permission_denied', 'Only managers of the current organization set up its single sign-on.');
  return organizationId;
}

function secretMissing(): AppError {
  const message = 'is required for a new provider or client';
  return new AppError('invalid_input', `client_secret ${message}.`, {
    details: { fields: [{ path: '/client_secret', message }] },
  });
}

function answerOf({
  id,
  issuer,
  clientId,
  allowedDomains,
  testedAt,
  isEnforced,
}: Provider): Static<typeof SettingsSchema> {
  return {
    id,
    issuer,
    client_id: clientId,
    allowed_domains: allowedDomains,
    tested_at: testedAt?.toISOString() ?? null,
    is_enforced: isEnforced,
  };
}
