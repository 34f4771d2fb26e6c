import { Type } from 'typebox';
import { organization } from '#entities/organizations/organization.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';
import { foundOwnOrganization } from '../../people/found-own-organization.ts';
import { selectionOf } from '../records/record-selection.ts';
import { recordSchema } from '../records/record-schema.ts';
import { sendEntityTag } from '../records/record-version.ts';

export const createOrganization = defineRoute({
  method: 'POST',
  url: '/v1/organizations',
  operationId: 'createOrganization',
  tag: 'Organizations',
  summary: 'Create an organization',
  description:
    'Creates an organization with its settings, its managed groups and the entity types of this installation. The caller becomes its owner; POST /v1/switch acts in it.',
  access: 'required',
  body: Type.Object(
    {
      name: Type.String({
        maxLength: 160,
        [describedKeyword]: { format: 'name', minLength: 3 },
        description: 'Name; unique among the organizations that you created.',
      }),
      display_name: Type.Optional(
        Type.String({
          maxLength: 160,
          [describedKeyword]: { format: 'name', minLength: 1 },
          description: 'Display name.',
        }),
      ),
      description: Type.Optional(Type.String({ maxLength: 2_000, description: 'Description of the organization.' })),
      parent_id: Type.Optional(
        idSchema('Id of the organization of which it becomes a part; you act in it, and manage it.'),
      ),
    },
    { additionalProperties: false },
  ),
  sends: ['Location'],
  answers: { 201: recordSchema(organization) },
  errors: ['invalid_input', 'already_exists', 'permission_denied', 'not_found', 'organization_archived'],
  handle: async ({ unit, body, reply }) => {
    const { id } = await foundOwnOrganization(
      unit,
      {
        name: body.name,
        ...(body.display_name === undefined ? {} : { displayName: body.display_name }),
        ...(body.description === undefined ? {} : { description: body.description }),
        ...(body.parent_id === undefined ? {} : { parentId: body.parent_id }),
      },
      '/parent_id',
    );
    const made = await unit.data.answers.record(selectionOf(organization), id);
    void reply.header('location', `/v1/organizations/${id}`);
    sendEntityTag(reply, made['record_version']);
    return { status: 201, body: made };
  },
});
