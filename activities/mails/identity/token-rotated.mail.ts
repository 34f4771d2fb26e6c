import { apiToken } from '#entities/identity/api-token.ts';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail } from '../define-mail.ts';
import { mailedToken, ownersOfToken, sampleToken, tokenAdvice, tokenInWords } from '../mailed-token.ts';

export const tokenRotatedMail = defineMail('token-rotated', {
  listener: 'mail-token-created',
  follows: [on(apiToken, 'rotated'), on(personalAccessToken, 'rotated')],
  audience: ownersOfToken,
  values: mailedToken,
  text: ({ token }) => ({
    subject: 'The secret of a token was replaced',
    paragraphs: [
      token
        ? `The secret of the ${tokenInWords(token)} was replaced. The new secret ends in ${token.hint}.`
        : 'The secret of a token for programs was replaced. The token has been deleted since.',
      tokenAdvice,
    ],
  }),
  sample: { token: sampleToken },
});
