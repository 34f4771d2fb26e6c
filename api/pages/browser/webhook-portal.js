// The portal of webhook endpoints. Values that others have written are shown as text.
import { complain, fill, find, linkToken, send, show, whenPressed, wordsFor } from './page.js';

const { portalHeader = '', endpoints: base = '' } = document.documentElement.dataset;
const token = linkToken();
const list = find('#endpoints');

/** @type {Record<string, string>} */
const states = {
  due: 'being sent',
  delivered: 'delivered',
  failed: 'failed',
  kept: 'kept while the endpoint is disabled',
  withheld: 'not allowed for the endpoint',
};

/**
 * @param {string} path
 * @param {object} [body]
 */
const call = (path, body) => send(base + path, body, { [portalHeader]: token });

/** @param {import('./page.js').Answer} answer */
function refuse(answer) {
  complain(find('[data-step="endpoints"]'), wordsFor(answer));
}

/**
 * @param {string} name
 * @param {...(string | Node)} children
 */
function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

/**
 * A button that says what it has done.
 * @param {string} text
 * @param {() => Promise<void>} work
 */
function button(text, work) {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = 'plain';
  made.textContent = text;
  made.addEventListener('click', async () => {
    complain(find('[data-step="endpoints"]'), '');
    fill({ result: '' });
    await work();
  });
  return made;
}

/** @param {string} instant */
function shownTime(instant) {
  return new Date(instant).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

/**
 * A cell; on a narrow screen, where each row is a card, its title stands above it.
 * @param {string} title
 * @param {string | Node} content
 */
function titled(title, content) {
  const cell = element('td', content);
  cell.dataset['title'] = title;
  return cell;
}

/**
 * How a message stands.
 * @param {{ status: string, attempts: number, due_at: string | null }} message
 */
function shownStatus({ status, attempts, due_at: dueAt }) {
  if (status === 'due' && attempts > 0 && dueAt !== null) return `waiting, next attempt ${shownTime(dueAt)}`;
  return states[status] ?? status;
}

/**
 * A table that can be scrolled with the keyboard where the window is narrow.
 * @param {string} name
 * @param {readonly string[]} columns
 * @param {readonly (readonly (string | Node)[])[]} rows
 */
function table(name, columns, rows) {
  if (rows.length === 0) return element('p', 'There are none yet.');
  const head = columns.map((column) => {
    const cell = document.createElement('th');
    cell.scope = 'col';
    cell.textContent = column;
    return cell;
  });
  const body = rows.map((cells) => element('tr', ...cells.map((cell, index) => titled(columns[index] ?? '', cell))));
  const frame = element('div', element('table', element('thead', element('tr', ...head)), element('tbody', ...body)));
  frame.className = 'table';
  frame.tabIndex = 0;
  frame.setAttribute('role', 'region');
  frame.setAttribute('aria-label', name);
  return frame;
}

/**
 * @param {{ id: string, name: string, url: string, topics: string[], status: string }} endpoint
 */
function shownEndpoint({ id, name, url, topics, status }) {
  const logs = element('div');
  const refresh = async () => {
    const [messages, attempts] = await Promise.all([call(`/${id}/messages`), call(`/${id}/attempts`)]);
    if (!messages.ok) return refuse(messages);
    if (!attempts.ok) return refuse(attempts);
    logs.replaceChildren(
      element('h3', 'Messages'),
      table(
        `Messages to ${name}`,
        ['When', 'Type', 'Id', 'Status', ''],
        messages.body.data.map((/** @type {any} */ one) => [
          shownTime(one.occurred_at),
          one.type,
          one.event_id,
          shownStatus(one),
          button('Send again', () => act(`/${id}/replay`, { event_ids: [one.event_id] }, 'The message is sent again.')),
        ]),
      ),
      element('h3', 'Attempts'),
      table(
        `Attempts to send to ${name}`,
        ['When', 'Type', 'Id', 'HTTP status', 'Problem', 'Response'],
        attempts.body.data.map((/** @type {any} */ one) => [
          shownTime(one.attempted_at),
          one.type,
          one.event_id,
          String(one.status ?? ''),
          one.problem ?? '',
          one.response ?? '',
        ]),
      ),
    );
  };
  /**
   * @param {string} path
   * @param {object} body
   * @param {string} done
   */
  const act = async (path, body, done) => {
    const answer = await call(path, body);
    if (!answer.ok) return refuse(answer);
    fill({ result: done });
    await refresh();
  };
  void refresh();
  const facts = element('dl');
  for (const [label, value] of [
    ['URL', url],
    ['Status', status],
    ['Topics', topics.join(', ')],
  ])
    facts.append(element('dt', label ?? ''), element('dd', value ?? ''));
  const ways = element(
    'p',
    button('Send a test message', () => act(`/${id}/test`, {}, 'A test message is sent.')),
    ' ',
    button('Refresh', refresh),
  );
  ways.className = 'actions';
  const shown = element('section', element('h2', name), facts, ways, logs);
  return shown;
}

async function open() {
  const answer = await call('');
  if (!answer.ok) {
    complain(find('[data-step="ended"]'), wordsFor(answer));
    return show('ended');
  }
  list.replaceChildren(...answer.body.data.map(shownEndpoint));
  if (answer.body.data.length === 0) list.replaceChildren(element('p', 'There are no endpoints.'));
  show('endpoints');
}

whenPressed('again', () => void open());

void open();
