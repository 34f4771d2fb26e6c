// Pages that the link of a mail opens: the link is checked, and a form confirms.
import {
  complain,
  endOfLink,
  fill,
  find,
  linkToken,
  send,
  show,
  stepOfRefused,
  whenPressed,
  whenSent,
  wordsFor,
} from './page.js';

const { purpose = '' } = document.documentElement.dataset;
const token = linkToken();

/** Checks the link without using it up. */
async function open() {
  if (token === '') return show('invalid');
  const answer = await send('/v1/mailed-links/check', { purpose, token });
  if (answer.ok) {
    if (answer.body.email !== null) fill({ email: answer.body.email });
    return show(answer.body.status === 'usable' ? 'form' : answer.body.status);
  }
  const end = endOfLink(answer);
  if (end === undefined) complain(find('[data-step="failed"]'), wordsFor(answer));
  show(end ?? 'failed');
}

for (const form of document.querySelectorAll('form[data-sends]')) {
  if (!(form instanceof HTMLFormElement)) continue;
  const { sends = '', next = '' } = form.dataset;
  whenSent(form, async (values) => {
    const answer = await send(sends, { token, ...values });
    if (answer.ok) return show(next);
    const end = answer.body.code === 'invalid_input' ? undefined : endOfLink(answer);
    if (end === undefined) complain(form, wordsFor(answer));
    else show(end === 'invalid' ? await stepOfRefused(purpose, token) : end);
  });
}

whenPressed('show-step', (button) => show(button.dataset['to'] ?? ''));
whenPressed('again', () => {
  show('checking');
  void open();
});

void open();
