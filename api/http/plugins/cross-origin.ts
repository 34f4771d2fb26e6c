import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '#config/objects/root.ts';
import { organizationHeader } from '../request-caller.ts';
import type { Services } from '../services.ts';
import { routedPath } from './routed-path.ts';

/** Methods that pages of other origins may use. */
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** Request headers that such pages may send, besides the one with the CSRF token. */
const requestHeaders = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'Range',
  'Traceparent',
  organizationHeader,
  'X-Request-Id',
  'Tus-Resumable',
  'Upload-Length',
  'Upload-Metadata',
  'Upload-Offset',
];

/** Response headers that such pages may read. */
const responseHeaders = [
  'Accept-Ranges',
  'Allow',
  'Content-Disposition',
  'Content-Length',
  'Content-Range',
  'Deprecation',
  'ETag',
  'Idempotency-Replayed',
  'Impersonation',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Repr-Digest',
  'Retry-After',
  'Sunset',
  'Support-Access',
  organizationHeader,
  'X-Request-Id',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Resumable',
  'Tus-Version',
  'Upload-Expires',
  'Upload-Length',
  'Upload-Offset',
].join(', ');

/** Time for which a browser may remember the answer to a preflight request, in seconds. Fetch limits it to two hours in most browsers. */
const preflightSeconds = 7_200;

/** What `server.cors` allows a request: pages of one origin with credentials, all pages without, or none. */
type Allowed = 'with credentials' | 'without credentials' | undefined;

/**
 * Tells browsers which pages of other origins may call the server (https://fetch.spec.whatwg.org/#http-cors-protocol), and answers their
 * preflight requests. It protects nobody by itself: requests of other pages are decided by credentials and the CSRF token as ever.
 */
export function crossOriginPlugin(app: FastifyInstance, { config }: Pick<Services, 'config'>): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { server } = config.current;
    const origins = originsFor(request, server.cors);
    if (origins.length === 0) return done();
    void reply.header('vary', 'Origin');
    const allowed = allowedFor(request, origins);
    if (!allowed) return done();
    allow(request, reply, allowed);
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return done();
    return reply
      .headers({
        'access-control-allow-methods': methods,
        'access-control-allow-headers': [...requestHeaders, server.csrfprotection.header].join(', '),
        'access-control-max-age': String(preflightSeconds),
      })
      .code(204)
      .send();
  });
  app.addHook('onSend', (request, _reply, payload, done) => {
    const { cors } = config.current.server;
    // Requests that are refused at once have no context.
    const core = request.core as typeof request.core | undefined;
    if (cors.cookieinsecure && core && allowedFor(request, originsFor(request, cors)))
      core.cookies = core.cookies.map((each) => ({ ...each, options: { ...each.options, secure: false } }));
    done(null, payload);
  });
}

function allow({ headers }: FastifyRequest, reply: FastifyReply, allowed: NonNullable<Allowed>): void {
  const isNamed = allowed === 'with credentials';
  reply.headers({
    'access-control-allow-origin': isNamed ? headers.origin : '*',
    ...(isNamed ? { 'access-control-allow-credentials': 'true' } : {}),
    'access-control-expose-headers': responseHeaders,
  });
}

/** Pages of this server send Origin, too, with every method but GET and HEAD; what they are told changes nothing for them. */
function allowedFor({ headers: { origin } }: FastifyRequest, origins: readonly string[]): Allowed {
  if (origin === undefined) return undefined;
  if (origins.includes(origin)) return 'with credentials';
  return origins.includes('*') ? 'without credentials' : undefined;
}

/** The origins of the longest prefix below which the path is, however it is encoded, else those of all other paths. */
function originsFor(
  { url }: FastifyRequest,
  { enabled, prefixes, alloworigins }: Config['server']['cors'],
): readonly string[] {
  if (!enabled) return [];
  const path = routedPath(url);
  const matching = Object.entries(prefixes).filter(([prefix]) =>
    `${path}/`.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`),
  );
  const longest = matching.toSorted(([one], [other]) => other.length - one.length)[0];
  return longest?.[1] ?? alloworigins;
}
