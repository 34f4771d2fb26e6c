import { hash, timingSafeEqual } from 'node:crypto';
import { endSurplusMemberships } from '#entities/integrations/connections/end-surplus-memberships.ts';
import { integrationWebhook } from '#entities/integrations/integration-webhook.ts';
import { integration } from '#entities/integrations/integration.ts';
import { noteArrival } from '#entities/integrations/sync-time-rows.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { openSealedValue } from '#entities/kit/write/sealed-values.ts';
import { organization } from '#entities/organizations/organization.ts';
import { workOf } from '../../../http/request-context.ts';
import type { Call } from '../../../http/route.ts';

/** A directory that an identity provider writes to. */
export interface ScimDirectory {
  readonly unit: UnitOfWork;
  readonly integration: RowOf<typeof integration>;
  /** Address of its resources, without a slash at its end. */
  readonly baseUrl: string;
}

/**
 * Works in one transaction on the directory whose secret the request has.
 * @param isWriting requests that write to a directory wait for each other
 * @throws AppError not_found, unauthenticated, permission_denied
 */
export async function inDirectory<T>(
  { request, services, params }: Call<unknown>,
  { baseUrl, isWriting }: { readonly baseUrl: (endpointId: string) => string; readonly isWriting: boolean },
  work: (directory: ScimDirectory) => Promise<T>,
): Promise<T> {
  const { endpointID: endpointId = '' } = params;
  const { database } = services;
  if (!isId(endpointId)) throw missingEndpoint();
  const webhook = await database.transact(workOf(request.core, systemCaller('find directory')), async ({ data }) =>
    data.findOne(integrationWebhook, { id: { eq: endpointId }, provider: { eq: 'scim' } }),
  );
  if (!webhook) throw missingEndpoint();
  const { secret } = await openSealedValue(database.options, integrationWebhook, { ...webhook }, 'secret');
  if (!hasSecret(request.headers.authorization, secret)) throw unknownSender();
  const caller = systemCaller('write pushed directory', webhook.organizationId);
  return database.transact(workOf(request.core, caller), async (unit) => {
    const { data } = unit;
    const held = isWriting
      ? await data.findLocked(integration, webhook.integrationId)
      : await data.findOne(integration, { id: { eq: webhook.integrationId } });
    const current = await data.findOne(integrationWebhook, { id: { eq: webhook.id } });
    const home = await data.findOne(organization, { id: { eq: webhook.organizationId } });
    if (!held || !current || !home || home.isArchived) throw missingEndpoint();
    if (current.rotatedAt?.getTime() !== webhook.rotatedAt?.getTime()) throw unknownSender();
    if (held.definitionId !== 'scim' || held.status !== 'connected')
      throw new AppError(
        'permission_denied',
        `The integration "${held.name}" is ${held.status}, so its directory cannot be written to.`,
      );
    const answer = await work({ unit, integration: held, baseUrl: baseUrl(endpointId) });
    if (isWriting) {
      await noteArrival(unit, held.id);
      if (current.status !== 'active') await data.update(integrationWebhook, current.id, { status: 'active' });
    }
    if (isWriting && held.isPrimaryDirectory) {
      // In the same transaction: somebody who was removed has no rights with the next request.
      let after: string | undefined = '';
      while (after !== undefined) after = await endSurplusMemberships(unit, held.id, { after });
      unit.emit(customEvent(integration, 'pushed', held, {}));
    }
    return answer;
  });
}

function hasSecret(header: string | undefined, secret: string): boolean {
  const [scheme = '', token = '', ...rest] = (header ?? '').split(' ');
  if (scheme.toLowerCase() !== 'bearer' || token === '' || secret === '' || rest.length > 0) return false;
  return timingSafeEqual(hash('sha256', token, 'buffer'), hash('sha256', secret, 'buffer'));
}

function missingEndpoint(): AppError {
  return new AppError(
    'not_found',
    'There is no directory at this address. Copy the address that connecting the integration has shown; after a disconnection, connect it again.',
  );
}

function unknownSender(): AppError {
  return new AppError(
    'unauthenticated',
    'The bearer token is not that of this directory. Send the secret that was shown when it was connected, or replace it with POST /v1/integration-webhooks/{id}/rotate.',
  );
}
