import { Type } from 'typebox';
import { eventCatalogue } from '#entities/kit/model/event-catalogue.ts';
import { defineRoute } from '../../http/route.ts';

/** Printed as docs/reference/events.schema.json as well, with the types that stay inside. */
export const eventTypes = defineRoute({
  method: 'GET',
  url: '/v1/event-types',
  operationId: 'listEventTypes',
  tag: 'Webhook endpoints',
  summary: 'List types of events',
  description:
    'The types of events that endpoints can receive, each with the JSON Schema of its message and an example.',
  access: 'required',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  answers: {
    200: Type.Object({
      data: Type.Array(
        Type.Object({
          type: Type.String({ description: 'Type of the event.' }),
          version: Type.Integer({ description: 'Raised when the schema loses a property or gives one another type.' }),
          description: Type.String({ description: 'Cause of the event.' }),
          schema: Type.Unsafe<object>({
            type: 'object',
            additionalProperties: true,
            description: 'JSON Schema of the message.',
          }),
          example: Type.Unsafe<object>({ type: 'object', additionalProperties: true, description: 'A message.' }),
        }),
      ),
    }),
  },
  errors: [],
  handle: ({ unit }) => ({
    status: 200,
    body: {
      data: eventCatalogue(unit.registry)
        .filter(({ isPublic }) => isPublic)
        .map(({ topic, version, description, schema, example }) => ({
          type: topic,
          version,
          description,
          schema,
          example,
        })),
    },
  }),
});
