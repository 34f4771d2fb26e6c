import { Type } from 'typebox';

export const EmailSchema = Type.String({
  format: 'email',
  minLength: 3,
  maxLength: 254,
  description: 'E-mail address.',
});

export const MessageSchema = Type.Object(
  {
    message: Type.String({ description: 'What happened, as text for people.' }),
  },
  { title: 'Message', description: 'What happened.' },
);
