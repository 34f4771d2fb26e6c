import { roles } from '../kit/model/caller.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { choice } from '../kit/model/fields.ts';
import { allow, anyone, deny, role, scope, system } from '../kit/model/policy.ts';
import { productModules } from '../kit/model/product-modules.ts';

export const organizationModule = defineEntityModule({
  kind: 'organizationModule',
  table: 'organization_modules',
  description: 'Product module enabled for an organization and its child organizations.',
  fields: { module: choice('Product module.', productModules, { immutable: true }) },
  unique: [{ fields: ['organizationId', 'module'], message: 'The organization already has this module.' }],
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(role(...roles)), allow(scope), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system)],
    remove: [allow(system)],
  },
  expose: { module: 'read' },
  filter: ['module'],
  order: ['createdAt'],
  events: ['created', 'deleted'],
});
