import type { SharedValue } from '../../http/description/shared-values.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { Type, type TSchema } from 'typebox';
import { webhookEndpoint } from '#entities/webhooks/webhook-endpoint.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import {
  changeEndpoint,
  createEndpoint,
  rotateEndpoint,
  type EndpointChanges,
  type EndpointSettings,
  type IssuedEndpoint,
} from '../../webhooks/change-endpoint.ts';
import { requiresProof } from '../../credentials/required-proof.ts';
import { defineRoute, type Call, type Route, type RouteResponse } from '../../http/route.ts';
import { ifMatchHeaders } from '../records/if-match.ts';
import { inSnakeCase } from '../records/in-snake-case.ts';
import { recordNames } from '../records/record-names.ts';
import { selectionOf } from '../records/record-selection.ts';
import { recordSchema, valueSchema, versionSchema } from '../records/record-schema.ts';
import { matching, sendEntityTag } from '../records/record-version.ts';
import { idSchema } from '../../http/request-schemas.ts';

const { path, singular, tag } = recordNames(webhookEndpoint);
const { fields } = webhookEndpoint;

const settings = [
  'name',
  'description',
  'url',
  'topics',
  'scopes',
  'ordering',
  'maxInFlight',
  'maxPerSecond',
  'includesRecord',
] as const;
const required: ReadonlySet<string> = new Set(['name', 'url', 'topics', 'scopes']);

const listOf = (shared: SharedValue) => ({ minItems: 1, items: { type: 'string', [describedKeyword]: { shared } } });

/** Note about the settings in addition to their fields; the words of a refusal are those of the data layer. */
const besides: Partial<Record<string, object>> = {
  url: { [describedKeyword]: { format: 'uri', pattern: '^https?://' } },
  topics: { [describedKeyword]: listOf('EventTopicPattern') },
  scopes: { [describedKeyword]: listOf('EndpointScope') },
};

function properties(names: readonly (keyof typeof fields)[], isNeeded: (name: string) => boolean) {
  return Object.fromEntries(
    names.map((name): [string, TSchema] => {
      const described = { ...valueSchema(fields[name]), ...besides[name] };
      const schema = Type.Unsafe({ ...described, description: fields[name].description });
      return [snakeCase(name), isNeeded(name) ? schema : Type.Optional(schema)];
    }),
  );
}

const creation = Type.Object(
  properties(settings, (name) => required.has(name)),
  { additionalProperties: false },
);

const changeable = [...settings, 'status'] as const;
const change = Type.Object(
  { ...properties(changeable, () => false), record_version: versionSchema },
  { additionalProperties: false },
);

const issuedAnswer = Type.Object(
  {
    ...recordSchema(webhookEndpoint).properties,
    secret: Type.String({ description: 'The secret with which messages are signed.' }),
  },
  { title: 'IssuedWebhookEndpoint', description: webhookEndpoint.description },
);

/** The path parameter of routes about one endpoint. */
export const endpointParams = Type.Object({ id: idSchema('Id of the endpoint.') });

const proof = 'The user must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.';
const once = `The secret is shown in this response only. ${proof}`;

/** Endpoints are listed, read and deleted like all records. */
export const endpointRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    url: path,
    operationId: 'createWebhookEndpoint',
    tag,
    summary: `Create one ${singular}`,
    description: `Creates an endpoint to which events are sent. Nobody can give it scopes beyond their own rights. ${once}`,
    access: 'required',
    answersCredential: true,
    acceptsSingleSignOn: true,
    body: creation,
    sends: ['Location'],
    answers: { 201: issuedAnswer },
    errors: ['permission_denied', 'already_exists', 'step_up_required', 'limit_exceeded'],
    handle: (call) =>
      inSnakeCase(async () => {
        // The schema has checked the values.
        const input = given(settings, call.body) as unknown as EndpointSettings;
        const issued = await createEndpoint(call, input);
        void call.reply.header('location', `${path}/${issued.id}`);
        return answered(201, call, issued);
      }),
  }),
  defineRoute({
    method: 'PATCH',
    url: `${path}/:id`,
    operationId: 'updateWebhookEndpoint',
    tag,
    summary: `Update one ${singular}`,
    description: `Omitted fields stay unchanged; null clears an optional field. Changing the URL, topics or scopes, or including records, ${requiresProof}`,
    access: 'required',
    acceptsTokens: true,
    acceptsSingleSignOn: true,
    params: endpointParams,
    headers: ifMatchHeaders,
    body: change,
    sends: ['ETag'],
    answers: { 200: recordSchema(webhookEndpoint) },
    errors: [
      'not_found',
      'permission_denied',
      'already_exists',
      'step_up_required',
      'stale_record',
      'precondition_failed',
    ],
    handle: (call) =>
      inSnakeCase(async () => {
        const values = given(changeable, call.body) as EndpointChanges;
        const id = call.params['id'] ?? '';
        const version = call.body.record_version;
        const changed = await matching(call.request.headers['if-match'], version, (versions) =>
          changeEndpoint(call, id, values, versions),
        );
        sendEntityTag(call.reply, changed.recordVersion);
        const body = await call.unit.data.answers.record(selectionOf(webhookEndpoint), changed.id);
        return { status: 200, body };
      }),
  }),
  defineRoute({
    method: 'POST',
    url: `${path}/:id/rotate`,
    operationId: 'rotateWebhookEndpoint',
    tag,
    summary: `Replace the secret of one ${singular}`,
    description: `For 24 hours, messages are signed with the former secret as well. ${once}`,
    access: 'required',
    answersCredential: true,
    acceptsSingleSignOn: true,
    params: endpointParams,
    answers: { 200: issuedAnswer },
    errors: ['not_found', 'permission_denied', 'step_up_required'],
    handle: async (call) => answered(200, call, await rotateEndpoint(call, call.params['id'] ?? '')),
  }),
];

/** The values of a body, by the names of fields. */
function given(names: readonly string[], body: object): Record<string, unknown> {
  const values = body as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    names.flatMap((name) => (values[snakeCase(name)] === undefined ? [] : [[name, values[snakeCase(name)]]])),
  );
}

async function answered(
  status: number,
  { unit }: Call<unknown>,
  { id, secret }: IssuedEndpoint,
): Promise<RouteResponse> {
  const record = await unit.data.answers.record(selectionOf(webhookEndpoint), id);
  return { status, body: { ...record, secret } };
}
