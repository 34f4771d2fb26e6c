import { Type, type Static } from 'typebox';
import { session } from '#entities/identity/session.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { maxTokenLength } from '../../auth/signed-tokens.ts';
import { refreshCookie } from '../../auth/cookie-attributes.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { signInFirst } from '../../http/plugins/sign-in-first.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import { endSessions } from './end-sessions.ts';
import { forgetSession } from './session-answer.ts';

const BodySchema = Type.Object(
  {
    sessions: Type.Optional(
      Type.Union([Type.Literal('this'), Type.Literal('others'), Type.Literal('all')], {
        default: 'this',
        description: 'Which sessions of the user end: this one, all others, or all. Others need a signed-in caller.',
      }),
    ),
    refresh_token: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: maxTokenLength,
        writeOnly: true,
        description: 'Refresh token of the session that ends, for clients whose access token has expired.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** Idempotent: succeeds without a valid token, too. */
export const logout = defineRoute({
  method: 'POST',
  url: '/v1/logout',
  tag: 'Account',
  summary: 'Sign out',
  description:
    'Ends the session of the request, or others of the user: all their tokens stop working at once, those from /v1/switch and /v1/refresh too. Deletes the cookies, unless this session goes on.',
  access: 'public',
  body: BodySchema,
  answers: { 200: MessageSchema },
  errors: ['invalid_input', 'unauthenticated'],
  handle: async (call) => {
    const { sessions = 'this' } = call.body;
    const data = call.unit.data.privileged('sign-out');
    if (sessions === 'this') {
      const current = await currentSession(call);
      if (current !== undefined) await data.removeAll(session, [current]);
    } else {
      const { claims } = call.request.core;
      if (!claims) throw signInFirst();
      const kept = sessions === 'others' ? claims.sessionId : undefined;
      const count = await endSessions(data, claims.userId, kept);
      if (kept !== undefined) return { status: 200, body: { message: `Signed out of ${count} other sessions.` } };
    }
    forgetSession(call);
    return { status: 200, body: { message: 'Signed out.' } };
  },
});

/** The session of the access token or, without one, of the refresh token. */
async function currentSession({
  request,
  services,
  body,
}: Call<Static<typeof BodySchema>>): Promise<string | undefined> {
  const { claims } = request.core;
  if (claims) return claims.sessionId;
  const token = body.refresh_token ?? request.cookies[refreshCookie];
  if (token === undefined) return undefined;
  try {
    return (await services.refreshTokens.verify(token)).sessionId;
  } catch (error) {
    // A token that is not valid stands for no session.
    if (isAppError(error) && error.code === 'unauthenticated') return undefined;
    throw error;
  }
}
