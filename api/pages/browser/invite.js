// The page of an invitation.
import {
  complain,
  endOfLink,
  fill,
  find,
  formNamed,
  linkToken,
  send,
  show,
  stepOfRefused,
  whenPressed,
  whenSent,
  wordsFor,
} from './page.js';
import { enableSignIn, resumesChallenge, signedInAs } from './sign-in-steps.js';

/** Where the token waits while the browser is at a provider. */
const tokenKey = 'invite-token';

const token = linkToken() || (sessionStorage.getItem(tokenKey) ?? '');
sessionStorage.removeItem(tokenKey);

/** The address that is invited. */
let email = '';
/** The step that fits whoever has opened the page. */
let fitting = 'sign-up';

async function open() {
  if (token === '') return show('invalid');
  const answer = await send('/v1/invite', { token });
  if (!answer.ok) return refuse(find('[data-step="failed"]'), answer, 'failed');
  const { email: invited, has_account: hasAccount, organization, role, invited_by: inviter } = answer.body;
  email = invited;
  fill({ email, organization, role, invited_by: inviter ?? 'The organization' });
  const signedIn = await signedInAs();
  fill({ signed_in: signedIn ?? '' });
  const without = hasAccount ? 'sign-in' : 'sign-up';
  fitting = signedIn === undefined ? without : signedIn === email ? 'accept' : 'other';
  if (!resumesChallenge()) show(fitting);
}

/** Accepts on behalf of whoever is signed in now, and continues in the organization. */
async function accept() {
  if ((await signedInAs()) !== email) return open();
  const answer = await send('/v1/invite/accept', { token });
  if (answer.ok) return enter(answer.body.organization_id);
  show('accept');
  await refuse(formNamed('accept'), answer);
}

/** @param {string} organizationId */
async function enter(organizationId) {
  const answer = await send('/v1/switch', { target_organization_id: organizationId });
  show('joined');
  if (!answer.ok) complain(find('[data-step="joined"]'), wordsFor(answer));
}

/**
 * Says why a request was refused: as a step, if the link has ended.
 * @param {HTMLElement} form
 * @param {import('./page.js').Answer} answer
 * @param {string} [step] shown in place of the present one
 */
async function refuse(form, answer, step) {
  const end = answer.body.code === 'invalid_input' && step === undefined ? undefined : endOfLink(answer);
  if (end !== undefined) return show(end === 'invalid' ? await stepOfRefused('invite', token) : end);
  complain(form, wordsFor(answer));
  if (step !== undefined) show(step);
}

enableSignIn({ email: () => email, onSignedIn: accept, before: () => sessionStorage.setItem(tokenKey, token) });
whenSent(formNamed('accept'), accept);
whenSent(formNamed('sign-out'), async () => {
  await send('/v1/logout', {});
  await open();
});
whenSent(formNamed('sign-up'), async (values) => {
  const answer = await send('/v1/register', { ...values, email, invite_token: token });
  if (!answer.ok) return refuse(formNamed('sign-up'), answer);
  const signedIn = await send('/v1/login', { username: email, password: values['password'] });
  show('joined');
  if (!signedIn.ok) complain(find('[data-step="joined"]'), wordsFor(signedIn));
});
whenSent(formNamed('decline'), async () => {
  const answer = await send('/v1/invite/decline', { token });
  if (answer.ok) show('declined');
  else await refuse(formNamed('decline'), answer);
});
whenPressed('back', () => show(fitting));
whenPressed('again', () => {
  show('checking');
  void open();
});

void open();
