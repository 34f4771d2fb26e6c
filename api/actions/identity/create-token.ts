import { Type } from 'typebox';
import { apiToken } from '#entities/identity/api-token.ts';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import {
  createApiToken as createForOrganization,
  createPersonalToken,
  tokenOnce,
  tokenValue,
} from '../../credentials/issue-tokens.ts';
import type { SharedValue } from '../../http/description/shared-values.ts';
import { idText, visibleLine } from '../../http/request-schemas.ts';
import { recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const tokenInput = (scope: SharedValue) => ({
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
    description:
      'Scopes: `<kind>:read`, `<kind>:write` or `<kind>:delete`, each of which includes those before it; for example `task:write`, which also reads.',
  }),
  expiresAt: Type.Optional(
    Type.Union([Type.String({ format: 'date-time', maxLength: 40 }), Type.Null()], {
      description:
        'When the token stops working; null: it works until it is deleted. Without a value, it stops 90 days after its creation.',
    }),
  ),
});

/** Tokens are listed, renamed and deleted like all records. */
export const createApiToken = defineAction({
  name: 'createApiToken',
  url: '/v1/api-tokens',
  tag: 'Api tokens',
  summary: 'Create one api token',
  description: `Creates an API token of the current organization. It can do what its scopes say with all records of a kind, and nobody can give it more rights than they have. Managers of the organization are notified by e-mail. ${tokenOnce}`,
  acceptsSingleSignOn: true,
  answersCredential: true,
  input: tokenInput('ApiTokenScope'),
  answer: { apiToken: recordOf(apiToken), token: tokenValue },
  title: 'IssuedApiToken',
  status: 201,
  errors: ['permission_denied', 'payment_method_required', 'step_up_required', 'limit_exceeded', 'not_found'],
  run: async (asking, input) => {
    const { id, token } = await createForOrganization(asking, input);
    return { apiToken: id, token };
  },
});

export const createPersonalAccessToken = defineAction({
  name: 'createPersonalAccessToken',
  url: '/v1/personal-access-tokens',
  tag: 'Personal access tokens',
  summary: 'Create one personal access token',
  description: `Creates a token that acts for the signed-in user: it can do what the user can do, as far as its scopes allow it. With several organizations, name one in the header X-Organization-ID of each request. A request without this header acts in the first of \`organizationIds\`; without that list, in the organization that the user joined first, usually the personal one. The header X-Organization-ID of each response names the organization in which the token acted. Where the operator requires a payment method, each organization in which the token works must have one. The user is notified by e-mail. ${tokenOnce}`,
  answersCredential: true,
  needsPaymentMethod: true,
  input: {
    ...tokenInput('PersonalTokenScope'),
    organizationIds: Type.Optional(
      Type.Array(Type.Unsafe<string>(idText), {
        maxItems: 100,
        description:
          'Ids of the organizations in which the token works, first the one in which requests act that name none; without them, it works in all organizations of the user.',
      }),
    ),
  },
  answer: { personalAccessToken: recordOf(personalAccessToken), token: tokenValue },
  title: 'IssuedPersonalAccessToken',
  status: 201,
  errors: ['permission_denied', 'step_up_required', 'limit_exceeded', 'not_found'],
  run: async (asking, input) => {
    const { id, token } = await createPersonalToken(asking, input);
    return { personalAccessToken: id, token };
  },
});
