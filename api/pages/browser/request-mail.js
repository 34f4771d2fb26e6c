// Pages that ask for a mail: sign-up, a new password, a new link. The answer is the same for every address.
import { complain, formNamed, send, show, whenPressed, whenSent, wordsFor } from './page.js';

const form = formNamed('request');

whenSent(form, async (values) => {
  const answer = await send(location.pathname, values);
  if (answer.ok) show('sent', { email: values['email'] ?? '' });
  else complain(form, wordsFor(answer));
});
whenPressed('show-step', (button) => show(button.dataset['to'] ?? ''));
