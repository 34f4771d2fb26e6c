import { Type } from 'typebox';
import type { FastifyRequest } from 'fastify';
import { webhookEndpoint } from '#entities/webhooks/webhook-endpoint.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { anonymousCaller } from '#entities/kit/model/caller.ts';
import { missingRecord } from '#entities/kit/model/missing-record.ts';
import { isManager } from '#entities/presets/roles.ts';
import type { PortalLink } from '../../auth/portal-link.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { Call } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';

/** Path of the page of a link; the routes that it calls are below. */
export const portalUrl = '/v1/webhook-portal';

/** Header in which the page sends the token of its link: neither cookies nor forms of other sites have it. */
export const portalHeader = 'webhook-portal-token';

/** The links that requests have shown. */
const links = new WeakMap<RequestContext, PortalLink>();

/** A link in the header replaces all other credentials. A token that is no link of this server identifies nobody. */
function readPortalLink({ core, headers }: FastifyRequest, { portalLinks }: Services): void {
  const token = headers[portalHeader];
  if (token === undefined) return;
  const link = typeof token === 'string' ? portalLinks.open(token) : undefined;
  core.token = link?.principal;
  if (link) links.set(core, link);
}

/** Common parts of the routes of the page: the caller is who made the link, as they are now. */
export const portalAccess = {
  tag: 'Webhook endpoints',
  // The caller of the link is found after those who must be signed in; portalLinkOf refuses everybody else.
  access: 'public',
  // The link cannot be guessed, and the page asks about each endpoint.
  limitClass: 'general',
  acceptsSingleSignOn: true,
  headers: Type.Object({
    [portalHeader]: Type.Optional(
      Type.String({ maxLength: 2_048, description: 'Token of the link; other credentials are ignored.' }),
    ),
  }),
  prepare: readPortalLink,
} as const;

/**
 * The link of a request, whose maker still manages the organization.
 * @throws AppError unauthenticated for a request without one, permission_denied
 */
export function portalLinkOf({ request: { core }, unit }: Call<unknown>): PortalLink {
  const link = links.get(core);
  if (!link || unit.context.caller === anonymousCaller)
    throw new AppError(
      'unauthenticated',
      `There is no link to the portal in the header ${portalHeader}, or it has ended: ask for another one.`,
    );
  if (!isManager(unit.context.caller.role))
    throw new AppError('permission_denied', 'The creator of this link no longer manages the organization.');
  return link;
}

/** Refuses requests about an endpoint that the link does not show. @throws AppError unauthenticated, permission_denied, not_found */
export function requirePortalEndpoint(call: Call<unknown>): void {
  const { endpointId } = portalLinkOf(call);
  const wanted = call.params['id'] ?? '';
  if (endpointId !== null && endpointId !== wanted) throw missingRecord(webhookEndpoint, wanted);
}
