import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '#config/objects/root.ts';
import { onceForEach } from '#entities/kit/base/once-for-each.ts';
import { organizationHeader } from '../request-caller.ts';
import type { Services } from '../services.ts';

interface Header {
  readonly name: string;
  readonly value: string;
  /** The header in whose place it stands: an answer that has that one itself does not get it. */
  readonly unless: string;
}

/** Headers that follow from a configuration. */
interface AnswerHeaders {
  /** `server.secure`, for every answer. */
  readonly security: readonly Header[];
  /** Strict-Transport-Security, for answers over HTTPS; undefined if there is none. */
  readonly transport: string | undefined;
  /** `server.cachecontrol`, for answers that are the same for everybody. */
  readonly caching: readonly Header[];
  /** The same for all others, which no shared cache may keep, whatever the configuration says. */
  readonly privateCaching: readonly Header[];
  /** The request headers of `server.cachecontrol.etagheaders`, in lower case. */
  readonly ignored: readonly string[];
}

/** The header that a file sets itself, except a PDF that is shown: browsers' viewers of PDF need styles that a policy would refuse. */
const policy = 'content-security-policy';

/** Request headers on which an answer depends besides its URL, if it depends on the caller. */
const callerHeaders = `Authorization, Cookie, ${organizationHeader}`;

const headersIn = onceForEach(({ server: { secure, cachecontrol } }: Config): AnswerHeaders => {
  const caching = cachecontrol.enabled ? Object.entries(cachecontrol.nocacheheaders) : [];
  const shared = caching.map(([name, value]) => header(name, value));
  return {
    security: secure.enabled ? securityHeaders(secure) : [],
    transport: secure.enabled ? transportSecurity(secure) : undefined,
    caching: shared,
    privateCaching: withoutSharing(shared),
    ignored: cachecontrol.enabled ? cachecontrol.etagheaders.map((name) => name.toLowerCase()) : [],
  };
});

/** An empty text leaves its header out. */
function securityHeaders(secure: Config['server']['secure']): readonly Header[] {
  return [
    header('x-xss-protection', secure.xssprotection),
    header('x-content-type-options', secure.contenttypenosniff),
    header('x-frame-options', secure.xframeoptions),
    header('referrer-policy', secure.referrerpolicy),
    header(secure.cspreportonly ? `${policy}-report-only` : policy, secure.contentsecuritypolicy, policy),
  ].filter(({ value }) => value !== '');
}

/** RFC 6797, section 6.1. Lists of preloaded hosts require the names below them as well. */
function transportSecurity({ hstsmaxage, hstspreloadenabled }: Config['server']['secure']): string | undefined {
  if (hstsmaxage === 0) return undefined;
  return `max-age=${hstsmaxage}; includeSubDomains${hstspreloadenabled ? '; preload' : ''}`;
}

function header(name: string, value: string, unless = name): Header {
  return { name: name.toLowerCase(), value, unless: unless.toLowerCase() };
}

/** Headers with which no shared cache keeps the answer. */
function withoutSharing(headers: readonly Header[]): readonly Header[] {
  const name = 'cache-control';
  const value = headers.find((each) => each.name === name)?.value ?? '';
  if (/\b(?:private|no-store)\b/i.test(value)) return headers;
  return [
    ...headers.filter((each) => each.name !== name),
    header(name, value.trim() === '' ? 'private' : `private, ${value}`),
  ];
}

/**
 * Completes the headers of every answer: those of `server.secure` and `server.cachecontrol`, where a route has not set stricter ones of
 * its own. Must be registered after the cookies, because answers with cookies are for one client alone.
 */
export function answerHeadersPlugin(app: FastifyInstance, { config }: Pick<Services, 'config'>): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request.raw;
    for (const name of headersIn(config.current).ignored) delete headers[name];
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    completeHeaders(request, reply, config.current);
    done(null, payload);
  });
}

/** Adds what the answer has not set itself. */
export function completeHeaders(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  const { security, transport, caching, privateCaching } = headersIn(config);
  for (const [name, value] of request.routeOptions.config.deprecation ?? []) reply.header(name, value);
  const isPdf = reply.getHeader('content-type') === 'application/pdf';
  addMissing(reply, isPdf ? security.filter(({ unless }) => unless !== policy) : security);
  if (transport !== undefined && isOverHttps(request)) reply.header('strict-transport-security', transport);
  const own = String(reply.getHeader('cache-control') ?? '');
  if (/\b(?:public|max-age)\b/i.test(own)) return;
  const isForEverybody = request.routeOptions.config.access === 'anonymous' && !reply.hasHeader('set-cookie');
  addMissing(reply, isForEverybody ? caching : privateCaching);
  const isKept = (request.method === 'GET' || request.method === 'HEAD') && !own.includes('no-store');
  if (isKept && !isForEverybody) addToVary(reply);
}

function addMissing(reply: FastifyReply, headers: readonly Header[]): void {
  for (const { name, value, unless } of headers) if (!reply.hasHeader(unless)) reply.header(name, value);
}

/** A failed commit replaces the answer, which then comes here again. */
function addToVary(reply: FastifyReply): void {
  const before = reply.getHeader('vary');
  if (before === undefined) reply.header('vary', callerHeaders);
  else if (!String(before).includes(callerHeaders)) reply.header('vary', `${String(before)}, ${callerHeaders}`);
}

/** Whether the client speaks HTTPS, to this server or to a proxy before it. A false claim changes nothing: browsers obey the header only over HTTPS. */
function isOverHttps({ protocol, headers }: FastifyRequest): boolean {
  return protocol === 'https' || headers['x-forwarded-proto'] === 'https';
}

/** The headers of `server.secure` for an answer that no hook completes. */
export function rawHeaders(config: Config, isEncrypted: boolean): readonly (readonly [name: string, value: string])[] {
  const { security, transport } = headersIn(config);
  return [
    ...security.map(({ name, value }) => [name, value] as const),
    ...(transport !== undefined && isEncrypted ? [['strict-transport-security', transport] as const] : []),
  ];
}
