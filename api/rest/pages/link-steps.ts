import { html, type Html } from '../../pages/html.ts';
import { action, checkingStep, step } from '../../pages/page-parts.ts';

interface LinkSteps {
  /** Advice for a person whose link has expired; undefined for links that do not expire. */
  readonly expired: Html | undefined;
  /** The same for a link that is not valid, or that a newer one has replaced. */
  readonly ended: Html;
  /** Text of the page about a link that was used; undefined for links that work again and again. */
  readonly used?: { readonly title: string; readonly content: Html };
}

/** Steps of the page of a mailed link while the link is checked, and when it cannot be used. */
export function linkSteps({ expired, ended, used }: LinkSteps): Html {
  return html`${checkingStep('The link is checked.')}
  ${expired && step({ name: 'expired', title: 'This link has expired', content: expired })}
  ${
    used &&
    html`${step({ name: 'used', ...used })}
    ${step({
      name: 'replaced',
      title: 'There is a newer link',
      content: html`<p>We have sent another e-mail since. Open the link of the newest one.</p>
        ${ended}`,
    })}`
  }
  ${step({
    name: 'invalid',
    title: 'This link does not work',
    content: html`<p>It is not complete, or is no longer valid. If you copied it, copy all of it.</p>
      ${ended}`,
  })}
  ${step({
    name: 'failed',
    title: 'This link could not be checked',
    content: html`<p class="problem" role="alert"></p>
      <p>${action('again', 'Try again')}</p>`,
  })}`;
}
