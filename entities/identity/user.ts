import { Type } from 'typebox';
import { companions } from '../kit/behaviours/companions.ts';
import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { reachable } from '../kit/model/behaviours/reachable.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, email, text, timestamp } from '../kit/model/fields.ts';
import { file } from '../kit/model/composed/file-field.ts';
import { allow, deny, anyone, scope, self, signedIn, system } from '../kit/model/policy.ts';

export const user = defineEntityModule({
  kind: 'user',
  table: 'users',
  description: 'User account of a person.',
  fields: {
    email: email('E-mail address used to sign in; unique among users that are not deleted.', {
      exposed: 'read',
      lists: ['filter'],
      changedElsewhere: 'people change their own with POST /v1/account/email',
    }),
    firstName: text('Given name.', { max: 64, optional: true, exposed: 'read-write' }),
    lastName: text('Family name.', { max: 64, optional: true, exposed: 'read-write' }),
    displayName: text('Name shown to other users.', {
      max: 128,
      exposed: 'read-write',
      lists: ['filter', 'order', 'search'],
    }),
    avatar: file('Picture of the person.', { accept: 'avatar', maxSizeMb: 5, optional: true, exposed: 'read-write' }),
    status: choice(
      'Account status; only active users can sign in.',
      ['active', 'inactive', 'deactivated', 'suspended'],
      { default: 'active', exposed: 'read', lists: ['filter'] },
    ),
    emailConfirmedAt: timestamp('When the e-mail address was verified; null until then.', {
      optional: true,
      exposed: 'read',
    }),
    lastSeenAt: timestamp(
      'When the user last signed in or refreshed the tokens of a session; null before the first time.',
      { optional: true },
    ),
    lastOrganizationId: text(
      'Id of the organization in which the user acted last, where sign-ins begin: that of the last token of a session; at first, the one that invited the user.',
      { max: 26, optional: true },
    ),
    defaultOrganizationId: text(
      'Id of the organization in which sign-ins begin when the user cannot act in the last one; null for the one joined first.',
      { max: 26, optional: true },
    ),
    passwordHash: text('argon2id password hash in PHC format.', { max: 256, optional: true, secret: true }),
  },
  unique: [{ fields: ['email'], message: 'A user with this e-mail address already exists.' }],
  tenancy: { none: 'users belong to several organizations' },
  behaviours: [
    reachable({
      rlsUsing: `id = $user or exists (select 1 from memberships m where m.user_id = users.id
    and m.organization_id = $organization and m.deleted_at is null)`,
      rlsWithCheck: 'id = $user',
      confinedReach: 'view',
    }),
    decidesCallers({ of: 'id', by: ['status', 'email', 'emailConfirmedAt'] }),
    companions([{ kind: 'userSetting', record: 'userId' }]),
  ],
  policy: {
    view: [allow(system), allow(signedIn), allow(scope), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system), allow(self('id'))],
    remove: [allow(system)],
  },
  mutate: ['update'],
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    password_changed: {
      description: 'The password of a user was changed, by the user or with an e-mailed link.',
      payload: payload({
        isReset: Type.Boolean({
          description:
            'Whether the password was set with an e-mailed link, which also ended all other ways to sign in.',
        }),
      }),
    },
    deactivated: { description: 'A user deactivated their account.', payload: payload({}) },
    reactivated: { description: 'A user reactivated their account with an e-mailed link.', payload: payload({}) },
    confirmed: { description: 'A user verified their e-mail address.', payload: payload({}) },
    registration_repeated: {
      description: 'A sign-up was attempted with an e-mail address that already has an account.',
      payload: payload({}),
    },
  },
});

/** Time after the deactivation in which a mailed link reactivates an account, in milliseconds. */
const reactivationLifetimeMs = 90 * 86_400_000;

/** When the link that reactivates a deactivated account stops working. */
export function reactivationEnd({ updatedAt }: { readonly updatedAt: Date }): Date {
  return new Date(updatedAt.getTime() + reactivationLifetimeMs);
}
