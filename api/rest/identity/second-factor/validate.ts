import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { Type } from 'typebox';
import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { challengeLifetimeMs, refusedChallenge, type Challenge } from '../../../auth/challenge-token.ts';
import { maxTokenLength } from '../../../auth/signed-tokens.ts';
import { defineRoute, type Call } from '../../../http/route.ts';
import { completeChallenge } from '../account/complete-sign-in.ts';
import { SessionSchema } from '../account/session-answer.ts';
import { acceptCode, codeFields, countCode } from './accept-code.ts';
import { confirmedFactor } from '../../../credentials/confirmed-factor.ts';

/** Ends a sign-in that was answered with a challenge. */
export const validateSecondFactor = defineRoute({
  method: 'POST',
  url: '/v1/2fa/validate',
  operationId: 'validateSecondFactor',
  tag: 'Second factors',
  summary: 'Answer the challenge of a sign-in',
  description:
    'Begins the session of a sign-in that was answered with `mfa_required`. Send the challenge token of that response with a code of the authenticator app, or with a recovery code. A challenge works for five minutes, once; a code works once, too. After ten wrong codes the user waits for a quarter of an hour.',
  access: 'public',
  body: Type.Object(
    {
      challenge_token: Type.String({
        minLength: 1,
        maxLength: maxTokenLength,
        writeOnly: true,
        description: 'Challenge token of the sign-in.',
      }),
      ...codeFields,
    },
    { additionalProperties: false, [describedKeyword]: { minProperties: 2, maxProperties: 2 } },
  ),
  answers: { 200: SessionSchema },
  // It counts the code in a transaction of its own.
  runsOnce: true,
  errors: ['invalid_input', 'unauthenticated', 'invalid_credentials', 'single_sign_on_required', 'too_many_requests'],
  handle: async (call) => {
    const { body, services } = call;
    const challenge = await services.challengeTokens.verify(body.challenge_token);
    await countCode(call, challenge.userId, body, challenge.singleSignOnId);
    return completeChallenge(call, challenge, async () => {
      const factor = await confirmedFactor(call, challenge.userId);
      if (!factor) throw refusedChallenge();
      await acceptCode(call, factor, body, challenge.singleSignOnId);
      await useUp(call, challenge);
    });
  },
});

/** @throws AppError unauthenticated for a challenge that has been answered */
async function useUp({ unit }: Call<unknown>, { id }: Challenge): Promise<void> {
  const isUsed = await takeAttempt(unit, [{ key: `challenge:${id}`, limit: 1 }], challengeLifetimeMs);
  if (isUsed) throw refusedChallenge();
}
