import { Type, type TSchema } from 'typebox';
import { integrationWebhook } from '#entities/integrations/integration-webhook.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import {
  createIntegrationWebhook,
  rotateIntegrationWebhook,
  type IssuedSecret,
  type NewWebhook,
} from '../../credentials/webhook-secrets.ts';
import { defineRoute, type Call, type Route, type RouteResponse } from '../../http/route.ts';
import { recordNames } from '../records/record-names.ts';
import { inSnakeCase } from '../records/in-snake-case.ts';
import { selectionOf } from '../records/record-selection.ts';
import { recordSchema, valueSchema } from '../records/record-schema.ts';
import { idSchema } from '../../http/request-schemas.ts';

const { path, singular, tag } = recordNames(integrationWebhook);
const { fields } = integrationWebhook;

const given = ['integrationId', 'name', 'provider', 'allowedEvents', 'externalId', 'metadata'] as const;
const required: ReadonlySet<string> = new Set(['integrationId', 'name']);

const body = Type.Object(
  Object.fromEntries(
    given.map((name): [string, TSchema] => {
      const schema = Type.Unsafe({ ...valueSchema(fields[name]), description: fields[name].description });
      return [snakeCase(name), required.has(name) ? schema : Type.Optional(schema)];
    }),
  ),
  { additionalProperties: false },
);

const answer = Type.Object(
  {
    ...recordSchema(integrationWebhook).properties,
    secret: Type.String({ description: 'The secret with which the other system signs events.' }),
  },
  { title: 'IssuedIntegrationWebhook', description: integrationWebhook.description },
);

const once =
  'The secret is shown in this response only. The user must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.';

/** Receivers are listed, renamed and deleted like all records. */
export const webhookRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    url: path,
    operationId: 'createIntegrationWebhook',
    tag,
    summary: `Create one ${singular}`,
    description: `Creates a receiver for events of an integration. ${once}`,
    access: 'required',
    answersCredential: true,
    acceptsSingleSignOn: true,
    body,
    sends: ['Location'],
    answers: { 201: answer },
    errors: ['not_found', 'permission_denied', 'already_exists', 'step_up_required'],
    handle: (call) =>
      inSnakeCase(async () => {
        const values = given.map((name) => [name, (call.body as Record<string, unknown>)[snakeCase(name)]]);
        // The schema has checked the values.
        const issued = await createIntegrationWebhook(call, Object.fromEntries(values) as NewWebhook);
        void call.reply.header('location', `${path}/${issued.id}`);
        return answered(201, call, issued);
      }),
  }),
  defineRoute({
    method: 'POST',
    url: `${path}/:id/rotate`,
    operationId: 'rotateIntegrationWebhook',
    tag,
    summary: `Replace the secret of one ${singular}`,
    description: `The old secret stops working immediately. ${once}`,
    access: 'required',
    answersCredential: true,
    acceptsSingleSignOn: true,
    params: Type.Object({ id: idSchema('Id of the record.') }),
    answers: { 200: answer },
    errors: ['not_found', 'permission_denied', 'step_up_required'],
    handle: async (call) => answered(200, call, await rotateIntegrationWebhook(call, call.params['id'] ?? '')),
  }),
];

async function answered(status: number, { unit }: Call<unknown>, { id, secret }: IssuedSecret): Promise<RouteResponse> {
  const record = await unit.data.answers.record(selectionOf(integrationWebhook), id);
  return { status, body: { ...record, secret } };
}
