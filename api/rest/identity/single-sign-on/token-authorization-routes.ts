import { Type } from 'typebox';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import type { ErrorCode } from '#entities/kit/base/errors.ts';
import type { Asking } from '../../../credentials/asking.ts';
import { authorizeToken, deauthorizeToken, type TokenAuthorization } from '../../../credentials/authorize-token.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { recordNames } from '../../records/record-names.ts';
import { idSchema } from '../../../http/request-schemas.ts';

const AuthorizationSchema = Type.Object(
  {
    token_id: Type.String({ description: 'Id of the token.' }),
    organization_id: Type.String({ description: 'Id of the organization.' }),
    is_authorized: Type.Boolean({
      description: 'Whether the token is valid there although single sign-on is enforced.',
    }),
  },
  { title: 'TokenAuthorization' },
);

/** Authorization of personal tokens for organizations that enforce single sign-on. */
export const tokenAuthorizationRoutes: readonly Route[] = [
  routeOf({
    verb: 'authorize',
    summary: 'Authorize a personal token for single sign-on',
    description:
      'Makes the token valid in an organization, and in those that are part of it, although single sign-on is enforced there. The session of the caller must have begun with the single sign-on of the organization. The token stays authorized until this is undone, its secret is replaced, or the provider of the organization changes.',
    session: { acceptsSingleSignOn: true },
    act: authorizeToken,
    errors: ['invalid_input', 'not_found', 'permission_denied', 'single_sign_on_required'],
  }),
  routeOf({
    verb: 'deauthorize',
    summary: 'Undo the authorization of a personal token',
    description: 'The token is no longer valid where single sign-on is enforced.',
    act: deauthorizeToken,
    errors: ['invalid_input', 'not_found', 'permission_denied'],
  }),
];

function routeOf({
  verb,
  summary,
  description,
  session = {},
  act,
  errors,
}: {
  readonly verb: string;
  readonly summary: string;
  readonly description: string;
  readonly session?: Pick<Route, 'acceptsSingleSignOn'>;
  readonly act: (asking: Asking, id: string, organizationId: string) => Promise<TokenAuthorization>;
  readonly errors: readonly ErrorCode[];
}): Route {
  const { path, tag, one } = recordNames(personalAccessToken);
  return defineRoute({
    method: 'POST',
    url: `${path}/:id/${verb}`,
    operationId: `${verb}${one}`,
    tag,
    summary,
    description,
    access: 'required',
    ...session,
    params: Type.Object({ id: idSchema('Id of the record.') }),
    body: Type.Object({ organization_id: idSchema('Id of the organization.') }, { additionalProperties: false }),
    answers: { 200: AuthorizationSchema },
    errors,
    handle: async (call) => {
      const { tokenId, organizationId, isAuthorized } = await act(
        call,
        call.params['id'] ?? '',
        call.body.organization_id,
      );
      return { status: 200, body: { token_id: tokenId, organization_id: organizationId, is_authorized: isAuthorized } };
    },
  });
}
