import { Type } from 'typebox';
import { session } from '#entities/identity/session.ts';
import { user } from '#entities/identity/user.ts';
import { noteSeen } from '#entities/identity/last-seen-rows.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { openSecret, sealSecret } from '#entities/kit/base/secrets/sealed-secret.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { maxTokenLength } from '../../../auth/signed-tokens.ts';
import { hashOfToken, refusedRefresh, type RefreshClaims } from '../../../auth/refresh-token.ts';
import { defineRoute, type Call } from '../../../http/route.ts';
import { homeOrganization } from './home-organization.ts';
import { sentRefreshToken } from './sent-refresh-token.ts';
import { sessionAnswer, SessionSchema } from './session-answer.ts';
import { issueAccess, issueTokens } from './session-tokens.ts';

/**
 * Time after the use of a refresh token in which it gets the same successor again, in milliseconds: two tabs have sent it at once, or the
 * response of the first request was lost.
 */
const overlapMs = 10_000;

/** Exchanges the only refresh token of a session that is still to be used for the next one. */
export const refresh = defineRoute({
  method: 'POST',
  url: '/v1/refresh',
  operationId: 'refreshTokens',
  tag: 'Account',
  summary: 'Refresh the tokens of a session',
  description:
    'Returns new tokens for a refresh token, for the organization of the last sign-in or switch, and sets them as cookies for browsers. Send the token in the body, with any Authorization header instead of a CSRF token; browsers send it as cookie. A refresh token can be used once, from `refresh_not_before` on. For ten seconds after its use it returns the same successor again, so that two tabs, or a lost response, sign nobody out. If it is used later, the session ends, because somebody may have copied it. A session of single sign-on ends twelve hours after it began, however often it is refreshed.',
  access: 'anonymous',
  limitClass: 'flow',
  body: Type.Object(
    {
      refresh_token: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: maxTokenLength,
          writeOnly: true,
          description: 'Refresh token. Without it, the cookie is used.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  answers: { 200: SessionSchema },
  errors: [
    'invalid_input',
    'unauthenticated',
    'token_not_yet_valid',
    'second_factor_required',
    'single_sign_on_required',
  ],
  handle: async (call) => {
    const { body, unit, services } = call;
    const token = sentRefreshToken(call, body.refresh_token);
    if (token === undefined)
      throw new AppError('unauthenticated', 'Send refresh_token, or sign in first: there is no cookie with a token.');
    const claims = await services.refreshTokens.verify(token);
    refuseEarly(call, claims);
    // Before the locks: a request that waits for others was not sent later than them.
    const sentAt = services.clock.now();

    const data = unit.data.privileged('refresh');
    // Locked before the session, as by all who end sessions of a person.
    const person = await data.findLocked(user, claims.userId);
    // Of several requests with the same token, the first one changes the session, and the others find it changed.
    const held = await data.findLocked(session, claims.sessionId);
    if (held?.userId !== claims.userId) throw refusedRefresh();
    const tokenHash = hashOfToken(token);
    const successor =
      held.refreshTokenHash === tokenHash ? undefined : await successorOf(call, held, tokenHash, sentAt);
    if (held.refreshTokenHash !== tokenHash && successor === undefined) {
      unit.recordOutsideRequest('refresh token reused', (outside) => endCopied(outside, held.id));
      throw refusedRefresh();
    }
    if (person?.status !== 'active') throw refusedRefresh();

    const home = await homeOrganization(call, { person, ...held }, held.activeOrganizationId);
    const next = { userId: person.id, sessionId: held.id, home };
    if (successor !== undefined) return answerAgain(call, next, successor);
    const { access, refresh: issued, values } = await issueTokens(call, next, held);
    if (values.expiresAt <= services.clock.now()) throw refusedRefresh();
    await data.update(session, held.id, {
      ...values,
      replacedTokenHash: tokenHash,
      replacedAt: services.clock.now(),
      sealedSuccessor: await sealSecret(issued.token, successorKeys(call, held.id)),
    });
    await noteSeen(unit, person.id, home?.organizationId ?? null);
    return sessionAnswer(call, access, issued);
  },
});

/** With what a session keeps the successor of a token. */
function successorKeys({ services: { config } }: Call<unknown>, sessionId: string): Parameters<typeof sealSecret>[1] {
  return { secrets: config.current.sessions.encryptionkey, purpose: 'refresh-successor', subject: sessionId };
}

/** The token that took the place of another one, while that one is still accepted. */
async function successorOf(
  call: Call<unknown>,
  { id, replacedTokenHash, replacedAt, sealedSuccessor }: RowOf<typeof session>,
  tokenHash: string,
  sentAt: Date,
): Promise<string | undefined> {
  if (replacedTokenHash !== tokenHash || replacedAt === null || sealedSuccessor === null) return undefined;
  if (sentAt.getTime() - replacedAt.getTime() > overlapMs) return undefined;
  return (await openSecret(sealedSuccessor, successorKeys(call, id))).secret;
}

/** The same refresh token as in the first answer, with an access token of its own. The session stays as it is. */
async function answerAgain(call: Call<unknown>, claims: Parameters<typeof issueAccess>[1], successor: string) {
  const { accessTokens, refreshTokens } = call.services;
  const verified = await refreshTokens.verify(successor);
  const access = await issueAccess(call, claims, accessTokens.expiry(verified.expiresAt));
  return sessionAnswer(call, access, { ...verified, token: successor });
}

/** @throws AppError token_not_yet_valid */
function refuseEarly({ services: { clock } }: Call<unknown>, { notBefore }: RefreshClaims): void {
  const waitMs = notBefore.getTime() - clock.now().getTime();
  if (waitMs > 0)
    throw new AppError(
      'token_not_yet_valid',
      `The refresh token can be used from ${notBefore.toISOString()} on; until then, use the access token.`,
      { details: { retryAfterSeconds: Math.ceil(waitMs / 1_000) } },
    );
}

/** The holder of a token of this session may have copied it, so none is valid any more. */
async function endCopied(unit: UnitOfWork, sessionId: string): Promise<void> {
  const { data } = unit;
  const held = await data.findLocked(session, sessionId);
  if (!held) return;
  unit.emit(customEvent(session, 'refresh_token_reused', held, { userId: held.userId }));
  await data.remove(session, sessionId);
}
