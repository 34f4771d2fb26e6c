// The page that ends e-mails, and takes that back.
import {
  complain,
  endOfLink,
  fill,
  find,
  formNamed,
  linkToken,
  send,
  show,
  whenPressed,
  whenSent,
  wordsFor,
} from './page.js';

const token = linkToken();

/** The steps for what has ended already. */
const steps = { nothing: 'form', topics: 'ended', organization: 'ended-all' };

/**
 * Names address, organization and topics of the link.
 * @returns {Promise<keyof typeof steps | undefined>} what has ended; undefined for a link that does not work
 */
async function look() {
  const answer = await send('/v1/unsubscribe/show', { token });
  if (answer.ok) {
    const { email, organization, topics, ended } = answer.body;
    const names = topics.map((/** @type {{ name: string }} */ { name }) => name).join(' and ');
    // Without topics, both buttons would do the same.
    formNamed('topics').hidden = names === '';
    fill({
      email: email ?? 'the present address of this person',
      organization,
      about: names === '' ? 'e-mails' : `e-mails about ${names}`,
    });
    return ended;
  }
  const end = endOfLink(answer);
  if (end === undefined) complain(find('[data-step="failed"]'), wordsFor(answer));
  show(end ?? 'failed');
  return undefined;
}

async function open() {
  if (token === '') return show('invalid');
  const ended = await look();
  if (ended !== undefined) show(steps[ended]);
}

/**
 * @param {string} name of the form
 * @param {string} path
 * @param {object} values
 * @param {() => Promise<void>} next
 */
function whenAsked(name, path, values, next) {
  whenSent(formNamed(name), async () => {
    const answer = await send(path, { token, ...values });
    if (answer.ok) return next();
    complain(formNamed(name), wordsFor(answer));
  });
}

async function resume() {
  const ended = await look();
  if (ended !== undefined) show(ended === 'nothing' ? 'resumed' : 'blocked');
}

whenAsked('topics', '/v1/unsubscribe', { scope: 'topics' }, open);
for (const name of ['all', 'all-later']) whenAsked(name, '/v1/unsubscribe', { scope: 'organization' }, open);
for (const name of ['undo', 'undo-all']) whenAsked(name, '/v1/unsubscribe/undo', {}, resume);
whenPressed('again', () => {
  show('checking');
  void open();
});

void open();
