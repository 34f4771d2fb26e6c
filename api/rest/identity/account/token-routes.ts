import type { SharedValue } from '../../../http/description/shared-values.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { Type, type TObject, type TSchema } from 'typebox';
import { apiToken } from '#entities/identity/api-token.ts';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import {
  createApiToken,
  createPersonalToken,
  expiryDescription,
  rotateApiToken,
  rotatePersonalToken,
  scopesDescription,
  type IssuedToken,
  type NewPersonalToken,
} from '../../../credentials/issue-tokens.ts';
import { defineRoute, type Call, type Route, type RouteResponse } from '../../../http/route.ts';
import { recordNames } from '../../records/record-names.ts';
import { inSnakeCase } from '../../records/in-snake-case.ts';
import { selectionOf } from '../../records/record-selection.ts';
import { recordSchema } from '../../records/record-schema.ts';
import { idSchema, idText, visibleLine } from '../../../http/request-schemas.ts';

interface Body {
  readonly name: string;
  readonly description?: string | null;
  readonly scopes: string[];
  readonly expires_at?: string | null;
  readonly organization_ids?: string[];
}

const bodyFields = (scope: SharedValue) => ({
  name: Type.String({
    minLength: 1,
    maxLength: 160,
    description: 'Name that says what the token is used for.',
    [describedKeyword]: { pattern: visibleLine },
  }),
  description: Type.Optional(
    Type.Union([Type.String({ maxLength: 2_000 }), Type.Null()], {
      description: 'Further information about the token.',
    }),
  ),
  scopes: Type.Array(Type.String({ minLength: 1, maxLength: 100, [describedKeyword]: { shared: scope } }), {
    minItems: 1,
    maxItems: 1_000,
    description: scopesDescription,
  }),
  expires_at: Type.Optional(
    Type.Union([Type.String({ format: 'date-time', maxLength: 40 }), Type.Null()], {
      description: expiryDescription,
    }),
  ),
});

const organizationIds = Type.Optional(
  Type.Array(Type.Unsafe<string>(idText), {
    maxItems: 100,
    description:
      'Ids of the organizations in which the token works, first the one in which requests act that name none; without them, it works in all organizations of the user.',
  }),
);

const once =
  'The token is shown in this response only: the server keeps no more than a keyed hash of its secret. The user must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.';

/** Creation and rotation of tokens. They are listed, renamed and deleted like all records. */
export const tokenRoutes: readonly Route[] = [
  ...routesOf(apiToken, {
    body: Type.Object(bodyFields('ApiTokenScope'), { additionalProperties: false }),
    about:
      'Creates an API token of the current organization. It can do what its scopes say with all records of a kind, and nobody can give it more rights than they have. Managers of the organization are notified by e-mail.',
    create: createApiToken,
    rotate: rotateApiToken,
  }),
  ...routesOf(personalAccessToken, {
    body: Type.Object(
      { ...bodyFields('PersonalTokenScope'), organization_ids: organizationIds },
      { additionalProperties: false },
    ),
    about:
      'Creates a token that acts for the signed-in user: it can do what the user can do, as far as its scopes allow it. With several organizations, name one in the header X-Organization-ID of each request. A request without this header acts in the first of `organization_ids`; without that list, in the organization that the user joined first, usually the personal one. The header X-Organization-ID of each response names the organization in which the token acted. The user is notified by e-mail.',
    create: createPersonalToken,
    rotate: rotatePersonalToken,
  }),
];

interface Operations {
  readonly body: TObject;
  readonly about: string;
  readonly create: (call: Call<unknown>, input: NewPersonalToken) => Promise<IssuedToken>;
  readonly rotate: (call: Call<unknown>, id: string) => Promise<IssuedToken>;
}

function routesOf(module: EntityModule, { body, about, create, rotate }: Operations): Route[] {
  const { path, singular, tag, one } = recordNames(module);
  const answer = answerSchema(module);
  const reached: Pick<Route, 'acceptsSingleSignOn'> =
    module.tenancy === 'organization' ? { acceptsSingleSignOn: true } : {};
  return [
    defineRoute({
      method: 'POST',
      url: path,
      operationId: `create${one}`,
      tag,
      summary: `Create one ${singular}`,
      description: `${about} ${once}`,
      access: 'required',
      answersCredential: true,
      ...reached,
      body,
      sends: ['Location'],
      answers: { 201: answer },
      errors: ['permission_denied', 'step_up_required', 'limit_exceeded', 'not_found'],
      handle: (call) =>
        inSnakeCase(async () => {
          const { expires_at: expiresAt, organization_ids: ids, ...values } = call.body as unknown as Body;
          const issued = await create(call, {
            ...values,
            ...(expiresAt === undefined ? {} : { expiresAt }),
            ...(ids === undefined ? {} : { organizationIds: ids }),
          });
          void call.reply.header('location', `${path}/${issued.id}`);
          return answered(201, module, call, issued);
        }),
    }),
    defineRoute({
      method: 'POST',
      url: `${path}/:id/rotate`,
      operationId: `rotate${one}`,
      tag,
      summary: `Replace the secret of one ${singular}`,
      description: `The old secret stops working immediately; for a program that must continue meanwhile, create a second token. ${once}`,
      access: 'required',
      answersCredential: true,
      ...reached,
      params: Type.Object({ id: idSchema('Id of the record.') }),
      answers: { 200: answer },
      errors: ['not_found', 'permission_denied', 'step_up_required', 'token_expired'],
      handle: async (call) => answered(200, module, call, await rotate(call, call.params['id'] ?? '')),
    }),
  ];
}

function answerSchema(module: EntityModule): TObject {
  const properties: Record<string, TSchema> = {
    token: Type.String({ description: 'The token; send it in the Authorization header as bearer token.' }),
  };
  return Type.Object(
    { ...recordSchema(module).properties, ...properties },
    {
      title: `Issued${recordNames(module).one}`,
      description: module.description,
    },
  );
}

async function answered(
  status: number,
  module: EntityModule,
  { unit }: Call<unknown>,
  { id, token }: IssuedToken,
): Promise<RouteResponse> {
  return { status, body: { ...(await unit.data.answers.record(selectionOf(module), id)), token } };
}
