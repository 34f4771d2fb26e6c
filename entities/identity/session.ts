import { Type } from 'typebox';
import { announced } from '../kit/model/behaviours/announced.ts';
import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { reachable } from '../kit/model/behaviours/reachable.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { text, timestamp } from '../kit/model/fields.ts';
import { allow, anyone, deny, self, system } from '../kit/model/policy.ts';
import { managerRoles } from '../presets/roles.ts';

/** Every access token names a session, and ends with it: the state of a caller is read anew with each request. */
export const session = defineEntityModule({
  kind: 'session',
  table: 'sessions',
  description:
    'Sign-in of a person on one device. Deleting it signs the device out: all tokens that came from the sign-in stop working.',
  fields: {
    userAgent: text('Browser or program that signed in, as it names itself; null if it does not.', {
      max: 256,
      optional: true,
      immutable: true,
      exposed: 'read',
    }),
    singleSignOnId: text(
      'Id of the organization whose single sign-on began it, in which alone it is valid; null for other ways to sign in.',
      { max: 26, optional: true, immutable: true, exposed: 'read' },
    ),
    singleSignOnRevision: text(
      '`revision` of the provider that began it: the session ends with the provider; null for other ways to sign in.',
      { max: 26, optional: true, immutable: true },
    ),
    singleSignOnMembershipId: text(
      'Id of the membership with which the single sign-on let the person in: the session ends with it; null for other ways to sign in.',
      { max: 26, optional: true, immutable: true },
    ),
    address: text('Network address that the last token of this sign-in was given to.', { max: 64, exposed: 'read' }),
    lastSeenAt: timestamp('When the last token of this sign-in was given.', {
      exposed: 'read',
      lists: ['filter', 'order'],
    }),
    expiresAt: timestamp(
      'When the sign-in ends unless its tokens are refreshed before; with single sign-on, at the latest twelve hours after it began.',
      { exposed: 'read', lists: ['filter'] },
    ),
    provenAt: timestamp(
      'When the person last confirmed their identity in this session, for sensitive actions; null if there is no record.',
      { optional: true },
    ),
    activeOrganizationId: text('Id of the organization that refreshed tokens are valid for; null for none.', {
      max: 26,
      optional: true,
      exposed: 'read',
    }),
    refreshTokenHash: text('SHA-256 hash of the only refresh token that is still to be used, in base64url.', {
      max: 43,
      secret: true,
    }),
    replacedTokenHash: text('SHA-256 hash of the refresh token that was used last; null before the first use.', {
      max: 43,
      optional: true,
      secret: true,
    }),
    replacedAt: timestamp('When that refresh token was used; null before the first use.', { optional: true }),
    sealedSuccessor: text(
      'The refresh token that took its place, encrypted: for some seconds, requests with the replaced one get it again.',
      { max: 8_192, optional: true, secret: true },
    ),
  },
  tenancy: 'user',
  behaviours: [
    reachable({ confinedReach: 'session' }),
    decidesCallers({ of: 'id', by: ['singleSignOnId', 'singleSignOnRevision', 'singleSignOnMembershipId'] }),
    announced({ by: managerRoles, concerns: ['singleSignOnId', 'activeOrganizationId'] }),
  ],
  policy: {
    view: [allow(system), allow(self('userId')), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system)],
    remove: [allow(system), allow(self('userId'))],
  },
  mutate: ['delete'],
  events: ['created', 'deleted'],
  customEvents: {
    begun_on_new_device: {
      description: 'A user signed in with a browser or program that has not signed in to the account before.',
      payload: payload({
        userId: Type.String({ description: 'Id of the signed-in user.' }),
        userAgent: Type.String({ description: 'The browser or program, as it names itself; empty if it does not.' }),
        address: Type.String({ description: 'Network address of the device.' }),
      }),
    },
    switched: {
      description: 'A user acts in another organization from now on, in the same session.',
      payload: payload({ userId: Type.String({ description: 'Id of the signed-in user.' }) }),
    },
    refresh_token_reused: {
      description: 'A refresh token was used a second time, so somebody may have copied it. The session has ended.',
      payload: payload({ userId: Type.String({ description: 'Id of the signed-in user.' }) }),
    },
  },
});
