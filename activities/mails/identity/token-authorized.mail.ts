import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import { on } from '#entities/kit/model/events.ts';
import { personOfPayload } from '../audience.ts';
import { defineMail } from '../define-mail.ts';

/** A token that reaches more than before is reported like a new one. */
export const tokenAuthorizedMail = defineMail('token-authorized', {
  follows: [on(personalAccessToken, 'authorized')],
  audience: personOfPayload,
  text: {
    subject: 'A token was authorized for single sign-on',
    paragraphs: [
      'One of your personal tokens was authorized in a session of the single sign-on of your organization.',
      'If this was not you, end the authorization in the list of tokens, and contact the administrators of the single sign-on.',
    ],
  },
});
