import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '#config/objects/root.ts';
import { organizationHeader } from '../request-caller.ts';
import type { Services } from '../services.ts';
import { routedPath } from './routed-path.ts';

/** Methods that pages of other origins may use. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

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
];

/** Time for which a browser may remember the answer to a preflight request, in seconds. Fetch limits it to two hours in most browsers. */
const preflightSeconds = 7_200;

/**
 * Reports to browsers which pages of other origins may call the server (https://fetch.spec.whatwg.org/#http-cors-protocol), and answers
 * their preflight requests. It protects nobody by itself: requests of other pages are decided by credentials and the CSRF token as ever.
 */
export function crossOriginPlugin(app: FastifyInstance, { config }: Pick<Services, 'config'>): void {
  // The package also registers OPTIONS for all paths, after which none would be unknown (405, 404). Its preflight answers do not need it.
  const host: FastifyInstance = Object.create(app, { options: { value: () => host } });
  const delegator = (request: FastifyRequest, done: (error: null, options: FastifyCorsOptions) => void) =>
    done(null, optionsFor(request, config.current.server));
  cors(host, { delegator }, (error) => {
    if (error) throw error;
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    // The package sends a length of 0 with its preflight answers, which RFC 9110, section 8.6, forbids.
    if (reply.statusCode === 204) reply.removeHeader('content-length');
    const { server } = config.current;
    // Requests that are refused at once have no context.
    const core = request.core as typeof request.core | undefined;
    if (server.cors.cookieinsecure && core && optionsFor(request, server).origin !== false)
      core.cookies = core.cookies.map((each) => ({ ...each, options: { ...each.options, secure: false } }));
    done(null, payload);
  });
}

/**
 * Answer of `server.cors` to a request: pages of one origin with credentials, all pages without, or none. Pages of this server send Origin,
 * too, with every method but GET and HEAD; the headers of the answer change nothing for them.
 */
function optionsFor(request: FastifyRequest, { cors: settings, csrfprotection }: Config['server']): FastifyCorsOptions {
  const { origin, 'access-control-request-method': askedMethod } = request.headers;
  // An empty header is as good as none; the package refuses it in its own words.
  if (!origin) return { origin: false };
  const origins = originsFor(request, settings);
  const isNamed = origins.includes(origin);
  if (!isNamed && !origins.includes('*')) return { origin: false };
  return {
    origin: isNamed ? origin : '*',
    credentials: isNamed,
    methods,
    allowedHeaders: [...requestHeaders, csrfprotection.header],
    exposedHeaders: responseHeaders,
    maxAge: preflightSeconds,
    // Any other OPTIONS request is answered like those of this server's own pages.
    preflight: Boolean(askedMethod),
  };
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
