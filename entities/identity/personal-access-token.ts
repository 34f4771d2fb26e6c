import { Type } from 'typebox';
import { announced } from '../kit/model/behaviours/announced.ts';
import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { textList } from '../kit/model/fields.ts';
import { allow, anyone, deny, self, system } from '../kit/model/policy.ts';
import { givenWithToken, secretTokenFields } from '../presets/secret-token.ts';
import { managerRoles } from '../presets/roles.ts';

/** Only the server creates it: its scopes and organizations are checked before. */
export const personalAccessToken = defineEntityModule({
  kind: 'personalAccessToken',
  table: 'personal_access_tokens',
  description:
    'Token with which a program acts for a person, with those of the rights of the person that are within its scopes. Deleting it revokes it immediately.',
  fields: {
    ...secretTokenFields(
      'Rights of the token, as part of those of the person: `<kind>:read`, `:write` or `:delete`; each includes those before it.',
    ),
    organizationIds: textList('Ids of the organizations in which the token works; empty for all of the person.', {
      max: 26,
      maxItems: 100,
      exposed: 'read',
      changedElsewhere: givenWithToken,
    }),
    singleSignOnIds: textList(
      'Ids of the organizations for which the owner has authorized the token in a session of their single sign-on. The token is valid there, and in the organizations below them, although single sign-on is enforced. An authorization ends when the provider of the organization changes or the membership of the owner ends.',
      { max: 26, maxItems: 100, exposed: 'read' },
    ),
    singleSignOnRevisions: textList('`revision` of the provider of each of these organizations at that time.', {
      max: 26,
      maxItems: 100,
    }),
    singleSignOnMembershipIds: textList('Id of the membership with which the owner was there at that time, of each.', {
      max: 26,
      maxItems: 100,
    }),
  },
  tenancy: 'user',
  behaviours: [
    decidesCallers({
      of: 'id',
      by: [
        'organizationIds',
        'secretHash',
        'scopes',
        'expiresAt',
        'singleSignOnIds',
        'singleSignOnRevisions',
        'singleSignOnMembershipIds',
      ],
    }),
    announced({ by: managerRoles, concerns: ['organizationIds'], allIfEmpty: 'organizationIds' }),
  ],
  policy: {
    view: [allow(system), allow(self('userId')), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system), allow(self('userId'))],
    remove: [allow(system), allow(self('userId'))],
  },
  mutate: ['update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    rotated: {
      description: 'The secret of a personal token was replaced; the old one no longer works.',
      payload: payload({}),
    },
    authorized: {
      description:
        'A personal token is valid in an organization from now on although single sign-on is enforced there.',
      payload: payload({
        userId: Type.String({ description: 'Id of the person.' }),
        organizationId: Type.String({ description: 'Id of the organization.' }),
      }),
    },
    deauthorized: {
      description: 'The authorization of a personal token for single sign-on was undone.',
      payload: payload({ organizationId: Type.String({ description: 'Id of the organization.' }) }),
    },
  },
});
