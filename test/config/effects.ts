import type { ConfigPath } from '#config/objects/root.ts';
import type { ProviderName } from '#entities/kit/objects/stored-object.ts';

/** How a leaf of the configuration shows its effect. */
export type Effect =
  /**
   * The test that changes it and sees the difference from outside: file, ` > `, and the titles down to the test. In
   * tests, code outside `config/` must have read it.
   */
  | { readonly test: string }
  /** The same, for a leaf whose effect is within `config/` itself, so that nobody else reads it. */
  | { readonly test: string; readonly readBy: 'config' };

const shown = (test: string): Effect => ({ test });
const inConfig = (test: string): Effect => ({ test, readBy: 'config' });

const storage = (title: string) => shown(`test/config/storage-leaves.test.ts > ${title}`);

/** The leaves that all providers of object storage have. */
const storageProvider = <Name extends ProviderName>(name: Name) =>
  ({
    [`objectstorage.providers.${name}.enabled`]: storage(
      `provider ${name} > enabled takes new files; when it is off, its files are not served`,
    ),
    [`objectstorage.providers.${name}.ensureavailable`]: storage(
      `provider ${name} > ensureavailable lets nothing start that cannot store files`,
    ),
    [`objectstorage.providers.${name}.bucket`]: storage(
      `provider ${name} > bucket has new files; those of another bucket stay readable`,
    ),
    [`objectstorage.providers.${name}.backup.enabled`]: storage(
      `provider ${name} > backup.enabled gives its files copies in a bucket beside it`,
    ),
    [`objectstorage.providers.${name}.backup.provider`]: storage(
      `provider ${name} > backup.provider names the provider of copies, which need not be enabled`,
    ),
    [`objectstorage.providers.${name}.backup.region`]: storage(
      `provider ${name} > backup.region is the region of copies`,
    ),
    [`objectstorage.providers.${name}.backup.readfrombackup`]: storage(
      `provider ${name} > backup.readfrombackup serves verified copies, and the source where there is none`,
    ),
  }) as Record<`objectstorage.providers.${Name}.${CommonLeaf}`, Effect>;
type CommonLeaf =
  | 'enabled'
  | 'ensureavailable'
  | 'bucket'
  | `backup.${'enabled' | 'provider' | 'region' | 'readfrombackup'}`;

const answerHeaders = 'test/api/http/answer-headers.test.ts';
const headerValues = `${answerHeaders} > server.secure > xssprotection, contenttypenosniff, xframeoptions, contentsecuritypolicy, referrerpolicy: are the values of their headers; empty ones leave them out`;
const transportSecurity = `${answerHeaders} > server.secure > hstsmaxage and hstspreloadenabled: what browsers remember, when a proxy speaks HTTPS`;
const certificateFiles =
  'test/api/http/https.test.ts > certfile and certkey: are what clients see, also after the files have changed';

const edgeEndpoint = 'edgestore: endpoint is where requests go; without one, to that of credentials.accountid';
const emulator = 'cloudstore: endpoint is the emulator, and projectid the project that requests are charged to';

/** The leaves of a rate limiter. */
const rateLimiter = <Name extends 'ratelimit' | 'ratelimitunmatched'>(name: Name) => {
  const limits = (title: string) => shown(`test/api/http/rate-limits.test.ts > ${name} > ${title}`);
  return {
    [`${name}.enabled`]: limits('enabled: off, nothing is counted; on, the requests of each client are'),
    [`${name}.options[].requests`]: limits(
      'options: a request must stay within each window; without any, ten requests a second are allowed',
    ),
    [`${name}.options[].window`]: limits(
      'options: requests of the window before count for the part of it that still slides',
    ),
    [`${name}.options[].expiration`]: limits('options: after expiration without requests, a counter is forgotten'),
    [`${name}.options[].flushinterval`]: limits('options: expired counters leave the memory every flushinterval'),
    [`${name}.headers`]: limits('T-27: headers name where the address of the client is'),
    [`${name}.forwardedindexfrombehind`]: limits(
      'T-27: forwardedindexfrombehind counts the addresses of X-Forwarded-For from the end',
    ),
    [`${name}.includepath`]: limits('includepath counts each path separately'),
    [`${name}.includemethod`]: limits('includemethod counts each method separately'),
    [`${name}.keyprefix`]: limits('keyprefix scopes the counters'),
    [`${name}.denystatus`]: limits('denystatus is the status of the refusal; 0 is 429'),
    [`${name}.denymessage`]: limits('denymessage is what the refusal says; without one, it is "Too many requests"'),
    [`${name}.sendretryafterheader`]: limits(
      'sendretryafterheader: the next request passes when its seconds have passed, and no earlier',
    ),
    [`${name}.dryrun`]: limits('dryrun counts and logs, and refuses nothing, whether enabled is on or off'),
  } as Record<`${Name}.${LimiterLeaf}`, Effect>;
};
type LimiterLeaf =
  | 'enabled'
  | 'options[].requests'
  | 'options[].window'
  | 'options[].expiration'
  | 'options[].flushinterval'
  | 'headers'
  | 'forwardedindexfrombehind'
  | 'includepath'
  | 'includemethod'
  | 'keyprefix'
  | 'denystatus'
  | 'denymessage'
  | 'sendretryafterheader'
  | 'dryrun';

