import { refusesChanges } from '../kit/model/behaviours/refuses-changes.ts';
import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { guarded } from '../kit/model/behaviours/guarded.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { timestamp } from '../kit/model/fields.ts';
import { allow, anyone, deny, role, system } from '../kit/model/policy.ts';
import { managers } from '../presets/roles.ts';

export const supportConsent = defineEntityModule({
  kind: 'supportConsent',
  table: 'support_consents',
  description:
    'Consent of an organization to support access. While it exists, support staff can sign in to the organization; deleting it ends their access immediately.',
  fields: {
    expiresAt: timestamp('When the consent ends, and with it all access under it; at most 30 days after it is given.', {
      immutable: true,
      exposed: 'read-write',
      needsProof: 'any',
    }),
  },
  unique: [
    { fields: ['organizationId'], message: 'The organization has given its consent already; delete that first.' },
  ],
  tenancy: 'organization',
  behaviours: [
    decidesCallers({ of: 'organizationId', by: ['expiresAt'] }),
    guarded({
      needsSession: true,
    }),
    refusesChanges([
      {
        refuseIf: `row.expires_at <= row.created_at or row.expires_at > row.created_at + interval '30 days'`,
        field: 'expiresAt',
        code: 'rule_violated',
        message: 'The consent must end within 30 days from now.',
      },
    ]),
  ],
  policy: {
    view: [allow(system), allow(managers), allow(role('auditor')), deny(anyone)],
    create: [allow(system), allow(role('owner'))],
    edit: [allow(system)],
    remove: [allow(system), allow(role('owner'))],
  },
  mutate: ['create', 'delete'],
  events: ['created', 'deleted'],
});
