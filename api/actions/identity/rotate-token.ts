import { apiToken } from '#entities/identity/api-token.ts';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import {
  rotateApiToken as rotateForOrganization,
  rotatePersonalToken,
  tokenOnce,
  tokenValue,
} from '../../credentials/issue-tokens.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const rotation = {
  description: `The old secret stops working immediately; for a program that must continue meanwhile, create a second token. ${tokenOnce}`,
  answersCredential: true,
  input: { id: idSchema('Id of the record.') },
  errors: ['not_found', 'permission_denied', 'step_up_required', 'token_expired'],
} as const;

export const rotateApiToken = defineAction({
  ...rotation,
  name: 'rotateApiToken',
  url: '/v1/api-tokens/:id/rotate',
  tag: 'Api tokens',
  summary: 'Replace the secret of one api token',
  acceptsSingleSignOn: true,
  answer: { apiToken: recordOf(apiToken), token: tokenValue },
  title: 'IssuedApiToken',
  run: async (asking, { id }) => {
    const rotated = await rotateForOrganization(asking, id);
    return { apiToken: rotated.id, token: rotated.token };
  },
});

export const rotatePersonalAccessToken = defineAction({
  ...rotation,
  name: 'rotatePersonalAccessToken',
  url: '/v1/personal-access-tokens/:id/rotate',
  tag: 'Personal access tokens',
  summary: 'Replace the secret of one personal access token',
  answer: { personalAccessToken: recordOf(personalAccessToken), token: tokenValue },
  title: 'IssuedPersonalAccessToken',
  run: async (asking, { id }) => {
    const rotated = await rotatePersonalToken(asking, id);
    return { personalAccessToken: rotated.id, token: rotated.token };
  },
});
