// Common parts of the scripts of all pages: requests, steps, forms, and the words for errors.

/**
 * An answer of the server.
 * @typedef {object} Answer
 * @property {boolean} ok whether the request succeeded
 * @property {any} body JSON of the answer; empty for one without
 * @property {string} requestId empty without an answer
 * @property {number} retryAfter seconds that the answer asks to wait; 0 for none
 */

const { csrfCookie = '', csrfHeader = '' } = document.documentElement.dataset;

/** @type {Record<string, string>} */
const words = JSON.parse(find('#words').textContent ?? '{}');

/**
 * An element that the page has.
 * @param {string} selector
 * @param {ParentNode} [within]
 * @returns {HTMLElement}
 */
export function find(selector, within = document) {
  const found = within.querySelector(selector);
  if (!(found instanceof HTMLElement)) throw new Error(`the page has no ${selector}`);
  return found;
}

/** The token of the CSRF cookie. */
function csrfToken() {
  const entry = document.cookie.split('; ').find((each) => each.startsWith(`${csrfCookie}=`));
  return decodeURIComponent(entry?.slice(csrfCookie.length + 1) ?? '');
}

/**
 * Sends a request, or reads with GET if there is no body. A token that was exchanged meanwhile, in another tab for example, is read again.
 * @param {string} path
 * @param {object} [body]
 * @param {Record<string, string>} [headers]
 * @returns {Promise<Answer>}
 */
export async function send(path, body, headers = {}) {
  const answer = await request(path, body, headers);
  const isOutdated = !answer.ok && ['csrf_token_missing', 'csrf_token_invalid'].includes(answer.body.code);
  if (!isOutdated) return answer;
  await request('/livez', undefined, {});
  return request(path, body, headers);
}

/**
 * @param {string} path
 * @param {object | undefined} body
 * @param {Record<string, string>} headers
 * @returns {Promise<Answer>}
 */
async function request(path, body, headers) {
  try {
    const response = await fetch(path, body === undefined ? { headers } : post(body, headers));
    const text = await response.text();
    return {
      ok: response.ok,
      body: response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : {},
      requestId: response.headers.get('x-request-id') ?? '',
      retryAfter: Number(response.headers.get('retry-after') ?? 0),
    };
  } catch {
    // Scripts do not learn the reason.
    return { ok: false, body: {}, requestId: '', retryAfter: 0 };
  }
}

/**
 * Routes that take no body refuse an empty one, too.
 * @param {object} body
 * @param {Record<string, string>} headers
 * @returns {RequestInit}
 */
function post(body, headers) {
  const sent = { [csrfHeader]: csrfToken(), ...headers };
  if (Object.keys(body).length === 0) return { method: 'POST', headers: sent };
  return { method: 'POST', headers: { 'content-type': 'application/json', ...sent }, body: JSON.stringify(body) };
}

/**
 * Text of a page about a refused request.
 * @param {Answer} answer
 * @returns {string}
 */
export function wordsFor({ body, requestId, retryAfter }) {
  if (requestId === '') return words['unreachable'] ?? '';
  const text = words[body.code] ?? words['unknown'] ?? '';
  return text.replace('{time}', waitOf(retryAfter)).replace('{request}', requestId);
}

/** @param {number} seconds */
function waitOf(seconds) {
  if (seconds <= 0) return 'later';
  const minutes = Math.ceil(seconds / 60);
  return minutes === 1 ? 'in a minute' : `in ${minutes} minutes`;
}

/**
 * Shows a step of the page and nothing else. Its heading gets the focus, so that readers of screens begin there.
 * @param {string} name
 * @param {Record<string, string>} [values] texts of the elements that name them
 */
export function show(name, values = {}) {
  for (const each of document.querySelectorAll('[data-step]'))
    if (each instanceof HTMLElement) each.hidden = each.dataset['step'] !== name;
  fill(values);
  const heading = find(`[data-step="${name}"] h1`);
  heading.focus();
  document.title = [heading.textContent, ...document.title.split(' · ').slice(1)].join(' · ');
}

/**
 * Writes texts into the elements that name them.
 * @param {Record<string, string>} values
 */
