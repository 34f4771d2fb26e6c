import { Type } from 'typebox';
import { authorizeToken, deauthorizeToken } from '../../credentials/authorize-token.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { idOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const ofToken = {
  tag: 'Personal access tokens',
  input: { id: idSchema('Id of the token.'), organizationId: idSchema('Id of the organization.') },
  answer: {
    tokenId: idOf('Id of the token.'),
    organizationId: idOf('Id of the organization.'),
    isAuthorized: Type.Boolean({
      description: 'Whether the token is valid there although single sign-on is enforced.',
    }),
  },
  title: 'TokenAuthorization',
};

/** The session of the caller decides for which organizations a token can be authorized. */
export const authorizePersonalAccessToken = defineAction({
  ...ofToken,
  name: 'authorizePersonalAccessToken',
  url: '/v1/personal-access-tokens/:id/authorize',
  summary: 'Authorize a personal token for single sign-on',
  description:
    'Makes the token valid in an organization, and in those that are part of it, although single sign-on is enforced there. The session of the caller must have begun with the single sign-on of the organization. The token stays authorized until this is undone, its secret is replaced, or the provider of the organization changes.',
  acceptsSingleSignOn: true,
  errors: ['invalid_input', 'not_found', 'permission_denied', 'single_sign_on_required'],
  run: (asking, { id, organizationId }) => authorizeToken(asking, id, organizationId),
});

export const deauthorizePersonalAccessToken = defineAction({
  ...ofToken,
  name: 'deauthorizePersonalAccessToken',
  url: '/v1/personal-access-tokens/:id/deauthorize',
  summary: 'Undo the authorization of a personal token',
  description: 'The token is no longer valid where single sign-on is enforced.',
  errors: ['invalid_input', 'not_found', 'permission_denied'],
  run: (asking, { id, organizationId }) => deauthorizeToken(asking, id, organizationId),
});
