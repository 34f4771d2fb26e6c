// The page where people sign in.
import { find, formNamed, send, show, valuesOf, whenPressed } from './page.js';
import { enableSignIn, resumesChallenge, signedInAs } from './sign-in-steps.js';

async function open() {
  if (resumesChallenge()) return;
  const email = await signedInAs();
  if (email !== undefined) return show('signed-in', { email });
  show('sign-in');
  find('input', formNamed('sign-in')).focus();
}

enableSignIn({ email: () => valuesOf(formNamed('sign-in'))['username'] ?? '', onSignedIn: open });
whenPressed('sign-out', async () => {
  await send('/v1/logout', {});
  await open();
});

void open();