/** Every leaf of the configuration that has an effect; the others are in config/objects/pending.ts. */
export const effects: { readonly [Path in ConfigPath]?: Effect } = {
  domain: inConfig('test/config/domain.test.ts > fills exactly the fields that inherit it'),
  refreshinterval: inConfig(
    'test/config/config-store.test.ts > reloads every refreshinterval, which can itself be changed',
  ),
  'server.dev': shown(
    'test/api/http/settings.test.ts > server > dev: GraphiQL is served to browsers only while it is on',
  ),
  'server.listen': shown(
    'test/api/http/settings.test.ts > server > listen: is where the API answers, and metricsport where the metrics do, if anywhere',
  ),
  'server.metricsport': shown(
    'test/api/http/settings.test.ts > server > listen: is where the API answers, and metricsport where the metrics do, if anywhere',
  ),
  'server.shutdowngraceperiod': shown(
    'test/api/http/graceful-stop.test.ts > server.shutdowngraceperiod: what takes longer is cut off, and it still ends with 0',
  ),
  'server.tls.enabled': shown('test/api/http/https.test.ts > enabled: the listener speaks TLS, and nothing else'),
  'server.tls.certfile': shown(certificateFiles),
  'server.tls.certkey': shown(certificateFiles),
  'server.tls.autocert': shown(
    'test/api/http/automatic-certificate.test.ts > autocert: the listener shows a certificate of the authority, over HTTP/1.1 and HTTP/2',
  ),
  'server.secure.enabled': shown(
    `${answerHeaders} > server.secure > enabled: off, no answer has any of them but the policy of a page`,
  ),
  'server.secure.xssprotection': shown(headerValues),
  'server.secure.contenttypenosniff': shown(headerValues),
  'server.secure.xframeoptions': shown(headerValues),
  'server.secure.contentsecuritypolicy': shown(headerValues),
  'server.secure.referrerpolicy': shown(headerValues),
  'server.secure.cspreportonly': shown(`${answerHeaders} > server.secure > cspreportonly: the policy is only reported`),
  'server.secure.hstsmaxage': shown(transportSecurity),
  'server.secure.hstspreloadenabled': shown(transportSecurity),
  'server.cachecontrol.enabled': shown(
    `${answerHeaders} > server.cachecontrol > enabled: off, answers have none of them, but what depends on the caller stays private`,
  ),
  'server.cachecontrol.nocacheheaders': shown(
    `${answerHeaders} > server.cachecontrol > nocacheheaders: no cache keeps an answer unless the route says so`,
  ),
  'server.cachecontrol.etagheaders': shown(
    `${answerHeaders} > server.cachecontrol > etagheaders: these headers of requests are ignored, all others count`,
  ),
  'server.cors.enabled': shown(
    'test/security/cross-site-requests.test.ts > T-41: server.cors > enabled: while it is off, no origin is allowed',
  ),
  'server.cors.alloworigins': shown(
    'test/security/cross-site-requests.test.ts > T-41: server.cors > alloworigins: pages of these origins may call the server with credentials, and others may not',
  ),
  'server.cors.prefixes': shown(
    'test/security/cross-site-requests.test.ts > T-41: server.cors > prefixes: below them other origins are allowed; the longest counts, and * has no credentials',
  ),
  'server.cors.cookieinsecure': shown(
    'test/security/cross-site-requests.test.ts > T-41: server.cors > cookieinsecure: pages of these origins get cookies without Secure',
  ),
  'server.readtimeout': shown(
    'test/api/http/timeouts.test.ts > a request that does not come > server.readtimeout answers 408 when it was the body that had to be waited for',
  ),
  'server.writetimeout': shown(
    'test/api/http/timeouts.test.ts > server.writetimeout ends a connection whose client does not read the answer',
  ),
  'server.idletimeout': shown(
    'test/api/http/timeouts.test.ts > server.idletimeout ends a connection that waits for its next request',
  ),
  'server.readheadertimeout': shown(
    'test/api/http/timeouts.test.ts > a request that does not come > server.readheadertimeout ends a connection whose headers do not come to an end',
  ),
  'server.enablegraphextensions': shown(
    'test/api/graphql/graphql-operations.test.ts > enablegraphextensions: answers say what they have cost',
  ),
  'server.enablegraphsubscriptions': shown(
    'test/api/graphql/graphql-subscriptions.test.ts > enablegraphsubscriptions: without it, every subscription is refused',
  ),
  'server.graphpool.maxworkers': shown(
    'test/api/graphql/graphql-operations.test.ts > graphpool.maxworkers: so many operations run, and organizations take turns',
  ),
  'server.complexitylimit': shown(
    'test/api/graphql/graphql-reads.test.ts > is the number of fields one operation selects, however they are nested',
  ),
  'server.maxresultlimit': shown(
    'test/api/graphql/graphql-pages.test.ts > a list > has as many records as maxresultlimit says, at most',
  ),
  'server.secretmanager': shown(
    'test/security/key-rotation.test.ts > secretmanager > T-34: the newest version signs and the one before verifies; later ones sign when all have seen them',
  ),
  'server.csrfprotection.enabled': shown(
    'test/api/http/csrf-settings.test.ts > enabled: off, nothing is asked for and no cookie is set',
  ),
  'server.csrfprotection.header': shown(
    'test/api/http/csrf-settings.test.ts > header: names the header that is looked at, and no other',
  ),
  'server.csrfprotection.cookie': shown('test/api/http/csrf-settings.test.ts > cookie: names the cookie'),
  'server.csrfprotection.secure': shown('test/api/http/csrf-settings.test.ts > secure: flips the Secure attribute'),
  'server.csrfprotection.samesite': shown(
    'test/api/http/csrf-settings.test.ts > samesite > names the attribute, and Default leaves it out',
  ),
  'server.csrfprotection.cookiehttponly': shown(
    'test/api/http/csrf-settings.test.ts > cookiehttponly: flips the HttpOnly attribute',
  ),
  'server.csrfprotection.cookiedomain': shown(
    'test/api/http/csrf-settings.test.ts > cookiedomain: sets the Domain attribute, which is left out otherwise',
  ),
  'server.csrfprotection.cookiepath': shown(
    'test/api/http/csrf-settings.test.ts > cookiepath: sets the Path attribute',
  ),
  'server.mime.enabled': shown(
    'test/conformance/file-types.test.ts > server.mime > enabled: off, names say nothing about types',
  ),
  'server.mime.mimetypesfile': shown(
    'test/conformance/file-types.test.ts > server.mime > mimetypesfile: adds types of extensions, and must be readable',
  ),
  'server.mime.defaultcontenttype': shown(
    'test/conformance/file-types.test.ts > server.mime > defaultcontenttype: is the type of what is neither text nor known',
  ),
  'objectstorage.enabled': shown(
    'test/api/files/uploads.test.ts > what is refused leaves nothing > objectstorage.enabled: off, nothing is accepted',
  ),
  'objectstorage.devmode': storage(
    'objectstorage.devmode stores files below the state folder and ignores all providers',
  ),
  ...storageProvider('bucketstore'),
  ...storageProvider('edgestore'),
  ...storageProvider('cloudstore'),
  ...storageProvider('disk'),
  ...storageProvider('database'),
  'objectstorage.providers.bucketstore.region': storage('bucketstore: region is in the scope of signatures'),
  'objectstorage.providers.bucketstore.endpoint': storage(
    'bucketstore: endpoint is where requests go; without one, to the service of the region',
  ),
  'objectstorage.providers.bucketstore.credentials.accesskeyid': storage(
    'provider bucketstore > credentials are those of the service',
  ),
  'objectstorage.providers.bucketstore.credentials.secretaccesskey': storage(
    'provider bucketstore > credentials are those of the service',
  ),
  'objectstorage.providers.edgestore.endpoint': storage(edgeEndpoint),
  'objectstorage.providers.edgestore.credentials.accountid': storage(edgeEndpoint),
  'objectstorage.providers.edgestore.credentials.accesskeyid': storage(
    'provider edgestore > credentials are those of the service',
  ),
  'objectstorage.providers.edgestore.credentials.secretaccesskey': storage(
    'provider edgestore > credentials are those of the service',
  ),
  'objectstorage.providers.cloudstore.endpoint': storage(emulator),
  'objectstorage.providers.cloudstore.projectid': storage(emulator),
  'objectstorage.keys': shown(
    'test/api/files/uploads.test.ts > what is refused leaves nothing > objectstorage.keys: files are taken from the named fields only',
  ),
  'objectstorage.maxsizemb': shown(
    'test/api/files/uploads.test.ts > what is refused leaves nothing > objectstorage.maxsizemb: one byte over the limit is refused, however its length is sent',
  ),
  'objectstorage.maxmemorymb': shown(
    'test/conformance/receiving.test.ts > what is received > objectstorage.maxmemorymb: what exceeds the memory goes to temporary files, which are bounded, too',
  ),
  'objectstorage.providers.bucketstore.baseurl': shown(
    'test/api/files/download-settings.test.ts > baseurl: links to this server begin with that of their provider, and are answered at its path',
  ),
  'objectstorage.providers.bucketstore.proxypresignenabled': shown(
    'test/api/files/download-settings.test.ts > proxypresignenabled: while it is off, links point to the provider, unless they are good once',
  ),
  'objectstorage.providers.edgestore.baseurl': shown(
    'test/api/files/download-settings.test.ts > baseurl: links to this server begin with that of their provider, and are answered at its path',
  ),
  'objectstorage.providers.edgestore.proxypresignenabled': shown(
    'test/api/files/download-settings.test.ts > proxypresignenabled: while it is off, links point to the provider, unless they are good once',
  ),
  'objectstorage.providers.cloudstore.baseurl': shown(
    'test/api/files/download-settings.test.ts > baseurl: links to this server begin with that of their provider, and are answered at its path',
  ),
  'objectstorage.providers.cloudstore.proxypresignenabled': shown(
    'test/api/files/download-settings.test.ts > proxypresignenabled: while it is off, links point to the provider, unless they are good once',
  ),
  'objectstorage.providers.disk.baseurl': shown(
    'test/api/files/download-settings.test.ts > baseurl: links to this server begin with that of their provider, and are answered at its path',
  ),
  'objectstorage.providers.disk.proxypresignenabled': shown(
    'test/api/files/download-settings.test.ts > proxypresignenabled: while it is off, links point to the provider, unless they are good once',
  ),
  'objectstorage.providers.database.baseurl': shown(
    'test/api/files/download-settings.test.ts > baseurl: links to this server begin with that of their provider, and are answered at its path',
  ),
  'objectstorage.providers.disk.endpoint': shown(
    'test/api/files/download-settings.test.ts > endpoint: links to files on disk begin there; without it, this server answers them',
  ),
  'ormconfig.entitytypes': shown(
    'test/api/organizations/create-organization.test.ts > a new organization > has the entity types that the configuration names at that moment',
  ),
  'ormconfig.emailvalidation.enabled': shown(
    'test/api/email/email-validation.test.ts > an address > is not checked while enabled is off, except for blocked domains',
  ),
  'ormconfig.emailvalidation.enableautoupdatedisposable': shown(
    'test/api/email/email-validation.test.ts > the list of disposable domains > stays that of the release while enableautoupdatedisposable is off',
  ),
  'ormconfig.emailvalidation.enablegravatarcheck': shown(
    'test/api/email/email-validation.test.ts > the mail server of a domain > is not asked about an address with a profile at the avatar service, unless enablegravatarcheck is off',
  ),
  'ormconfig.emailvalidation.enablesmtpcheck': shown(
    'test/api/email/email-validation.test.ts > the mail server of a domain > is asked about the address if enablesmtpcheck is on, and no mail is sent',
  ),
  'ormconfig.emailvalidation.allowedemailtypes.disposable': shown(
    'test/api/email/email-validation.test.ts > an address > of a disposable service is refused, also below its domain, until allowedemailtypes.disposable says otherwise',
  ),
  'ormconfig.emailvalidation.allowedemailtypes.free': shown(
    'test/api/email/email-validation.test.ts > an address > of a free service is refused until allowedemailtypes.free says otherwise',
  ),
  'ormconfig.emailvalidation.allowedemailtypes.role': shown(
    'test/api/email/email-validation.test.ts > an address > of a role is refused until allowedemailtypes.role says otherwise',
  ),
  'ormconfig.emailvalidation.blockeddomains': shown(
    'test/api/email/email-validation.test.ts > an address > at one of blockeddomains, or below it, is refused in every form',
  ),
  'ormconfig.maxschemaimportsize': shown(
    'test/api/transfers/csv-imports.test.ts > ormconfig.maxschemaimportsize limits the bytes of a document',
  ),
  'ormconfig.maxpoolsize': shown(
    'test/api/service/pool-budget.test.ts > ormconfig.maxpoolsize > refuses more units of work than it allows, at once, and recovers',
  ),
  'ormconfig.modules.enabled': shown(
    'test/entities/product-modules.test.ts > without the product module > everything answers all the same while ormconfig.modules.enabled is off',
  ),
  'ormconfig.modules.devmode': shown(
    'test/entities/product-modules.test.ts > without the product module > everything answers all the same while ormconfig.modules.devmode is on',
  ),
  'auth.enabled': shown(
    'test/api/http/settings.test.ts > auth > enabled: off, requests without credentials run for the user who signed up first',
  ),
  'auth.token.kid': shown(
    'test/security/key-rotation.test.ts > T-34: the older key verifies tokens while the newer one signs, until it is removed',
  ),
  'auth.token.audience': shown(
    'test/api/http/settings.test.ts > auth.token > issuer and audience stand in the token, and are asked of it',
  ),
  'auth.token.issuer': shown(
    'test/api/http/settings.test.ts > auth.token > issuer and audience stand in the token, and are asked of it',
  ),
  'auth.token.accessduration': shown(
    'test/api/http/settings.test.ts > auth.token > accessduration is how long a token works',
  ),
  'auth.token.refreshaudience': shown(
    'test/api/identity/refresh.test.ts > settings > refreshaudience stands in the token, and is asked of it',
  ),
  'auth.token.refreshduration': shown(
    'test/api/identity/refresh.test.ts > settings > refreshduration is how long a session lasts without a refresh',
  ),
  'auth.token.refreshoverlap': shown(
    'test/api/identity/refresh.test.ts > settings > refreshoverlap is how long before the expiry of the access token a refresh token counts',
  ),
  'auth.token.jwksendpoint': shown(
    'test/security/key-rotation.test.ts > jwksendpoint > of another server: its keys verify, too; without an answer the last known ones do',
  ),
  'keywatcher.enabled': shown(
    'test/security/key-rotation.test.ts > keydir > T-34: a new file verifies at once and signs when all have seen it; tokens of a removed file are refused',
  ),
  'keywatcher.keydir': shown(
    'test/security/key-rotation.test.ts > keydir > T-34: a new file verifies at once and signs when all have seen it; tokens of a removed file are refused',
  ),
  'auth.token.keys': shown(
    'test/security/key-rotation.test.ts > T-34: the older key verifies tokens while the newer one signs, until it is removed',
  ),
  'auth.token.generatekeys': shown(
    'test/api/http/settings.test.ts > auth.token > generatekeys: makes a key while none is configured, and the same for all processes',
  ),
  'auth.token.jwkscachettl': shown(
    'test/api/http/settings.test.ts > auth.token > jwkscachettl is how long the key set may be kept',
  ),
  'auth.token.cache.enabled': shown(
    'test/workflows/identity/mirror-ended-session.test.ts > enabled: off, nothing is written',
  ),
  'auth.token.cache.blacklistprefix': shown(
    'test/workflows/identity/mirror-ended-session.test.ts > T-02: an ended session is written under the prefix until its tokens have expired, and nothing else is',
  ),
  'auth.token.cache.config.enabled': shown(
    'test/workflows/identity/mirror-ended-session.test.ts > config.enabled: off, the connection of the server is used',
  ),
  'auth.token.cache.config.address': shown(
    'test/workflows/identity/mirror-ended-session.test.ts > T-02: an ended session is written under the prefix until its tokens have expired, and nothing else is',
  ),
  'auth.token.cache.config.name': shown(
    'test/workflows/identity/mirror-ended-session.test.ts > T-02: an ended session is written under the prefix until its tokens have expired, and nothing else is',
  ),
  'auth.token.cache.config.username': shown(
    'test/workflows/identity/mirror-ended-session.test.ts > T-02: an ended session is written under the prefix until its tokens have expired, and nothing else is',
  ),
  'auth.token.cache.config.password': shown(
    'test/workflows/identity/mirror-ended-session.test.ts > T-02: an ended session is written under the prefix until its tokens have expired, and nothing else is',
  ),
  'auth.token.cache.config.db': shown(
    'test/workflows/identity/mirror-ended-session.test.ts > T-02: an ended session is written under the prefix until its tokens have expired, and nothing else is',
  ),
  // Both connections are opened by one function.
  'auth.token.cache.config.dialtimeout': shown(
    'test/relay/shared-allows.test.ts > cache.dialtimeout: ends an attempt to connect that nobody answers',
  ),
  'auth.token.cache.config.readtimeout': shown(
    'test/relay/shared-allows.test.ts > cache.readtimeout and writetimeout: together they end a command that is not answered, and -1 does not',
  ),
  'auth.token.cache.config.writetimeout': shown(
    'test/relay/shared-allows.test.ts > cache.readtimeout and writetimeout: together they end a command that is not answered, and -1 does not',
  ),
  'auth.token.cache.config.minidleconns': shown(
    'test/workflows/identity/mirror-ended-session.test.ts > config.minidleconns, maxidleconns and maxactiveconns are how many connections there are',
  ),
  'auth.token.cache.config.maxidleconns': shown(
    'test/workflows/identity/mirror-ended-session.test.ts > config.minidleconns, maxidleconns and maxactiveconns are how many connections there are',
  ),
  'auth.token.cache.config.maxactiveconns': shown(
    'test/workflows/identity/mirror-ended-session.test.ts > config.minidleconns, maxidleconns and maxactiveconns are how many connections there are',
  ),
  'auth.token.cache.config.maxretries': shown(
    'test/relay/shared-allows.test.ts > cache.maxretries: a command fails after so many lost connections',
  ),
  'auth.token.apitokens.enabled': shown(
    'test/api/identity/api-tokens.test.ts > settings > enabled: off, no token is accepted or created',
  ),
  'auth.token.apitokens.keys.*.secret': shown(
    'test/api/identity/api-tokens.test.ts > settings > keys: a deprecated key verifies, a revoked one does not, and the active one signs',
  ),
  'auth.token.apitokens.keys.*.status': shown(
    'test/api/identity/api-tokens.test.ts > settings > keys: a deprecated key verifies, a revoked one does not, and the active one signs',
  ),
  'auth.token.apitokens.secretsize': shown(
    'test/api/identity/api-tokens.test.ts > settings > secretsize is the number of random bytes of a secret',
  ),
  'auth.token.apitokens.delimiter': shown(
    'test/api/identity/api-tokens.test.ts > settings > prefix and delimiter are those of new tokens, and asked of all',
  ),
  'auth.token.apitokens.prefix': shown(
    'test/api/identity/api-tokens.test.ts > settings > prefix and delimiter are those of new tokens, and asked of all',
  ),
  'auth.providers.webauthn.enabled': shown(
    'test/api/identity/passkeys.test.ts > auth.providers.webauthn > enabled: off, no passkey is registered or accepted, and no origin told',
  ),
  'auth.providers.webauthn.displayname': shown(
    'test/api/identity/passkeys.test.ts > auth.providers.webauthn > relyingpartyid and displayname are those of the options, and the only party whose passkeys count',
  ),
  'auth.providers.webauthn.relyingpartyid': shown(
    'test/api/identity/passkeys.test.ts > auth.providers.webauthn > relyingpartyid and displayname are those of the options, and the only party whose passkeys count',
  ),
  'auth.providers.webauthn.requestorigins': shown(
    'test/api/identity/passkeys.test.ts > auth.providers.webauthn > requestorigins are the origins whose pages count, and are told to browsers',
  ),
  'auth.providers.webauthn.maxdevices': shown(
    'test/api/identity/passkeys.test.ts > auth.providers.webauthn > T-71: maxdevices: of fifty registrations at once as many succeed as there is room for',
  ),
  'auth.providers.webauthn.enforcetimeout': shown(
    'test/api/identity/passkeys.test.ts > auth.providers.webauthn > timeout is told to browsers, and ends options while enforcetimeout is on',
  ),
  'auth.providers.webauthn.timeout': shown(
    'test/api/identity/passkeys.test.ts > auth.providers.webauthn > timeout is told to browsers, and ends options while enforcetimeout is on',
  ),
  'auth.providers.webauthn.debug': shown(
    'test/api/identity/passkeys.test.ts > auth.providers.webauthn > debug: logs what happens, and no challenge, key or signature',
  ),
  'auth.token.apitokens.envprefix': inConfig(
    'test/config/load-configuration.test.ts > have the prefix that envprefix says',
  ),
  'auth.supportaccess.enabled': shown(
    'test/api/identity/acting-as-somebody-else.test.ts > auth.supportaccess > enabled: off, its endpoints answer with 404, and tokens of before are refused',
  ),
  'auth.supportaccess.email': shown(
    'test/api/identity/acting-as-somebody-else.test.ts > auth.supportaccess > email and password are the first factor, and failures are counted',
  ),
  'auth.supportaccess.displayname': shown(
    'test/api/identity/acting-as-somebody-else.test.ts > auth.supportaccess > subjectid and displayname name who acts: in changes, in the record of the access and in the banner',
  ),
  'auth.supportaccess.subjectid': shown(
    'test/api/identity/acting-as-somebody-else.test.ts > auth.supportaccess > subjectid and displayname name who acts: in changes, in the record of the access and in the banner',
  ),
  'auth.supportaccess.password': shown(
    'test/api/identity/acting-as-somebody-else.test.ts > auth.supportaccess > email and password are the first factor, and failures are counted',
  ),
  'auth.supportaccess.clientid': shown(
    'test/api/identity/acting-as-somebody-else.test.ts > auth.supportaccess > clientid, clientsecret, issuerurl, discoveryendpoint and redirecturl are what the second factor is asked with',
  ),
  'auth.supportaccess.clientsecret': shown(
    'test/api/identity/acting-as-somebody-else.test.ts > auth.supportaccess > clientid, clientsecret, issuerurl, discoveryendpoint and redirecturl are what the second factor is asked with',
  ),
  'auth.supportaccess.issuerurl': shown(
    'test/api/identity/acting-as-somebody-else.test.ts > auth.supportaccess > clientid, clientsecret, issuerurl, discoveryendpoint and redirecturl are what the second factor is asked with',
  ),
  'auth.supportaccess.discoveryendpoint': shown(
    'test/api/identity/acting-as-somebody-else.test.ts > auth.supportaccess > clientid, clientsecret, issuerurl, discoveryendpoint and redirecturl are what the second factor is asked with',
  ),
  'auth.supportaccess.redirecturl': shown(
    'test/api/identity/acting-as-somebody-else.test.ts > auth.supportaccess > clientid, clientsecret, issuerurl, discoveryendpoint and redirecturl are what the second factor is asked with',
  ),
  'auth.supportaccess.alloweddomain': shown(
    'test/api/identity/acting-as-somebody-else.test.ts > auth.supportaccess > alloweddomain: nobody of another domain, or with an unverified address, completes the second factor',
  ),
  'auth.supportedproviders': shown(
    'test/api/identity/provider-sign-in.test.ts > auth.supportedproviders > switches providers on and off',
  ),
  'auth.providers.redirecturl': shown(
    'test/api/identity/provider-sign-in.test.ts > auth.providers.redirecturl > is where the browser goes at the end, or another page of its origin',
  ),
  'auth.providers.codehost.clientid': shown(
    'test/api/identity/provider-sign-in.test.ts > auth.providers.codehost > clientid, clientsecret, clientendpoint, scopes and redirecturl are what the provider is asked with',
  ),
  'auth.providers.codehost.clientsecret': shown(
    'test/api/identity/provider-sign-in.test.ts > auth.providers.codehost > clientid, clientsecret, clientendpoint, scopes and redirecturl are what the provider is asked with',
  ),
  'auth.providers.codehost.clientendpoint': shown(
    'test/api/identity/provider-sign-in.test.ts > auth.providers.codehost > clientid, clientsecret, clientendpoint, scopes and redirecturl are what the provider is asked with',
  ),
  'auth.providers.codehost.scopes': shown(
    'test/api/identity/provider-sign-in.test.ts > auth.providers.codehost > clientid, clientsecret, clientendpoint, scopes and redirecturl are what the provider is asked with',
  ),
  'auth.providers.codehost.redirecturl': shown(
    'test/api/identity/provider-sign-in.test.ts > auth.providers.codehost > clientid, clientsecret, clientendpoint, scopes and redirecturl are what the provider is asked with',
  ),
  'auth.providers.identity.clientid': shown(
    'test/api/identity/provider-sign-in.test.ts > auth.providers.identity > clientid, clientsecret, clientendpoint, scopes and redirecturl are what the provider is asked with',
  ),
  'auth.providers.identity.clientsecret': shown(
    'test/api/identity/provider-sign-in.test.ts > auth.providers.identity > clientid, clientsecret, clientendpoint, scopes and redirecturl are what the provider is asked with',
  ),
  'auth.providers.identity.clientendpoint': shown(
    'test/api/identity/provider-sign-in.test.ts > auth.providers.identity > clientid, clientsecret, clientendpoint, scopes and redirecturl are what the provider is asked with',
  ),
  'auth.providers.identity.scopes': shown(
    'test/api/identity/provider-sign-in.test.ts > auth.providers.identity > clientid, clientsecret, clientendpoint, scopes and redirecturl are what the provider is asked with',
  ),
  'auth.providers.identity.redirecturl': shown(
    'test/api/identity/provider-sign-in.test.ts > auth.providers.identity > clientid, clientsecret, clientendpoint, scopes and redirecturl are what the provider is asked with',
  ),
  'authz.enabled': shown(
    'test/api/service/authorization-settings.test.ts > enabled: off, no store is asked, or waited for',
  ),
  'authz.storename': shown(
    'test/api/service/authorization-settings.test.ts > storename: finds the store of that name, or makes it',
  ),
  'authz.hosturl': shown(
    'test/api/service/authorization-settings.test.ts > hosturl is the server that is asked, and credentials.apitoken how',
  ),
  'authz.storeid': shown(
    'test/api/service/authorization-settings.test.ts > storeid: is the store that is used, whatever its name',
  ),
  'authz.modelid': shown(
    'test/api/service/authorization-settings.test.ts > modelid: is the model that is used, and none is looked for or written',
  ),
  'authz.createnewmodel': shown(
    'test/api/service/authorization-settings.test.ts > createnewmodel: on, every start writes one; off, the one that is right stays',
  ),
  'authz.modelfile': shown(
    'test/api/service/authorization-model-file.test.ts > modelfile > is the model that is written, with what it adds',
  ),
  'authz.modulefile': shown(
    'test/api/service/authorization-model-file.test.ts > modulefile > is a list of modules that are one model, next to it',
  ),
  'authz.credentials.apitoken': shown(
    'test/api/service/authorization-settings.test.ts > hosturl is the server that is asked, and credentials.apitoken how',
  ),
  'authz.credentials.clientid': shown(
    'test/api/identity/authorization-credentials.test.ts > clientid, clientsecret, audience and scopes are what the issuer is asked with, and its token is shown to the store',
  ),
  'authz.credentials.clientsecret': shown(
    'test/api/identity/authorization-credentials.test.ts > clientid, clientsecret, audience and scopes are what the issuer is asked with, and its token is shown to the store',
  ),
  'authz.credentials.audience': shown(
    'test/api/identity/authorization-credentials.test.ts > clientid, clientsecret, audience and scopes are what the issuer is asked with, and its token is shown to the store',
  ),
  'authz.credentials.issuer': shown(
    'test/api/identity/authorization-credentials.test.ts > clientid, clientsecret, audience and scopes are what the issuer is asked with, and its token is shown to the store',
  ),
  'authz.credentials.scopes': shown(
    'test/api/identity/authorization-credentials.test.ts > clientid, clientsecret, audience and scopes are what the issuer is asked with, and its token is shown to the store',
  ),
  'authz.maxbatchwritesize': shown(
    'test/relay/tuples.test.ts > authz.maxbatchwritesize is the most tuples of one write',
  ),
  'authz.enableparentcontext': shown(
    'test/api/organizations/parent-context.test.ts > enableparentcontext: off, an owner sees and changes only what was given on the records',
  ),
  'authz.parentcontextskipkinds': shown(
    'test/api/organizations/parent-context.test.ts > parentcontextskipkinds: for these kinds only; the others are as before',
  ),
  'authz.parentcontextconditions[].kind': shown(
    'test/api/organizations/parent-context.test.ts > parentcontextconditions > kind, name and context: where the condition holds roles count, where it does not they say nothing',
  ),
  'authz.parentcontextconditions[].name': shown(
    'test/api/organizations/parent-context.test.ts > parentcontextconditions > kind, name and context: where the condition holds roles count, where it does not they say nothing',
  ),
  'authz.parentcontextconditions[].context': shown(
    'test/api/organizations/parent-context.test.ts > parentcontextconditions > kind, name and context: where the condition holds roles count, where it does not they say nothing',
  ),
  'db.debug': shown('test/api/http/settings.test.ts > db > debug: logs the statements, without values'),
  'db.drivername': inConfig('test/config/rules.test.ts > drivername takes all names of the one driver and no other'),
  'db.primarydbsource': shown(
    'test/api/http/settings.test.ts > db > primarydbsource: is the database that is worked with',
  ),
  'db.runmigrations': shown(
    'test/api/http/settings.test.ts > db > runmigrations: off, a database that lacks some is refused; on, they run',
  ),
  'db.migrationprovider': inConfig('test/config/rules.test.ts > migrationprovider takes the one provider and no other'),
  'db.enablehistory': shown('test/api/http/settings.test.ts > db > enablehistory: off, changes leave none'),
  'db.maxconnections': shown(
    'test/api/service/pool-budget.test.ts > db.maxconnections > is what this process takes of the server, however many ask',
  ),
  'db.multiwrite': shown(
    'test/api/service/second-database.test.ts > db.multiwrite > writes every change to both databases: records, history, events, tuples, sign-ins',
  ),
  'db.secondarydbsource': shown(
    'test/api/service/second-database.test.ts > the start > refuses a second database that holds something else',
  ),
  'db.cachettl': shown(
    'test/api/records/result-cache.test.ts > db.cachettl > answers again what was read, without reading it, until the time is over',
  ),
  'db.maxidleconnections': shown(
    'test/api/service/pool-budget.test.ts > db.maxidleconnections > is how many connections stay open when nobody needs them',
  ),
  'db.databasename': shown(
    'test/workflows/events/trace.test.ts > a sign-up > names the database by db.databasename in its statements, and so do the metrics',
  ),
  'jobqueue.connectionuri': shown(
    'test/worker/namespace.test.ts > with runmigrations the namespace of connectionuri is made, with its search attributes',
  ),
  'jobqueue.runmigrations': shown(
    'test/worker/namespace.test.ts > with runmigrations the namespace of connectionuri is made, with its search attributes',
  ),
  'jobqueue.queueconf.AdvisoryLockPrefix': inConfig(
    'test/config/config-store.test.ts > says once which fields are set without having an effect',
  ),
  'jobqueue.queueconf.CancelledJobRetentionPeriod': shown(
    'test/worker/namespace.test.ts > it keeps ended workflows for the longest of the three periods, and follows when they change',
  ),
  'jobqueue.queueconf.CompletedJobRetentionPeriod': shown(
    'test/worker/namespace.test.ts > it keeps ended workflows for the longest of the three periods, and follows when they change',
  ),
  'jobqueue.queueconf.DiscardedJobRetentionPeriod': shown(
    'test/worker/namespace.test.ts > it keeps ended workflows for the longest of the three periods, and follows when they change',
  ),
  'jobqueue.queueconf.FetchCooldown': shown(
    'test/relay/wake-up.test.ts > FetchCooldown > keeps the relay from looking at every notification',
  ),
  'jobqueue.queueconf.FetchPollInterval': shown(
    'test/relay/wake-up.test.ts > FetchPollInterval > is obeyed from the reload on',
  ),
  'jobqueue.queueconf.JobCleanerTimeout': shown(
    'test/worker/queue-settings.test.ts > schedules > give pruning the time of JobCleanerTimeout',
  ),
  'jobqueue.queueconf.JobStuckThreshold': shown(
    'test/worker/queue-settings.test.ts > an activity > has the timeouts and the retries of queueconf, and the queue of dispatch.queuename',
  ),
  'jobqueue.queueconf.JobTimeout': shown(
    'test/worker/queue-settings.test.ts > an activity > has the timeouts and the retries of queueconf, and the queue of dispatch.queuename',
  ),
  'jobqueue.queueconf.MaxAttempts': shown(
    'test/worker/queue-settings.test.ts > an activity > has the timeouts and the retries of queueconf, and the queue of dispatch.queuename',
  ),
  'jobqueue.queueconf.ReindexerTimeout': inConfig(
    'test/config/config-store.test.ts > says once which fields are set without having an effect',
  ),
  'jobqueue.queueconf.RescueStuckJobsAfter': shown(
    'test/relay/unstarted-batches.test.ts > RescueStuckJobsAfter is the age at which a batch counts as left behind',
  ),
  'jobqueue.queueconf.SoftStopTimeout': shown(
    'test/worker/queues.test.ts > SoftStopTimeout > is not outlasted by what stands still; another worker takes that over',
  ),
  'jobqueue.queueconf.ID': shown(
    'test/worker/queue-settings.test.ts > an activity > has the identity of its worker, which ID names',
  ),
  'jobqueue.queueconf.Schema': shown(
    'test/worker/schedules.test.ts > Schema is the prefix of queues, workflows and schedules, and keeps installations apart',
  ),
  'jobqueue.queueconf.PollOnly': shown(
    'test/relay/wake-up.test.ts > PollOnly > opens no listening connection, and polling alone finds the events of others',
  ),
  'jobqueue.queueconf.SkipJobKindValidation': inConfig(
    'test/config/rules.test.ts > SkipJobKindValidation accepts any workflow name in PeriodicJobs',
  ),
  'jobqueue.queueconf.SkipUnknownJobCheck': shown(
    'test/worker/queue-settings.test.ts > schedules > are those of the release and of PeriodicJobs, unknown workflows with SkipUnknownJobCheck only',
  ),
  'jobqueue.queueconf.TestOnly': shown('test/worker/schedules.test.ts > pauses > of TestOnly end when it is off'),
  'jobqueue.queueconf.ReindexerIndexNames': inConfig(
    'test/config/config-store.test.ts > says once which fields are set without having an effect',
  ),
  'jobqueue.queueconf.Queues.*.FetchCooldown': shown(
    'test/relay/wake-up.test.ts > FetchCooldown > of the event queue comes before the general one',
  ),
  'jobqueue.queueconf.Queues.*.FetchPollInterval': shown(
    'test/relay/wake-up.test.ts > FetchPollInterval > of the event queue comes before the general one',
  ),
  'jobqueue.queueconf.Queues.*.MaxWorkers': shown(
    'test/worker/queues.test.ts > batches that are delivered at the same time > are as many as MaxWorkers of the event queue says',
  ),
  'jobqueue.queueconf.Test.DisableUniqueEnforcement': shown(
    'test/worker/queue-settings.test.ts > an activity > has a random id with Test.DisableUniqueEnforcement, and else one of its own, below the Schema',
  ),
  'jobqueue.queueconf.Test.Time': shown('test/worker/sweep-time.test.ts > Test.Time is the now of sweeps'),
  'jobqueue.queueconf.JobInsertMiddleware': shown(
    'test/worker/queue-settings.test.ts > interceptors stand around starts and activities where the lists name them',
  ),
  'jobqueue.queueconf.Hooks': shown(
    'test/worker/queue-settings.test.ts > interceptors stand around starts and activities where the lists name them',
  ),
  'jobqueue.queueconf.Middleware': shown(
    'test/worker/queue-settings.test.ts > interceptors stand around starts and activities where the lists name them',
  ),
  'jobqueue.queueconf.Plugins': shown(
    'test/worker/queue-settings.test.ts > interceptors stand around starts and activities where the lists name them',
  ),
  'jobqueue.queueconf.PeriodicJobs[].name': shown(
    'test/worker/schedules.test.ts > PeriodicJobs > that are changed or removed are changed and removed by the next worker, those of the release stay',
  ),
  'jobqueue.queueconf.PeriodicJobs[].workflow': shown(
    'test/worker/schedules.test.ts > PeriodicJobs > become schedules that start the named workflow with their input when they say',
  ),
  'jobqueue.queueconf.PeriodicJobs[].schedule': shown(
    'test/worker/schedules.test.ts > PeriodicJobs > become schedules that start the named workflow with their input when they say',
  ),
  'jobqueue.queueconf.PeriodicJobs[].input': shown(
    'test/worker/schedules.test.ts > PeriodicJobs > become schedules that start the named workflow with their input when they say',
  ),
  'jobqueue.queueconf.WorkerMiddleware': shown(
    'test/worker/queue-settings.test.ts > interceptors stand around starts and activities where the lists name them',
  ),
  'jobqueue.queueconf.Logger': inConfig(
    'test/config/config-store.test.ts > says once which fields are set without having an effect',
  ),
  'jobqueue.queueconf.Workers': inConfig(
    'test/config/config-store.test.ts > says once which fields are set without having an effect',
  ),
  'jobqueue.queueconf.ErrorHandler': inConfig(
    'test/config/config-store.test.ts > says once which fields are set without having an effect',
  ),
  'jobqueue.queueconf.JobStuckHandler': inConfig(
    'test/config/config-store.test.ts > says once which fields are set without having an effect',
  ),
  'jobqueue.queueconf.ReindexerSchedule': inConfig(
    'test/config/config-store.test.ts > says once which fields are set without having an effect',
  ),
  'jobqueue.queueconf.RetryPolicy.initialinterval': shown(
    'test/worker/queue-settings.test.ts > an activity > has the timeouts and the retries of queueconf, and the queue of dispatch.queuename',
  ),
  'jobqueue.queueconf.RetryPolicy.backoffcoefficient': shown(
    'test/worker/queue-settings.test.ts > an activity > has the timeouts and the retries of queueconf, and the queue of dispatch.queuename',
  ),
  'jobqueue.queueconf.RetryPolicy.maximuminterval': shown(
    'test/worker/queue-settings.test.ts > an activity > has the timeouts and the retries of queueconf, and the queue of dispatch.queuename',
  ),
  'jobqueue.metrics.enablemetrics': shown(
    'test/worker/metrics.test.ts > without enablemetrics a worker exports its own metrics, and none of the job queue',
  ),
  'jobqueue.metrics.metricsdurationunit': shown(
    'test/worker/metrics.test.ts > with enablemetrics > metricsdurationunit gives every duration in seconds',
  ),
  'jobqueue.metrics.enablesemanticmetrics': shown(
    'test/worker/metrics.test.ts > with enablemetrics > enablesemanticmetrics adds those of the OpenTelemetry messaging conventions, and off leaves them out',
  ),
  'cache.enabled': shown(
    'test/relay/shared-allows.test.ts > cache.enabled: what one process was allowed, another one does not ask again',
  ),
  'cache.address': shown(
    'test/relay/shared-allows.test.ts > address, username, password, db and name are how the server is reached',
  ),
  'cache.name': shown(
    'test/relay/shared-allows.test.ts > address, username, password, db and name are how the server is reached',
  ),
  'cache.username': shown(
    'test/relay/shared-allows.test.ts > address, username, password, db and name are how the server is reached',
  ),
  'cache.password': shown(
    'test/relay/shared-allows.test.ts > address, username, password, db and name are how the server is reached',
  ),
  'cache.dialtimeout': shown(
    'test/relay/shared-allows.test.ts > cache.dialtimeout: ends an attempt to connect that nobody answers',
  ),
  'cache.readtimeout': shown(
    'test/relay/shared-allows.test.ts > cache.readtimeout and writetimeout: together they end a command that is not answered, and -1 does not',
  ),
  'cache.writetimeout': shown(
    'test/relay/shared-allows.test.ts > cache.readtimeout and writetimeout: together they end a command that is not answered, and -1 does not',
  ),
  'cache.minidleconns': shown(
    'test/relay/shared-allows.test.ts > cache.minidleconns, maxidleconns and maxactiveconns are how many connections there are',
  ),
  'cache.maxidleconns': shown(
    'test/relay/shared-allows.test.ts > cache.minidleconns, maxidleconns and maxactiveconns are how many connections there are',
  ),
  'cache.maxactiveconns': shown(
    'test/relay/shared-allows.test.ts > cache.minidleconns, maxidleconns and maxactiveconns are how many connections there are',
  ),
  'cache.maxretries': shown(
    'test/relay/shared-allows.test.ts > cache.maxretries: a command fails after so many lost connections',
  ),
  'cache.db': shown(
    'test/relay/shared-allows.test.ts > address, username, password, db and name are how the server is reached',
  ),
  'sessions.signingkey': shown(
    'test/api/http/settings.test.ts > sessions > signingkey: what one key signed, another does not accept',
  ),
  'sessions.encryptionkey': shown(
    'test/workflows/maintenance/payload-codec.test.ts > goes on after the key was rotated: old runs are read and end, new payloads have the new key',
  ),
  'sessions.domain': shown(
    'test/api/http/settings.test.ts > sessions > domain, maxage, secure, httponly and samesite are attributes of the access cookie',
  ),
  'sessions.maxage': shown(
    'test/api/identity/sessions.test.ts > the session cookie > ends after sessions.maxage, whatever the browser keeps',
  ),
  'sessions.secure': shown(
    'test/api/http/settings.test.ts > sessions > domain, maxage, secure, httponly and samesite are attributes of the access cookie',
  ),
  'sessions.httponly': shown(
    'test/api/http/settings.test.ts > sessions > domain, maxage, secure, httponly and samesite are attributes of the access cookie',
  ),
  'sessions.samesite': shown(
    'test/api/http/settings.test.ts > sessions > domain, maxage, secure, httponly and samesite are attributes of the access cookie',
  ),
  'integrations.chatruntime.webhookURL': shown(
    'test/workflows/webhooks/system-messages.test.ts > without a bot the incoming webhook is used, and without both nothing is done',
  ),
  'integrations.chatruntime.botToken': shown(
    'test/workflows/webhooks/system-messages.test.ts > a message that is refused waits for another token, with the word of the platform',
  ),
  'integrations.chatruntime.defaultChannel': shown(
    'test/workflows/webhooks/system-messages.test.ts > without a bot the incoming webhook is used, and without both nothing is done',
  ),
  'integrations.email.testdir': shown(
    'test/workflows/email/email-settings.test.ts > sender, company, texts, links and folder are those of integrations.email',
  ),
  'integrations.email.fromemail': shown(
    'test/workflows/email/email-settings.test.ts > sender, company, texts, links and folder are those of integrations.email',
  ),
  'integrations.email.supportemail': shown(
    'test/workflows/email/email-settings.test.ts > sender, company, texts, links and folder are those of integrations.email',
  ),
  'integrations.email.apiurl': shown(
    'test/workflows/email/email-settings.test.ts > sender, company, texts, links and folder are those of integrations.email',
  ),
  'integrations.email.CompanyName': shown(
    'test/workflows/email/email-settings.test.ts > sender, company, texts, links and folder are those of integrations.email',
  ),
  'integrations.email.TroubleText': shown(
    'test/workflows/email/email-settings.test.ts > sender, company, texts, links and folder are those of integrations.email',
  ),
  'integrations.email.provider': shown(
    'test/workflows/email/email-providers.test.ts > providera > is given a mail once, and managers see that it was sent',
  ),
  'integrations.email.providera.apikey': shown(
    'test/workflows/email/email-providers.test.ts > providera > that refuses the key makes mails wait where managers see it, until the configuration has another',
  ),
  'integrations.email.providera.webhooksecret': shown(
    'test/api/email/email-webhooks.test.ts > a receiver > T-90: is not there without a secret',
  ),
  'integrations.email.providerb.servertoken': shown(
    'test/workflows/email/email-providers.test.ts > providerb > that refuses the key makes mails wait where managers see it, until the configuration has another',
  ),
  'integrations.email.providerb.messagestream': shown(
    'test/workflows/email/email-providers.test.ts > messagestream, trackopens and tracklinks are in requests to providerb, except tracking of mails with a token',
  ),
  'integrations.email.providerb.trackopens': shown(
    'test/workflows/email/email-providers.test.ts > messagestream, trackopens and tracklinks are in requests to providerb, except tracking of mails with a token',
  ),
  'integrations.email.providerb.tracklinks': shown(
    'test/workflows/email/email-providers.test.ts > messagestream, trackopens and tracklinks are in requests to providerb, except tracking of mails with a token',
  ),
  'integrations.email.providerb.webhooksecret': shown(
    'test/api/email/email-webhooks.test.ts > a receiver > T-90: is not there without a secret',
  ),
  'server.notificationlookbackdays': shown(
    'test/api/notifications/notification-inbox.test.ts > the inbox has all that is unread, and what was read within the look-back, also after a reload',
  ),
  'ormconfig.notifications.consoleurl': shown(
    'test/workflows/notifications/notification-mails.test.ts > a notification > has links to the page that is configured, also after a reload',
  ),
  'integrations.email.questionnaireemail': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.rooturl': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.producturl': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.docsurl': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.CompanyAddress': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.Corporation': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.LogoURL': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.HeaderLogoURL': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.Copyright': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.TermsURL': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.PrivacyURL': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.UnsubscribeURL': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.HeaderText': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.CardStyle': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.BodyBackgroundColor': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.CardBackgroundColor': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.HeroBackgroundColor': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.ButtonColor': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.ButtonTextColor': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.HeadingColor': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.TextColor': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.FooterTextColor': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.AccentBorderColor': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'integrations.email.Tagline': shown(
    'test/temporal-dev/mail-previews.test.ts > texts, links and colours of the configuration are in the mails',
  ),
  'workflows.dispatch.enabled': shown(
    'test/relay/dispatch-switch.test.ts > dispatch.enabled off keeps events in their rows, and switching it on delivers them',
  ),
  'workflows.dispatch.workercount': shown(
    'test/worker/queues.test.ts > batches that are delivered at the same time > are as many as workercount says when the queue does not',
  ),
  'workflows.dispatch.maxretries': shown(
    'test/workflows/events/failing-listener.test.ts > maxretries is obeyed from the reload on',
  ),
  'workflows.dispatch.failonenqueueerror': shown(
    'test/relay/fail-on-enqueue.test.ts > off: the request goes on without them, with its history, and the log says so',
  ),
  'workflows.dispatch.queuename': shown(
    'test/worker/queues.test.ts > batches that are delivered at the same time > are as many as the queue of the configured name may have',
  ),
  'workflows.webhookallowprivateaddresses': shown(
    'test/api/webhooks/webhook-endpoints.test.ts > T-83: without configuration, private addresses and http are refused, when an endpoint is made and when it changes',
  ),
  ...rateLimiter('ratelimit'),
  ...rateLimiter('ratelimitunmatched'),
  'totp.enabled': shown(
    'test/api/identity/second-factor.test.ts > totp > enabled: off, nobody can set it up, and nobody is asked for a code',
  ),
  'totp.codelength': shown(
    'test/api/identity/second-factor.test.ts > totp > codelength and issuer: are what apps are set up with; recoverycodecount and recoverycodelength',
  ),
  'totp.issuer': shown(
    'test/api/identity/second-factor.test.ts > totp > codelength and issuer: are what apps are set up with; recoverycodecount and recoverycodelength',
  ),
  'totp.cache': shown(
    'test/api/identity/second-factor.test.ts > totp > cache: used codes are in the cache as well, and its loss changes no answer',
  ),
  'totp.secret': shown(
    'test/api/identity/second-factor.test.ts > totp > secret: an earlier one still opens what it encrypted, and what is used is encrypted with the newest',
  ),
  'totp.recoverycodecount': shown(
    'test/api/identity/second-factor.test.ts > totp > codelength and issuer: are what apps are set up with; recoverycodecount and recoverycodelength',
  ),
  'totp.recoverycodelength': shown(
    'test/api/identity/second-factor.test.ts > totp > codelength and issuer: are what apps are set up with; recoverycodecount and recoverycodelength',
  ),
};
