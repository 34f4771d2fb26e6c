import { html } from '../../pages/html.ts';
import { pageBrand } from '../../pages/page-brand.ts';
import { action, filled, form, step, toApplication } from '../../pages/page-parts.ts';
import { pageRoute } from '../../pages/page-route.ts';
import { linkSteps } from './link-steps.ts';

const subscribeUrl = '/v1/subscribe/verify';
const unsubscribeUrl = '/v1/unsubscribe';
const ended = html`<p>Ask the organization to send the e-mail again.</p>`;

export const subscriptionPage = pageRoute({
  url: subscribeUrl,
  operationId: 'showSubscriptionPage',
  summary: 'Page that confirms a subscription',
  description:
    'Page that the link of a verification e-mail opens. It verifies the address with POST /v1/subscribe/verify.',
  page: (config, at) => ({
    title: 'Confirm your subscription',
    script: 'mailed-link',
    data: { purpose: 'subscriber-verification' },
    words: { limit_exceeded: 'No more links can be sent to this address. Ask the organization for help.' },
    content: html`${linkSteps({
      expired: form({
        name: 'renew',
        fields: [],
        button: 'Send me a new link',
        sends: { to: subscribeUrl, next: 'renewed' },
      }),
      ended: html`${ended}${toApplication(pageBrand(config, at))}`,
      used: {
        title: 'Your subscription is confirmed',
        content: html`<p>There is nothing left to do, unless you have unsubscribed meanwhile.</p>
          ${toApplication(pageBrand(config, at))}`,
      },
    })}
    ${step({
      name: 'form',
      title: 'Confirm your subscription',
      content: html`<p>${filled('email')} gets the e-mails of the organization then.</p>
        ${form({ name: 'confirm', fields: [], button: 'Confirm', sends: { to: subscribeUrl, next: 'done' } })}`,
    })}
    ${step({
      name: 'done',
      title: 'Your subscription is confirmed',
      content: html`<p class="done">
          ${filled('email')} gets the e-mails from now on. Each e-mail has a link to unsubscribe.
        </p>
        ${toApplication(pageBrand(config, at))}`,
    })}
    ${step({
      name: 'renewed',
      title: 'Check your mailbox',
      content: html`<p class="done">We sent a new link to ${filled('email')}.</p>
        ${toApplication(pageBrand(config, at))}`,
    })}`,
  }),
});

const isAbout = html`${filled('about', 'e-mails')} to ${filled('email')}`;
const security = html`<p>E-mails about the security of your account are sent nevertheless.</p>`;

export const unsubscribePage = pageRoute({
  url: unsubscribeUrl,
  operationId: 'showUnsubscribePage',
  summary: 'Page to unsubscribe',
  description:
    'Page that the link at the end of e-mails opens. It names address, organization and topics with POST /v1/unsubscribe/show, ends e-mails with POST /v1/unsubscribe, and takes that back with POST /v1/unsubscribe/undo.',
  page: (config, at) => ({
    title: 'Unsubscribe',
    script: 'unsubscribe',
    content: html`${linkSteps({
      expired: undefined,
      ended: html`<p>Use the link of another e-mail of the organization.</p>
        ${toApplication(pageBrand(config, at))}`,
    })}
    ${step({
      name: 'form',
      title: 'Unsubscribe',
      content: html`<p>${filled('organization')} sends ${isAbout}.</p>
        ${form({ name: 'topics', fields: [], button: 'Unsubscribe from these e-mails' })}
        ${form({ name: 'all', fields: [], button: 'Unsubscribe from all e-mails of this organization' })}`,
    })}
    ${step({
      name: 'ended',
      title: 'You are unsubscribed',
      content: html`<p class="done">${filled('organization')} sends no more ${isAbout}.</p>
        ${form({ name: 'undo', fields: [], button: 'Receive these e-mails again' })}
        ${form({ name: 'all-later', fields: [], button: 'Unsubscribe from all e-mails of this organization' })}`,
    })}
    ${step({
      name: 'ended-all',
      title: 'You are unsubscribed',
      content: html`<p class="done">${filled('organization')} sends no more e-mails to ${filled('email')}.</p>
        ${security} ${form({ name: 'undo-all', fields: [], button: 'Receive e-mails again' })}`,
    })}
    ${step({
      name: 'resumed',
      title: 'You receive these e-mails again',
      content: html`<p class="done">${filled('organization')} sends ${isAbout} again.</p>
        ${toApplication(pageBrand(config, at))}`,
    })}
    ${step({
      name: 'blocked',
      title: 'No e-mails are sent to this address',
      content: html`<p>
          ${filled('organization')} cannot send e-mails to ${filled('email')}: the address is blocked for another
          reason. Ask the organization to release it.
        </p>
        <p>${action('again', 'Check again')}</p>`,
    })}`,
  }),
});
