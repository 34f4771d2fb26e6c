import type { Static } from 'typebox';
import type { Config } from '#config/objects/root.ts';
import { html } from '../../../pages/html.ts';
import { pageBrand } from '../../../pages/page-brand.ts';
import type { PageContent } from '../../../pages/page-document.ts';
import { buttonLink, step } from '../../../pages/page-parts.ts';
import type { DelegationSchema } from './begin-delegation.ts';

/** Page of a browser in which support access has begun. @param organization its name */
export function supportPage(
  config: Config,
  at: Date,
  organization: string,
  { access_token: token, expires_in: seconds }: Static<typeof DelegationSchema>,
): PageContent {
  const { application } = pageBrand(config, at);
  const title = 'Support access has begun';
  return {
    title,
    content: step({
      name: 'begun',
      title,
      isFirst: true,
      content: html`<p class="done">
          You act in <b>${organization}</b> for ${String(Math.ceil(seconds / 60))} minutes, unless its consent ends
          before.
        </p>
        <div class="field">
          <label for="token">Access token</label>
          <textarea id="token" rows="5" readonly spellcheck="false" aria-describedby="token-hint">${token}</textarea>
          <small id="token-hint" class="hint">
            It is shown once. Copy it into the program with which you work; send it as bearer token.
          </small>
        </div>
        ${application === undefined ? buttonLink('/docs', 'Read the reference of the API') : buttonLink(application.url, application.text)}`,
    }),
  };
}
