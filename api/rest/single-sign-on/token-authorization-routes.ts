import { Type } from 'typebox';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import type { ErrorCode } from '#entities/kit/base/errors.ts';
import type { Asking } from '../../credentials/asking.ts';
import { authorizeToken, deauthorizeToken } from '../../credentials/authorize-token.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { recordNames } from '../records/record-names.ts';
import { selectionOf } from '../records/record-routes.ts';
import { idText, recordSchema } from '../records/record-schema.ts';

/** Authorization of personal tokens for organizations that enforce single sign-on. */
export const tokenAuthorizationRoutes: readonly Route[] = [
  routeOf({
    verb: 'authorize',
    summary: 'Authorize a personal token for single sign-on',
    description:
      'Lets the token count in an organization, and in those that are part of it, although single sign-on is enforced there. The session of the caller must have begun with the single sign-on of the organization. The token stays authorized until this is undone, or its secret is replaced.',
    act: authorizeToken,
    errors: ['invalid_input', 'not_found', 'permission_denied', 'single_sign_on_required'],
  }),
  routeOf({
    verb: 'deauthorize',
    summary: 'Undo the authorization of a personal token',
    description: 'The token no longer counts where single sign-on is enforced.',
    act: deauthorizeToken,
    errors: ['invalid_input', 'not_found', 'permission_denied'],
  }),
];

function routeOf({
  verb,
  summary,
  description,
  act,
  errors,
}: {
  readonly verb: string;
  readonly summary: string;
  readonly description: string;
  readonly act: (asking: Asking, id: string, organizationId: string) => Promise<{ readonly id: string }>;
  readonly errors: readonly ErrorCode[];
}): Route {
  const { path, tag } = recordNames(personalAccessToken);
  return defineRoute({
    method: 'POST',
    url: `${path}/:id/${verb}`,
    tag,
    summary,
    description,
    access: 'required',
    params: Type.Object({ id: Type.Unsafe({ ...idText, description: 'Id of the record.' }) }),
    body: Type.Object(
      { organization_id: Type.String({ minLength: 1, maxLength: 26, description: 'Id of the organization.' }) },
      { additionalProperties: false },
    ),
    answers: { 200: recordSchema(personalAccessToken) },
    errors,
    handle: async (call) => {
      const { id } = await act(call, call.params['id'] ?? '', call.body.organization_id);
      return { status: 200, body: await call.unit.data.answers.record(selectionOf(personalAccessToken), id) };
    },
  });
}
