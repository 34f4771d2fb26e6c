import { Type, type Static } from 'typebox';
import { identityProvider } from '#entities/organizations/identity-provider.ts';
import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { parseDomain } from '#entities/kit/base/email-address.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { requireAccountProof, requireOrganizationProof } from '../../../credentials/recent-proof.ts';
import { signInFirst } from '../../../http/plugins/sign-in-first.ts';
import { defineRoute, type Call } from '../../../http/route.ts';
import { tooManyAttempts } from '../../../http/limits/too-many-attempts.ts';
import { workOf } from '../../../http/request-context.ts';
import { linkProposals } from '../../records/held-fields.ts';
import { inSnakeCase } from '../../records/in-snake-case.ts';
import { visibleLine } from '../../../http/request-schemas.ts';
import { beginFlow, RedirectSchema, targetOf } from '../providers/provider-flow.ts';
import {
  domainRecord,
  DomainRecordSchema,
  verifiedDomains,
  VerifiedDomainsSchema,
} from '../../../people/domain-proof.ts';
import { noProvider, organizationProvider, sealClientSecret, type Provider } from './organization-provider.ts';

const SettingsSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the record; DELETE /v1/identity-providers/<id> ends single sign-on.' }),
    issuer: Type.String({ description: 'URL of the provider.' }),
    client_id: Type.String({ description: 'Client id of this server at the provider.' }),
    allowed_domains: Type.Array(Type.String(), {
      description: 'Domains whose people become members. Each is valid while its DNS record is published.',
    }),
    domain_records: Type.Array(DomainRecordSchema, {
      description: 'The DNS record of each allowed domain. POST /v1/sso/domains/verify returns which are found.',
    }),
    tested_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When a manager signed in with these settings; null: not yet.',
    }),
    is_enforced: Type.Boolean({ description: 'Whether all members except owners must sign in with it.' }),
  },
  { title: 'SingleSignOnSettings' },
);

const BodySchema = Type.Object(
  {
    issuer: Type.String({
      minLength: 1,
      maxLength: 512,
      pattern: '^https?://[^\\s?#]+$',
      examples: ['https://accounts.example.com'],
      description: 'Issuer URL of the OpenID Connect provider, such as https://login.example.com, without query.',
    }),
    client_id: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Client id of this server at the provider.',
      [describedKeyword]: { pattern: visibleLine },
    }),
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
        Type.String({ maxLength: 253, format: 'idn-hostname', description: 'A domain such as example.com.' }),
        {
          maxItems: 100,
          description:
            'Domains of verified addresses whose people become members at their first sign-in. Publish the DNS record of each, which the response shows, and keep it published: it is checked at every first sign-in.',
        },
      ),
    ),
  },
  { additionalProperties: false },
);

