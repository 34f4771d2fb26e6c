import { automated } from '../kit/behaviours/automated.ts';
import { announced } from '../kit/model/behaviours/announced.ts';
import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { guarded } from '../kit/model/behaviours/guarded.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { allow, anyone, deny, system } from '../kit/model/policy.ts';
import { managerRoles, managers } from '../presets/roles.ts';
import { secretTokenFields } from '../presets/secret-token.ts';

/** A service principal: it stays valid when the person who created it leaves. */
export const apiToken = defineEntityModule({
  kind: 'apiToken',
  table: 'api_tokens',
  description:
    'API token of an organization, with which a program calls the API. It has the rights of its scopes and belongs to no person. Deleting it revokes it immediately.',
  fields: {
    ...secretTokenFields('Rights of the token: `<kind>:read`, `:write` or `:delete`; each includes those before it.'),
  },
  tenancy: 'organization',
  behaviours: [
    decidesCallers({ of: 'id', by: ['secretHash', 'scopes', 'expiresAt'] }),
    announced({ by: managerRoles }),
    guarded({ needsSession: true, needsPaymentMethod: true }),
    automated({ fields: ['name', 'description'] }),
  ],
  policy: {
    view: [allow(system), allow(managers), deny(anyone)],
    create: [allow(system), allow(managers)],
    edit: [allow(system), allow(managers)],
    remove: [allow(system), allow(managers)],
  },
  mutate: ['update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    rotated: {
      description: 'The secret of an API token was replaced; the old one no longer works.',
      payload: payload({}),
    },
  },
  grants: [
    {
      object: { kind: 'organization', id: 'organizationId' },
      relation: { scopes: 'scopes' },
      subject: { kind: 'service', id: 'id' },
    },
  ],
});
