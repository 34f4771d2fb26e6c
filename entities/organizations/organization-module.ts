import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { choice } from '../kit/model/fields.ts';
import { productModules } from '../kit/model/product-modules.ts';
import { internalRecord } from '../presets/internal-record.ts';
import { organizationRecord } from '../presets/organization-record.ts';

export const organizationModule = defineEntityModule({
  kind: 'organizationModule',
  table: 'organization_modules',
  description: 'Product module enabled for an organization and its child organizations.',
  fields: {
    module: choice('Product module.', productModules, { immutable: true, exposed: 'read', lists: ['filter'] }),
  },
  unique: [{ fields: ['organizationId', 'module'], message: 'The organization already has this module.' }],
  tenancy: 'organization',
  behaviours: [decidesCallers({ of: 'organizationId', by: ['module'] })],
  policy: { ...internalRecord(), view: organizationRecord().view },
  events: ['created', 'deleted'],
});
