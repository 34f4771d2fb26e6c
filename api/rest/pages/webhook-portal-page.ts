import { html } from '../../pages/html.ts';
import { action, checkingStep, step } from '../../pages/page-parts.ts';
import { pageRoute } from '../../pages/page-route.ts';
import { portalAccess, portalHeader, portalUrl } from '../webhooks/portal-caller.ts';

export const webhookPortalPage = pageRoute({
  url: portalUrl,
  operationId: 'showWebhookPortal',
  tag: portalAccess.tag,
  summary: 'Portal of webhook endpoints',
  description: 'Page that a link to the portal opens. It shows endpoints, messages and attempts.',
  page: () => ({
    title: 'Webhook endpoints',
    script: 'webhook-portal',
    isWide: true,
    data: { portalHeader, endpoints: `${portalUrl}/endpoints` },
    words: {
      unauthenticated: 'This link has ended, or is not complete. Ask the person who gave it to you for another one.',
      permission_denied: 'This link has ended. Ask the person who gave it to you for another one.',
      not_found: 'This no longer exists. Load the page again.',
    },
    content: html`${checkingStep('The link is checked.')}
    ${step({
      name: 'endpoints',
      title: 'Webhook endpoints',
      content: html`<p role="status" data-fill="result"></p>
        <p class="problem" role="alert" hidden></p>
        <div id="endpoints"></div>
        <p>${action('again', 'Load again')}</p>`,
    })}
    ${step({
      name: 'ended',
      title: 'This link does not work',
      content: html`<p class="problem" role="alert"></p>
        <p>A link works for one hour. A manager of the endpoints of the organization can create another one.</p>
        <p>${action('again', 'Try again')}</p>`,
    })}`,
  }),
});