export const putProvider = defineRoute({
  method: 'PUT',
  url: '/v1/sso/provider',
  operationId: 'setSingleSignOnProvider',
  tag: 'Single sign-on',
  summary: 'Set the single sign-on provider',
  description:
    'Sets the OpenID Connect provider of the current organization; only its managers may. Register the callback `/v1/sso/callback` of this server there. Other settings than before must be tested again (POST /v1/sso/test): until then nobody signs in with them, and they cannot be enforced. Another issuer or client also ends all sessions that began with the one before. The caller must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.',
  access: 'required',
  acceptsSingleSignOn: true,
  body: BodySchema,
  answers: { 200: SettingsSchema },
  errors: ['invalid_input', 'rule_violated', 'permission_denied', 'step_up_required'],
  handle: async (call) => {
    const { unit, services, body } = call;
    const organizationId = currentOrganization(call);
    const found = await unit.data.findOne(identityProvider, { organizationId: { eq: organizationId } });
    // Locked: another manager may set it at this moment, and values of both must not mix.
    const held = found && (await unit.data.findLocked(identityProvider, found.id));
    const isSame = held?.issuer === body.issuer && held.clientId === body.client_id;
    // A secret that is kept is never sent to another provider than the one that it was given for.
    if (body.client_secret === undefined && !isSame) throw secretMissing();
    const values = {
      issuer: body.issuer,
      clientId: body.client_id,
      // Sessions of the provider before end with it.
      revision: isSame ? held.revision : newId(),
      ...(body.allowed_domains
        ? { allowedDomains: [...new Set(body.allowed_domains.map((domain) => parseDomain(domain) ?? domain))] }
        : {}),
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
    // After the change, which says why somebody may not make it at all.
    await requireOrganizationProof(call);
    return { status: 200, body: answerOf(saved) };
  },
});

export const testProvider = defineRoute({
  method: 'POST',
  url: '/v1/sso/test',
  operationId: 'testSingleSignOnProvider',
  tag: 'Single sign-on',
  summary: 'Test the single sign-on provider',
  description:
    'Returns the URL of the provider to which the browser of a manager goes. When it comes back signed in, the current settings are marked as tested, and the identity is linked to the account of the manager.',
  access: 'required',
  acceptsSingleSignOn: true,
  answers: { 200: RedirectSchema },
  // It asks the provider.
  runsOnce: true,
  errors: ['not_found', 'permission_denied', 'step_up_required', 'provider_unavailable', 'too_many_requests'],
  handle: async (call) => {
    const organizationId = currentOrganization(call);
    const { services, request } = call;
    const { claims } = request.core;
    if (!claims) throw signInFirst();
    const { row, settings, intent } = await organizationProvider(call, organizationId, { isTest: true });
    // A transaction that ends before the provider is asked.
    await services.database.transact(workOf(request.core), async (unit) => {
      // For a caller who may not see the settings, there are none.
      if (!(await unit.data.findOne(identityProvider, { id: { eq: row.id } }))) throw noProvider();
      // The test links the identity to the account.
      await requireAccountProof({ unit, services, request });
      await countQuestion({ unit, services }, organizationId);
    });
    const location = await beginFlow(call, settings, {
      ...intent,
      purpose: 'test',
      target: targetOf(call.services.config.current),
      session: { userId: claims.userId, sessionId: claims.sessionId },
    });
    return { status: 200, body: { location } };
  },
});

export const enforceProvider = defineRoute({
  method: 'POST',
  url: '/v1/sso/enforcement',
  operationId: 'setSingleSignOnEnforcement',
  tag: 'Single sign-on',
  summary: 'Enforce single sign-on, or stop',
  description:
    'While it is enforced, all members act in the organization, and in those that are part of it, only in sessions that began with its single sign-on, and with personal tokens that were authorized in such a session (POST /v1/personal-access-tokens/<id>/authorize). Owners of the organization, and of those above it, keep their other ways to sign in, for emergencies; owners of a part do not. The settings must have been tested, and the caller must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.',
  access: 'required',
  acceptsSingleSignOn: true,
  body: Type.Object(
    { is_enforced: Type.Boolean({ description: 'Whether it is enforced from now on.' }) },
    { additionalProperties: false },
  ),
  sends: ['Link'],
  answers: { 200: SettingsSchema, 202: SettingsSchema },
  errors: ['invalid_input', 'rule_violated', 'not_found', 'permission_denied', 'step_up_required'],
  handle: async (call) => {
    const { unit, body } = call;
    const organizationId = currentOrganization(call);
    const found = await unit.data.findOne(identityProvider, { organizationId: { eq: organizationId } });
    // Locked: the settings may change at this moment.
    const held = found && (await unit.data.findLocked(identityProvider, found.id));
    if (!held) throw noProvider();
    const saved = await inSnakeCase(() =>
      unit.data.update(identityProvider, held.id, { isEnforced: body.is_enforced }),
    );
    await requireOrganizationProof(call);
    linkProposals([held.id], unit, call.reply);
    return { status: unit.data.isHeld(held.id) ? 202 : 200, body: answerOf(saved) };
  },
});

/** Says which allowed domains are proven, before somebody of theirs signs in. */
export const verifyDomains = defineRoute({
  method: 'POST',
  url: '/v1/sso/domains/verify',
  operationId: 'verifySingleSignOnDomains',
  tag: 'Single sign-on',
  summary: 'Look for the DNS records of the allowed domains',
  description:
    'Asks the name servers of the allowed domains for the records that prove them. A domain is valid while its record is published; the record is checked again whenever somebody signs in for the first time.',
  access: 'required',
  acceptsSingleSignOn: true,
  answers: {
    200: VerifiedDomainsSchema,
  },
  // It asks name servers.
  runsOnce: true,
  errors: ['not_found', 'permission_denied', 'too_many_requests'],
  handle: async (call) => {
    const organizationId = currentOrganization(call);
    const { services, request } = call;
    // A transaction that ends before name servers are asked.
    const { allowedDomains } = await services.database.transact(workOf(request.core), async (unit) => {
      const held = await unit.data.findOne(identityProvider, { organizationId: { eq: organizationId } });
      if (!held) throw noProvider();
      await countQuestion({ unit, services }, organizationId);
      return held;
    });
    return { status: 200, body: await verifiedDomains(services, organizationId, allowedDomains) };
  },
});

/** Questions of the managers of an organization to servers that they name, within the window, in milliseconds. */
const questions = { limit: 30, windowMs: 15 * 60_000 };

/** @throws AppError too_many_requests */
async function countQuestion(
  { unit, services }: Pick<Call<unknown>, 'unit' | 'services'>,
  organizationId: string,
): Promise<void> {
  const key = { key: `sso-question:${organizationId}`, limit: questions.limit };
  const freeAt = await takeAttempt(unit, [key], questions.windowMs);
  if (freeAt) throw tooManyAttempts('The single sign-on was tested too often', freeAt, services.clock.now());
}

/** @throws AppError permission_denied for callers that are no people in an organization */
function currentOrganization({ unit }: Call<unknown>): string {
  const { kind, organizationId } = unit.context.caller;
  if (kind !== 'user' || organizationId === null)
    throw new AppError('permission_denied', 'Only managers of the current organization set up its single sign-on.');
  return organizationId;
}

function secretMissing(): AppError {
  const message = 'is required for a new provider or client';
  return new AppError('rule_violated', `client_secret ${message}.`, {
    details: { fields: [{ path: '/client_secret', message }] },
  });
}

function answerOf({
  id,
  organizationId,
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
    domain_records: allowedDomains.map((domain) => domainRecord(organizationId, domain)),
    tested_at: testedAt?.toISOString() ?? null,
    is_enforced: isEnforced,
  };
}
