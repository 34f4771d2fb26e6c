import { publicApiUrl } from '#config/objects/public-api-url.ts';
import type { Config } from '#config/objects/root.ts';
import { html } from '../../pages/html.ts';
import { pageBrand } from '../../pages/page-brand.ts';
import { action, buttonLink, checkingStep, emailField, filled, link, onward, step } from '../../pages/page-parts.ts';
import { pagePaths } from '../../pages/page-paths.ts';
import { pageRoute } from '../../pages/page-route.ts';
import { signInSteps, signInUrl } from './sign-in-steps.ts';

export const signInPage = pageRoute({
  url: pagePaths.signIn,
  operationId: 'showSignInPage',
  summary: 'Page where people sign in',
  description:
    'Page with a form that signs in with POST /v1/login and /v1/2fa/validate, with a passkey, at the configured providers, or with the single sign-on of an organization. It shows who is signed in, and signs out.',
  page: (config, at) => {
    const { application } = pageBrand(config, at);
    const returnTo = endsElsewhere(config) ? undefined : pagePaths.signIn;
    return {
      title: 'Sign in',
      script: 'sign-in',
      data: { singleSignOn: signInUrl(config, '/v1/sso/login', returnTo) },
      isSignIn: true,
      words: {
        invalid_credentials:
          'This did not work. Check what you entered. If you have just signed up, confirm your address first, with the link in our e-mail.',
      },
      content: html`${checkingStep('We check whether you are signed in.')}
      ${signInSteps({
        config,
        title: 'Sign in',
        email: emailField('sign-in', { name: 'username' }),
        button: 'Sign in',
        returnTo,
        others: [
          link(pagePaths.forgotPassword, 'Forgot your password?'),
          link(pagePaths.resend, 'No e-mail to confirm your address?'),
          html`New here? ${link(pagePaths.signUp, 'Sign up')}`,
        ],
      })}
      ${step({
        name: 'signed-in',
        title: 'You are signed in',
        content: html`<p class="done">Signed in as ${filled('email')}<span data-fill="within"></span>.</p>
          ${application === undefined ? buttonLink('/docs', 'Read the reference of the API') : buttonLink(application.url, application.text)}
          ${onward(action('sign-out', 'Sign out'))}`,
      })}`,
    };
  },
});

/** Whether the configuration sends people to a page of another server after a sign-in at a provider. */
function endsElsewhere(config: Config): boolean {
  const { redirecturl } = config.auth.providers;
  return redirecturl !== '' && new URL(redirecturl).origin !== new URL(publicApiUrl(config)).origin;
}
