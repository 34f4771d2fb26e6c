import type { FastifyInstance } from 'fastify';
import type { GraphiQLOptions } from 'graphql-yoga';
import { escapeHtml } from '#entities/kit/base/escape-html.ts';

/** Folder of the files of GraphiQL. */
const base = '/graphiql';

/** The policy of the page: only files of this server. The editor sets inline styles and has its images and fonts in its style sheet. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const graphiqlHeaders = { 'content-security-policy': contentSecurityPolicy, 'cache-control': 'no-store' };

/** Starts GraphiQL with the options of the page. The editor loads its workers by name. */
const startScript = `'use strict';
const workers = {
  editorWorkerService: '${base}/editor.worker.js',
  json: '${base}/json.worker.js',
  graphql: '${base}/graphql.worker.js',
};
self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_module, label) => workers[label] };
YogaGraphiQL.renderYogaGraphiQL(
  document.getElementById('root'),
  JSON.parse(document.getElementById('options').textContent),
);
`;

/** The page of GraphiQL. It loads nothing from other servers, so it works without internet. */
export function graphiqlPage(options: GraphiQLOptions = {}): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escapeHtml(options.title ?? 'GraphiQL')}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/graphiql.css">
</head>
<body id="body" class="no-focus-outline">
<noscript>GraphiQL needs JavaScript.</noscript>
<div id="root"></div>
<script type="application/json" id="options">${JSON.stringify(options).replaceAll('<', String.raw`\u003c`)}</script>
<script src="${base}/graphiql.js"></script>
<script src="${base}/start.js"></script>
</body>
</html>
`;
}

/** Serves the files of the page from the pinned package. They are loaded with the first request, because they have 9 MB. */
export function serveGraphiqlFiles(app: FastifyInstance): void {
  const files: Record<string, () => Promise<string>> = {
    'graphiql.js': async () => (await load()).js,
    'graphiql.css': async () => (await load()).css,
    'editor.worker.js': async () => (await load()).editorWorkerService,
    'json.worker.js': async () => (await load()).jsonWorker,
    'graphql.worker.js': async () => (await load()).graphqlWorker,
    'start.js': async () => startScript,
  };
  for (const [name, read] of Object.entries(files)) {
    app.route({
      method: 'GET',
      url: `${base}/${name}`,
      config: { access: 'anonymous' },
      schema: { hide: true },
      handler: async (_request, reply) => {
        // They are the same for everybody, and no cookie goes with them.
        void reply.header('cache-control', 'public, max-age=3600').header('x-content-type-options', 'nosniff');
        void reply.type(`text/${name.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`);
        return reply.send(await read());
      },
    });
  }
}

function load() {
  return import('@graphql-yoga/render-graphiql/graphiql');
}
