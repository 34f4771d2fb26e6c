import { Type, type Static } from 'typebox';
import { session } from '#entities/identity/session.ts';
import { maxTokenLength } from '../../../auth/signed-tokens.ts';
import { MessageSchema } from '../../../http/request-schemas.ts';
import { signInFirst } from '../../../http/plugins/sign-in-first.ts';
import { defineRoute, type Call } from '../../../http/route.ts';
import { endSessions } from './end-sessions.ts';
import { sessionOfRefreshToken } from './sent-refresh-token.ts';
import { forgetSession } from './session-answer.ts';

const BodySchema = Type.Object(
  {
    sessions: Type.Optional(
      Type.Enum(['this', 'others', 'all'], {
        default: 'this',
        description:
          'Sessions of the user that end: this one, all others, or all. Others need a signed-in caller. A session of single sign-on ends only those of the same organization.',
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
  operationId: 'logout',
  tag: 'Account',
  summary: 'Sign out',
  description:
    'Ends the session of the request, or others of the user: all their tokens stop working immediately, those from /v1/switch and /v1/refresh too. Deletes the cookies, unless this session continues.',
  access: 'public',
  limitClass: 'flow',
  acceptsSingleSignOn: true,
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
      const count = await endSessions(data, claims.userId, kept, call.unit.context.caller.singleSignOnId);
      if (kept !== undefined) return { status: 200, body: { message: `Signed out of ${count} other sessions.` } };
    }
    forgetSession(call);
    return { status: 200, body: { message: 'Signed out.' } };
  },
});

/** The session of the refresh token in the body, else of the access token, else of the refresh token in the cookie. */
async function currentSession(call: Call<Static<typeof BodySchema>>): Promise<string | undefined> {
  const { body, request } = call;
  const { claims } = request.core;
  if (body.refresh_token === undefined && claims) return claims.sessionId;
  return sessionOfRefreshToken(call, body.refresh_token);
}
