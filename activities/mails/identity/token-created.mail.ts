import { apiToken } from '#entities/identity/api-token.ts';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail } from '../define-mail.ts';
import { mailedToken, ownersOfToken, sampleToken, tokenAdvice, tokenInWords } from '../mailed-token.ts';

export const tokenCreatedMail = defineMail('token-created', {
  follows: [on(apiToken, 'created'), on(personalAccessToken, 'created')],
  audience: ownersOfToken,
  values: mailedToken,
  text: ({ token }) => ({
    subject: 'A token for programs was created',
    paragraphs: [
      token
        ? `The ${tokenInWords(token)} was created. Its secret ends in ${token.hint}.`
        : 'A token for programs was created. It has been deleted since.',
      tokenAdvice,
    ],
  }),
  sample: { token: sampleToken },
});
