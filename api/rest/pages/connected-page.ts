import { html } from '../../pages/html.ts';
import { pageBrand } from '../../pages/page-brand.ts';
import { step, toApplication } from '../../pages/page-parts.ts';
import { pagePaths } from '../../pages/page-paths.ts';
import { pageRoute } from '../../pages/page-route.ts';

const title = 'The integration is connected';

export const connectedPage = pageRoute({
  url: pagePaths.connected,
  operationId: 'showConnectedPage',
  summary: 'Page after an integration was connected',
  description:
    'Page to which the browser goes after a sign-in at the other system, while no user interface is configured (ormconfig.notifications.consoleurl).',
  page: (config, at) => ({
    title,
    content: step({
      name: 'done',
      title,
      isFirst: true,
      content: html`<p class="done">Records come in from now on. You can close this page.</p>
        ${toApplication(pageBrand(config, at))}`,
    }),
  }),
});
