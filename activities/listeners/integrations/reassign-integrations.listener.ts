import { user } from '#entities/identity/user.ts';
import { integration } from '#entities/integrations/integration.ts';
import { integrationsLeftBy } from '#entities/integrations/responsible-person-rows.ts';
import { on } from '#entities/kit/model/events.ts';
import { membership } from '#entities/organizations/membership.ts';
import { defineListener } from '../listener.ts';

/** Makes an owner responsible for the integrations of a person who leaves their organization. */
export const reassignIntegrations = defineListener(
  'reassign-integrations',
  [on(membership, 'deleted'), on(user, 'deleted')],
  async ({ event: { entityKind, entityId }, unit }) => {
    const left = await integrationsLeftBy(unit, entityKind as 'membership' | 'user', entityId);
    for (const [ownerId, found] of Map.groupBy(left, (one) => one.ownerId))
      await unit.data.updateAll(
        integration,
        found.map(({ id }) => id),
        { responsibleId: ownerId },
      );
  },
);