export function fill(values) {
  for (const [name, value] of Object.entries(values)) {
    for (const each of document.querySelectorAll(`[data-fill="${name}"]`)) each.textContent = value;
    for (const each of document.querySelectorAll(`input[data-shows="${name}"]`))
      if (each instanceof HTMLInputElement) each.value = value;
  }
}

/**
 * The token of the link that opened the page: in the fragment of the address, which browsers do not send to servers. Links that programs
 * follow have it in the query.
 * @returns {string} empty for an incomplete link
 */
export function linkToken() {
  const parts = [location.hash.slice(1), location.search.slice(1)];
  return parts.map((part) => new URLSearchParams(part).get('token') ?? '').find((token) => token !== '') ?? '';
}

/**
 * The step for the reason why a link has ended; undefined for other problems.
 * @param {Answer} answer
 */
export function endOfLink({ body: { code } }) {
  if (code === 'token_expired') return 'expired';
  return code === 'invalid_token' || code === 'invalid_input' ? 'invalid' : undefined;
}

/**
 * The step that says why a link is refused, where the server knows it.
 * @param {string} purpose
 * @param {string} token
 * @returns {Promise<string>}
 */
export async function stepOfRefused(purpose, token) {
  const { ok, body } = await send('/v1/mailed-links/check', { purpose, token });
  return ok && body.status !== 'usable' ? body.status : 'invalid';
}

/**
 * @param {string} name
 * @returns {HTMLFormElement}
 */
export function formNamed(name) {
  return /** @type {HTMLFormElement} */ (find(`[data-form="${name}"]`));
}

/**
 * Values of a form, without empty fields.
 * @param {HTMLFormElement} form
 * @returns {Record<string, string>}
 */
export function valuesOf(form) {
  const entries = [...new FormData(form)].flatMap(([name, value]) =>
    typeof value === 'string' && value !== '' ? [[name, value]] : [],
  );
  return Object.fromEntries(entries);
}

/**
 * Says below the fields of a form what went wrong.
 * @param {HTMLElement} form
 * @param {string} text empty for nothing
 * @param {HTMLElement} [more] a way on
 */
export function complain(form, text, more) {
  const shown = find('.problem', form);
  shown.replaceChildren(text, ...(more ? [' ', more] : []));
  shown.hidden = text === '';
}

/**
 * Does what a form asks for, once at a time. Fields that lack something are named before.
 * @param {HTMLFormElement} form
 * @param {(values: Record<string, string>) => Promise<void>} work
 */
export function whenSent(form, work) {
  const button = find('button:not([type])', form);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.getAttribute('aria-disabled') === 'true') return;
    complain(form, '');
    if (!isComplete(form)) return;
    button.setAttribute('aria-disabled', 'true');
    await work(valuesOf(form));
    button.removeAttribute('aria-disabled');
  });
}

/** @param {HTMLFormElement} form */
function isComplete(form) {
  const inputs = [...form.querySelectorAll('input')];
  for (const input of inputs) input.setAttribute('aria-invalid', String(!input.validity.valid));
  const first = inputs.find((input) => !input.validity.valid);
  if (!first) return true;
  const label = form.querySelector(`label[for="${first.id}"]`)?.textContent ?? '';
  const what = first.validity.valueMissing
    ? `Enter: ${label}.`
    : 'Enter a complete e-mail address, such as you@example.com.';
  complain(form, what);
  first.focus();
  return false;
}

/**
 * A link.
 * @param {string} url
 * @param {string} text
 */
export function linkTo(url, text) {
  const link = document.createElement('a');
  link.href = url;
  link.textContent = text;
  return link;
}

/**
 * Does something when a button is pressed.
 * @param {string} name
 * @param {(button: HTMLElement) => void} work
 */
export function whenPressed(name, work) {
  for (const button of document.querySelectorAll(`[data-does="${name}"]`))
    if (button instanceof HTMLElement) button.addEventListener('click', () => work(button));
}

for (const button of document.querySelectorAll('[data-reveals]')) {
  const input = document.getElementById(button.getAttribute('data-reveals') ?? '');
  button.addEventListener('click', () => {
    const isShown = input?.getAttribute('type') === 'text';
    input?.setAttribute('type', isShown ? 'password' : 'text');
    button.textContent = isShown ? 'Show' : 'Hide';
    button.setAttribute('aria-label', isShown ? 'Show the password' : 'Hide the password');
  });
}
