import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, email, text, timestamp } from '../kit/model/fields.ts';
import { allow, deny, anyone, scope, self, signedIn, system } from '../kit/model/policy.ts';

export const user = defineEntityModule({
  kind: 'user',
  table: 'users',
  description: 'A person who can sign in.',
  fields: {
    email: email('Address the person signs in with; unique among live users.'),
    firstName: text('Given name.', { max: 64, optional: true }),
    lastName: text('Family name.', { max: 64, optional: true }),
    displayName: text('Name shown to others.', { max: 128 }),
    status: choice('Whether the person may sign in.', ['active', 'inactive', 'deactivated', 'suspended'], {
      default: 'active',
    }),
    emailConfirmedAt: timestamp('When the address was confirmed; empty before that.', { optional: true }),
    passwordHash: text('argon2id hash in PHC form.', { max: 256, optional: true, secret: true }),
  },
  unique: [{ fields: ['email'], message: 'A user with this e-mail address exists already.' }],
  tenancy: { none: 'people belong to several organizations' },
  rlsUsing: `id = $user or exists (select 1 from memberships m where m.user_id = users.id
    and m.organization_id = $organization and m.deleted_at is null)`,
  rlsWithCheck: 'id = $user',
  policy: {
    view: [allow(system), allow(signedIn), allow(scope), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system), allow(self('id'))],
    remove: [allow(system)],
  },
  expose: {
    email: 'read',
    firstName: 'read-write',
    lastName: 'read-write',
    displayName: 'read-write',
    status: 'read',
    emailConfirmedAt: 'read',
  },
  filter: ['email', 'displayName', 'status'],
  order: ['displayName', 'createdAt'],
  search: ['displayName'],
  mutate: ['update'],
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    confirmed: { description: 'A person confirmed their address.', payload: payload({}) },
    registration_repeated: {
      description: 'Somebody tried to sign up with an address that has an account.',
      payload: payload({}),
    },
  },
});
