import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { choice, timestamp } from '../kit/model/fields.ts';
import { moduleSources, productModules } from '../kit/model/product-modules.ts';
import { internalRecord } from '../presets/internal-record.ts';
import { organizationRecord } from '../presets/organization-record.ts';

export const organizationModule = defineEntityModule({
  kind: 'organizationModule',
  table: 'organization_modules',
  description: 'Product module enabled for an organization and its child organizations.',
  fields: {
    module: choice('Product module.', productModules, { immutable: true, exposed: 'read', lists: ['filter'] }),
    source: choice(
      'Why the organization has the module: it is part of every plan, of the trial, of a subscription, or the operator has granted it.',
      moduleSources,
      { immutable: true, exposed: 'read', lists: ['filter'] },
    ),
    endsAt: timestamp('When the organization loses the module; null if no end is known.', {
      optional: true,
      exposed: 'read',
    }),
  },
  unique: [
    {
      fields: ['organizationId', 'module', 'source'],
      message: 'The organization already has this module from this source.',
    },
  ],
  tenancy: 'organization',
  behaviours: [decidesCallers({ of: 'organizationId', by: ['module', 'source', 'endsAt'] })],
  policy: { ...internalRecord(), view: organizationRecord().view },
  events: ['created', 'updated', 'deleted'],
});
