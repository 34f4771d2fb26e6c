// Signing in, on whichever page: with a password, a passkey, a provider or single sign-on, and with a second factor.
import { complain, find, formNamed, linkTo, send, show, whenPressed, whenSent, wordsFor } from './page.js';

/** Where the id of an organization is kept for the next single sign-on in this browser. */
const organizationKey = 'single-sign-on';

/** Whether the browser can use passkeys, with the options as the server sends them. */
const knowsPasskeys = 'parseRequestOptionsFromJSON' in (globalThis.PublicKeyCredential ?? {});

let challenge = '';

/**
 * Makes the steps of the sign-in work.
 * @param {object} options
 * @param {() => string} options.email the address whose password is asked for
 * @param {() => Promise<void>} options.onSignedIn what follows
 * @param {() => void} [options.before] runs before the browser leaves for a provider
 */
export function enableSignIn({ email, onSignedIn, before = () => {} }) {
  const form = formNamed('sign-in');

  /** @param {import('./page.js').Answer} answer */
  const finish = async (answer) => {
    if (!answer.ok) return refuse(form, answer);
    if (!answer.body.mfa_required) return onSignedIn();
    challenge = answer.body.challenge_token;
    show('code');
  };

  whenSent(form, async ({ password }) => finish(await send('/v1/login', { username: email(), password })));
  for (const button of document.querySelectorAll('[data-does="passkey"]'))
    button.toggleAttribute('hidden', !knowsPasskeys);
  whenPressed('passkey', async () => {
    complain(form, '');
    const options = await send('/v1/authentication/options', {});
    if (!options.ok) return refuse(form, options);
    const credential = await chosenPasskey(options.body.publicKey);
    if (credential) await finish(await send('/v1/authentication/verification', credential));
  });

  for (const name of ['code', 'recovery'])
    whenSent(formNamed(name), async (values) => {
      const answer = await send('/v1/2fa/validate', { challenge_token: challenge, ...values });
      if (answer.ok) return onSignedIn();
      if (answer.body.code !== 'unauthenticated') return refuse(formNamed(name), answer);
      show('sign-in');
      complain(form, 'This took too long. Sign in again.');
    });
  whenPressed('show-step', (button) => {
    if (button.dataset['to'] === 'single-sign-on') inputOf('single-sign-on').value ||= email();
    show(button.dataset['to'] ?? '');
  });

  for (const link of document.querySelectorAll('a[data-leaves]')) link.addEventListener('click', before);
  inputOf('organization').value = localStorage.getItem(organizationKey) ?? '';
  /** @param {string} id of the organization at whose provider the sign-in begins */
  const leave = (id) => {
    localStorage.setItem(organizationKey, id);
    before();
    const url = new URL(document.documentElement.dataset['singleSignOn'] ?? '');
    url.searchParams.set('organization_id', id);
    location.assign(url);
  };
  whenSent(formNamed('organization'), async ({ organization_id: entered = '' }) => leave(idIn(entered)));
  whenSent(formNamed('single-sign-on'), async (values) => {
    const answer = await send('/v1/sso/discover', values);
    if (!answer.ok) return refuse(formNamed('single-sign-on'), answer);
    /** @type {SignOn[]} */
    const [first, ...others] = answer.body.sign_ons;
    if (first === undefined) return complain(formNamed('single-sign-on'), noSignOn);
    if (others.length === 0) return leave(first.organization_id);
    find('#sign-ons').replaceChildren(...[first, ...others].map((each) => buttonFor(each, leave)));
    show('sign-ons');
  });
}

/** @typedef {{ organization_id: string, provider: string }} SignOn an organization with its provider */

const noSignOn =
  'No single sign-on is known for this address. Use the id or the link of your organization, or sign in in another way.';

/**
 * A button that begins a sign-in. The id distinguishes organizations with one provider.
 * @param {SignOn} signOn
 * @param {(id: string) => void} leave
 */
function buttonFor({ organization_id: id, provider }, leave) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'second';
  const isLast = id === localStorage.getItem(organizationKey);
  const small = document.createElement('small');
  small.textContent = isLast ? `${id}, used last in this browser` : id;
  button.append(provider, document.createElement('br'), small);
  button.addEventListener('click', () => leave(id));
  return button;
}

/**
 * The only input of a form.
 * @param {string} form
 */
function inputOf(form) {
  return /** @type {HTMLInputElement} */ (find('input', formNamed(form)));
}

/** Whether a provider has sent the browser back to be asked for a second factor: the challenge is in the fragment of the address. */
export function resumesChallenge() {
  challenge = new URLSearchParams(location.hash.slice(1)).get('challenge_token') ?? '';
  if (challenge === '') return false;
  // It is in no address that is kept or copied.
  history.replaceState(null, '', location.pathname + location.search);
  show('code');
  return true;
}

/**
 * The address of whoever is signed in in this browser; undefined for nobody.
 * @returns {Promise<string | undefined>}
 */
export async function signedInAs() {
  return (await userInfo())?.email;
}

/**
 * The claims of whoever is signed in.
 * @returns {Promise<{ email: string, organization_id?: string | null } | undefined>} undefined for nobody
 */
export async function userInfo() {
  const { ok, body } = await send('/v1/account/userinfo');
  return ok ? body : undefined;
}

/**
 * @param {HTMLFormElement} form
 * @param {import('./page.js').Answer} answer
 */
function refuse(form, answer) {
  const { code, sign_in_url: url } = answer.body;
  const way = code === 'single_sign_on_required' && url ? linkTo(url, 'Continue with single sign-on') : undefined;
  complain(form, (code === 'invalid_credentials' && form.dataset['wrong']) || wordsFor(answer), way);
}

/**
 * @param {PublicKeyCredentialRequestOptionsJSON} options
 * @returns {Promise<object | undefined>} undefined if nobody chose one
 */
async function chosenPasskey(options) {
  try {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    const credential = await navigator.credentials.get({ publicKey });
    return credential instanceof PublicKeyCredential ? credential.toJSON() : undefined;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    complain(formNamed('sign-in'), 'No passkey was chosen. Try again, or sign in in another way.');
    return undefined;
  }
}

/**
 * The id of an organization, also from the complete link.
 * @param {string} entered
 */
function idIn(entered) {
  const text = entered.trim();
  return (URL.canParse(text) && new URL(text).searchParams.get('organization_id')) || text;
}
