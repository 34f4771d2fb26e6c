import type { ErrorAnswer } from '../http/request-context.ts';
import type { Route } from '../http/route.ts';
import { html } from './html.ts';
import { pageDocument, pagePolicy } from './page-document.ts';
import { pageBrand } from './page-brand.ts';
import { buttonLink, step } from './page-parts.ts';
import { pagePaths } from './page-paths.ts';
import { htmlType, wantsPage } from './page-route.ts';
import { pageWords, unknownError, type PageWords } from './page-words.ts';

const signInWords: PageWords = {
  not_found: 'This way to sign in does not exist here. Check the address that you opened.',
  invalid_input: 'The address that you opened is not complete. Begin again.',
  invalid_credentials: 'This account cannot sign in at the moment.',
  already_exists: 'This account of the provider is linked to another account here.',
};

/** Also of what a signed-in person does at a provider: linking an account, a test. */
const refused = 'This did not work';

type Refusal = NonNullable<Route['errorAnswer']>;

/** How a sign-in in a browser is refused: with a page. Programs get a problem document. */
export const signInRefusal: Refusal = (...call) => refusalPage(signInWords, 'Back to the sign-in', ...call);

/** How a page for people who are signed in is refused, likewise. @param words what it says in place of the usual words */
export const pageRefusal =
  (words: PageWords): Refusal =>
  (...call) =>
    refusalPage(words, 'Sign in', ...call);

function refusalPage(
  words: PageWords,
  toSignIn: string,
  ...[error, request, { config, clock }]: Parameters<Refusal>
): ErrorAnswer | undefined {
  if (!wantsPage(request)) return undefined;
  const [current, at] = [config.current, clock.now()];
  const { code, details } = error;
  const text = words[code] ?? (pageWords as PageWords)[code] ?? unknownError(pageBrand(current, at).supportEmail);
  const minutes = Math.ceil((details.retryAfterSeconds ?? 60) / 60);
  const shown = text
    .replace('{request}', request.id)
    .replace('{time}', minutes === 1 ? 'in a minute' : `in ${minutes} minutes`);
  const onward =
    details.signInUrl === undefined
      ? buttonLink(pagePaths.signIn, toSignIn)
      : buttonLink(details.signInUrl, 'Continue with single sign-on');
  const body = pageDocument(current, at, {
    title: refused,
    content: step({
      name: 'refused',
      title: refused,
      isFirst: true,
      content: html`<p class="problem" role="alert">${shown}</p>
        ${onward}`,
    }),
  });
  return {
    type: htmlType,
    // Fastify sends bytes unchanged.
    body: Buffer.from(body),
    headers: { 'content-security-policy': pagePolicy(current, at) },
  };
}
