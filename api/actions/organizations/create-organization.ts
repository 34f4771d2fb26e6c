import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { organization } from '#entities/organizations/organization.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { foundOrganization, trialOf } from '../../people/found-organization.ts';
import { recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

/** Every signed-in person may create an organization. Only editors of a parent may create one below it. */
export const createOrganization = defineAction({
  name: 'createOrganization',
  url: '/v1/organizations',
  tag: 'Organizations',
  summary: 'Create an organization',
  description:
    'Creates an organization with its settings, its managed groups and the entity types of this installation. The caller becomes its owner; POST /v1/switch acts in it.',
  input: {
    name: Type.String({
      maxLength: 160,
      [describedKeyword]: { format: 'name', minLength: 3 },
      description: 'Name; unique among the organizations that you created.',
    }),
    displayName: Type.Optional(
      Type.String({
        maxLength: 160,
        [describedKeyword]: { format: 'name', minLength: 1 },
        description: 'Display name.',
      }),
    ),
    description: Type.Optional(Type.String({ maxLength: 2_000, description: 'Description of the organization.' })),
    parentId: Type.Optional(
      idSchema('Id of the organization of which it becomes a part; you act in it, and manage it.'),
    ),
  },
  answer: { organization: recordOf(organization) },
  status: 201,
  errors: ['invalid_input', 'already_exists', 'permission_denied', 'not_found', 'organization_archived'],
  run: async ({ unit, services }, { parentId = null, ...input }) => {
    const { kind, subjectId } = unit.context.caller;
    if (kind !== 'user' || subjectId === null)
      throw new AppError('permission_denied', 'Only users can create organizations; sign in first.');
    if (parentId !== null) {
      const id = existingId(organization, parentId);
      await unit.data.checkTargets([
        { module: organization, field: 'parentId', id, organizationId: null, path: '/parentId' },
      ]);
    }
    const data = unit.data.privileged('create organization');
    const founder = await data.get(user, subjectId);
    const trial = parentId === null ? trialOf(services) : undefined;
    const wanted = { ...input, parentId, founderId: subjectId };
    const { id } = await foundOrganization(data, wanted, founder, { trial });
    return { organization: id };
  },
});
