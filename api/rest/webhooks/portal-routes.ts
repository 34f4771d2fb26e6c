import { Type, type Static } from 'typebox';
import { publicApiUrl } from '#config/objects/public-api-url.ts';
import { webhookEndpoint } from '#entities/webhooks/webhook-endpoint.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { deniedMessage } from '#entities/kit/model/denied-message.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import { isManager } from '#entities/presets/roles.ts';
import { requireOrganizationProof } from '../../credentials/recent-proof.ts';
import { signedInPerson } from '../../credentials/signed-in-person.ts';
import { webhookAttempts, webhookMessages } from '../../actions/webhooks/list-messages.ts';
import { replayWebhookMessages } from '../../actions/webhooks/replay-messages.ts';
import { testWebhookEndpoint } from '../../actions/webhooks/test-endpoint.ts';
import type { Action } from '../../actions/kit/define-action.ts';
import { defineRoute, type Call, type Route } from '../../http/route.ts';
import { actionRoute } from '../records/action-route.ts';
import { portalAccess, portalLinkOf, requirePortalEndpoint, portalUrl } from './portal-caller.ts';
import { idSchema } from '../../http/request-schemas.ts';

/** Endpoints that the page lists: more than an organization has. */
const maxEndpoints = 100;

const LinkSchema = Type.Object(
  {
    endpoint_id: Type.Optional(idSchema('Id of the endpoint that it shows. Without it: all of them.')),
  },
  { title: 'PortalLink', additionalProperties: false },
);

const makeLink = defineRoute({
  method: 'POST',
  url: `${portalUrl}/links`,
  operationId: 'createWebhookPortalLink',
  tag: portalAccess.tag,
  summary: 'Create a link to the portal of webhook endpoints',
  description:
    'A link that is valid for one hour. Its holder sees endpoints, messages and attempts without signing in, sends test messages and sends messages again, and nothing else. It ends early with the session of the manager who made it, and with their role. The user must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.',
  access: 'required',
  answersCredential: true,
  acceptsSingleSignOn: true,
  body: LinkSchema,
  answers: {
    201: Type.Object({
      url: Type.String({ description: 'Address of the page, with the token in its fragment.' }),
      expires_at: Type.String({ format: 'date-time', description: 'When the link ends.' }),
    }),
  },
  errors: ['not_found', 'permission_denied', 'step_up_required'],
  handle: async (call: Call<Static<typeof LinkSchema>>) => {
    const { unit, services, body } = call;
    const claims = signedInPerson(call);
    const { organizationId, role } = unit.context.caller;
    if (organizationId === null || !isManager(role))
      throw new AppError(
        'permission_denied',
        deniedMessage(webhookEndpoint, { operation: 'edit', caller: unit.context.caller }),
      );
    await requireOrganizationProof(call);
    const wanted = body.endpoint_id;
    const endpoint =
      wanted === undefined ? null : await unit.data.get(webhookEndpoint, existingId(webhookEndpoint, wanted));
    const { token, expiresAt } = services.portalLinks.issue({ ...claims, organizationId }, endpoint?.id ?? null);
    const url = `${publicApiUrl(services.config.current)}${portalUrl}#token=${token}`;
    return { status: 201, body: { url, expires_at: expiresAt.toISOString() } };
  },
});

const listEndpoints = defineRoute({
  ...portalAccess,
  method: 'GET',
  url: `${portalUrl}/endpoints`,
  operationId: 'listPortalEndpoints',
  summary: 'List the endpoints of a link to the portal',
  description: 'The endpoints of the link, by name.',
  answers: {
    200: Type.Object({
      data: Type.Array(
        Type.Object({
          id: idSchema('Id of the endpoint.'),
          name: Type.String({ description: 'Name of the endpoint.' }),
          url: Type.String({ description: 'URL to which messages are sent.' }),
          topics: Type.Array(Type.String(), { description: 'Types of events that are sent.' }),
          status: Type.String({ description: 'Whether messages are sent: enabled or disabled.' }),
        }),
      ),
    }),
  },
  errors: ['unauthenticated', 'permission_denied'],
  handle: async (call) => {
    const { endpointId } = portalLinkOf(call);
    const found = await call.unit.data.find(webhookEndpoint, {
      ...(endpointId === null ? {} : { where: { id: { eq: endpointId } } }),
      orderBy: [{ field: 'name', direction: 'asc' }],
      limit: maxEndpoints,
    });
    const data = found.map(({ id, name, url, topics, status }) => ({ id, name, url, topics, status }));
    return { status: 200, body: { data } };
  },
});

/** For people without an account, such as those who run the system to which messages are sent: what their page calls. */
export const portalRoutes: readonly Route[] = [
  makeLink,
  listEndpoints,
  ...[webhookMessages, webhookAttempts, testWebhookEndpoint, replayWebhookMessages].map(byLink),
];

/** An action about an endpoint, for the holder of a link to it. */
function byLink(action: Action): Route {
  const { acceptsTokens: _, ...route } = actionRoute(action);
  return defineRoute({
    ...route,
    ...portalAccess,
    url: route.url.replace('/v1/webhook-endpoints', `${portalUrl}/endpoints`),
    operationId: route.operationId.replace('Webhook', 'Portal'),
    summary: `${route.summary}, by a link to the portal`,
    description: `${route.description} With a link to the portal.`,
    errors: [...route.errors, 'unauthenticated'],
    handle: (call) => {
      requirePortalEndpoint(call);
      return route.handle(call);
    },
  });
}
