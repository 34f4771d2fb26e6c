import { readdirSync, readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Config } from '#config/objects/root.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { onceForEach } from '#entities/kit/base/once-for-each.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { html } from './html.ts';
import { pageColors } from './page-brand.ts';

const folder = new URL('browser/', import.meta.url);

const scripts: ReadonlyMap<string, Buffer> = new Map(
  readdirSync(folder)
    .filter((name) => name.endsWith('.js'))
    .map((name) => [name, readFileSync(new URL(name, folder))]),
);

const style = readFileSync(new URL('style.css', folder), 'utf8');

/** The colours of the configuration, then the style that uses them. */
const styleOf = onceForEach((config: Config): Buffer => {
  const { scheme = 'light', ...colors } = pageColors(config);
  const properties = Object.entries(colors).map(([name, value]) => `--${name}: ${value};`);
  const shadow = config.integrations.email.CardStyle === 'flat' ? 'none' : '0 2px 12px rgb(20 23 30 / 12%)';
  return Buffer.from(`:root { color-scheme: ${scheme}; ${properties.join(' ')} --shadow: ${shadow}; }\n${style}`);
});

/** A ring on a square in the colours of buttons. */
const iconOf = onceForEach((config: Config): Buffer => {
  const { button = '', 'on-button': mark = '' } = pageColors(config);
  return Buffer.from(
    html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
      <rect width="32" height="32" rx="7" fill="${button}" />
      <circle cx="16" cy="16" r="7.5" fill="none" stroke="${mark}" stroke-width="4.5" />
    </svg>`.text,
  );
});

/** For browsers that ask for no other icon: the same in the colours of the defaults. */
const rasterIcon = readFileSync(new URL('favicon.ico', folder));

const common = {
  method: 'GET',
  tag: 'Pages',
  access: 'anonymous',
  limitClass: 'general',
  sends: ['ETag'],
  errors: [],
} as const;

const answers = (description: string, more: { readonly format?: string } = {}) => ({
  200: Type.String({ description, ...more }),
  304: Type.Null({ description: 'The document has the entity tag of `If-None-Match`.' }),
});

/** Files of the pages besides their documents. All of it comes from this server. */
export const pageFiles: readonly Route[] = [
  defineRoute({
    ...common,
    url: '/pages/style.css',
    operationId: 'getPageStyle',
    summary: 'Style of the pages',
    description: 'Style sheet of the pages for people, in the colours of `integrations.email`.',
    answers: answers('The style sheet.'),
    produces: 'text/css; charset=utf-8',
    handle: ({ services }) => ({ status: 200, document: styleOf(services.config.current) }),
  }),
  defineRoute({
    ...common,
    url: '/pages/:script',
    operationId: 'getPageScript',
    summary: 'Script of a page',
    description: 'Script of the pages for people.',
    params: Type.Object({
      script: Type.String({ minLength: 1, maxLength: 100, examples: ['page.js'], description: 'Name of the file.' }),
    }),
    answers: answers('The script.'),
    produces: 'text/javascript; charset=utf-8',
    errors: ['not_found'],
    handle: ({ params }) => {
      const document = scripts.get(params['script'] ?? '');
      if (!document) throw new AppError('not_found', 'The pages have no script with this name.');
      return { status: 200, document };
    },
  }),
  defineRoute({
    ...common,
    url: '/favicon.svg',
    operationId: 'getIcon',
    summary: 'Icon of the pages',
    description: 'The icon that browsers show for the pages, in the colours of `integrations.email`.',
    answers: answers('The icon.'),
    produces: 'image/svg+xml',
    handle: ({ services }) => ({ status: 200, document: iconOf(services.config.current) }),
  }),
  defineRoute({
    ...common,
    url: '/favicon.ico',
    operationId: 'getRasterIcon',
    summary: 'Icon of the pages, for older browsers',
    description: 'The icon with 16 and 32 pixels.',
    answers: answers('The icon.', { format: 'binary' }),
    produces: 'image/x-icon',
    handle: () => ({ status: 200, document: rasterIcon }),
  }),
];
