// The page where people sign in.
import { find, formNamed, send, show, valuesOf, whenPressed } from './page.js';
import { enableSignIn, resumesChallenge, userInfo } from './sign-in-steps.js';

async function open() {
  if (resumesChallenge()) return;
  const person = await userInfo();
  if (person !== undefined) return show('signed-in', { email: person.email, within: await within(person) });
  show('sign-in');
  find('input', formNamed('sign-in')).focus();
}

/**
 * Where a person acts, as the end of a sentence; empty where this is not known.
 * @param {{ organization_id?: string | null }} person
 */
async function within({ organization_id: id }) {
  const { ok, body } = id ? await send(`/v1/organizations/${id}`) : { ok: false, body: {} };
  return ok ? `, in the organization ${body.name}` : '';
}

enableSignIn({ email: () => valuesOf(formNamed('sign-in'))['username'] ?? '', onSignedIn: open });
whenPressed('sign-out', async () => {
  await send('/v1/logout', {});
  await open();
});

void open();
