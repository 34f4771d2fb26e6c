import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publicApiUrl } from '#config/objects/public-api-url.ts';
import { printProblem } from '#config/schema/config-problem.ts';
import { leastEnvironment, productionEnvironment, Sandbox } from './configuration-folder.ts';
import { showsWithinConfig } from '../kit/shows.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.make();
});
afterAll(() => sandbox.remove());

const long = 'x'.repeat(40);

/** What is set, what it is refused for (path and beginning of the reason), and what makes it right. */
const cases: readonly [content: string, refusals: readonly string[], mended: string][] = [
  [
    'server: {tls: {enabled: true}}',
    [
      'server.tls.certfile: is missing, but needed because server.tls.enabled is on and server.tls.autocert is off',
      'server.tls.certkey: is missing, but needed because server.tls.enabled is on and server.tls.autocert is off',
    ],
    'server: {tls: {enabled: true, certfile: a, certkey: b}}',
  ],
  [
    'domain: example.com\nserver: {tls: {autocert: true}}',
    ['server.tls.autocert: has no effect while server.tls.enabled is off'],
    'domain: example.com\nserver: {tls: {enabled: true, autocert: true}}',
  ],
  [
    'domain: example.com\nserver: {tls: {enabled: true, autocert: true, certfile: a, certkey: b}}',
    [
      'server.tls.certfile: names a file, but server.tls.autocert obtains the certificate',
      'server.tls.certkey: names a file, but server.tls.autocert obtains the certificate',
    ],
    'domain: example.com\nserver: {tls: {enabled: true, autocert: false, certfile: a, certkey: b}}',
  ],
  ...(
    [
      ['http://localhost:17608', 'localhost is known on this machine alone'],
      ['https://api.localhost', 'api.localhost is known on this machine alone'],
      ['https://127.0.0.1', '127.0.0.1 is an IP address'],
      ['https://[2001:db8::1]', '[2001:db8::1] is an IP address'],
      ['https://core', 'core has no dot'],
    ] as const
  ).map(([url, reason]): [string, string[], string] => [
    `server: {tls: {enabled: true, autocert: true}}\nintegrations: {email: {apiurl: "${url}"}}`,
    [`server.tls.autocert: needs a public name for this server, but ${reason}`],
    'server: {tls: {enabled: true, autocert: true}}\nintegrations: {email: {apiurl: "https://api.example.com"}}',
  ]),
  [
    'server: {cachecontrol: {etagheaders: [If-Match, Authorization]}}',
    ['server.cachecontrol.etagheaders: has "Authorization", which is not a header of conditional requests'],
    'server: {cachecontrol: {etagheaders: [If-Match, if-none-match, IF-RANGE]}}',
  ],
  [
    'server: {cachecontrol: {nocacheheaders: {cache-control: "public, max-age=60"}}}',
    ['server.cachecontrol.nocacheheaders: lets shared caches keep responses'],
    'server: {cachecontrol: {nocacheheaders: {cache-control: "no-cache"}}}',
  ],
  [
    'server: {cachecontrol: {nocacheheaders: {Content-Length: "5"}}}',
    ['server.cachecontrol.nocacheheaders: has Content-Length, which each response sets itself'],
    'server: {cachecontrol: {nocacheheaders: {Surrogate-Control: no-store}}}',
  ],
  [
    'server: {listen: ":9000", metricsport: "127.0.0.1:9000"}',
    ['server.metricsport: is the same port as in server.listen'],
    'server: {listen: "127.0.0.2:9000", metricsport: "127.0.0.1:9000"}',
  ],
  ['server: {listen: ":17609"}', ['server.metricsport: is the same port'], 'server: {listen: ":0", metricsport: ":0"}'],
  [
    'server: {csrfprotection: {samesite: None, secure: false}}',
    ['server.csrfprotection.samesite: requires secure'],
    'server: {csrfprotection: {samesite: None}}',
  ],
  [
    'auth: {token: {cache: {enabled: true}}}',
    ['auth.token.cache.enabled: is on, but there is no cache connection'],
    'auth: {token: {cache: {enabled: true}}}\ncache: {enabled: true}',
  ],
  [
    'sessions: {samesite: None, secure: false}',
    ['sessions.samesite: requires secure'],
    'sessions: {samesite: Lax, secure: false}',
  ],
  [
    'ormconfig: {summarizer: {type: llm}}',
    ['ormconfig.summarizer.llm.provider: names no service'],
    'ormconfig: {summarizer: {type: llm, llm: {provider: llma, llma: {model: m, apikey: k}}}}',
  ],
  [
    'ormconfig: {summarizer: {type: llm, llm: {provider: llmb, llmb: {model: m}}}}',
    ['ormconfig.summarizer.llm.llmb.apikey: is missing', 'ormconfig.summarizer.llm.llmb.accountid: is missing'],
    'ormconfig: {summarizer: {llm: {provider: llmb}}}',
  ],
  [
    'ratelimit: {options: [{window: 5000, expiration: 1000}]}',
    ['ratelimit.options: has an item whose expiration is shorter'],
    'ratelimit: {options: [{window: 5000, expiration: 0}]}',
  ],
  [
    'db: {multiwrite: true}',
    ['db.secondarydbsource: is missing, but needed because db.multiwrite is on'],
    'db: {multiwrite: true, secondarydbsource: postgres://core@other/core}',
  ],
  [
    'db: {multiwrite: true, secondarydbsource: "postgres://core:pw@127.0.0.1:5432/core"}',
    ['db.secondarydbsource: is the primary database'],
    'db: {secondarydbsource: "postgres://core:pw@127.0.0.1:5432/core"}',
  ],
  [
    'db: {maxconnections: 4}',
    ['db.maxidleconnections: is more than db.maxconnections (4)'],
    'db: {maxconnections: 4, maxidleconnections: 4}',
  ],
  [
    'auth: {token: {accessduration: 7200000}}',
    ['auth.token.refreshduration: is not longer than auth.token.accessduration'],
    'auth: {token: {accessduration: 7200000, refreshduration: 7200001}}',
  ],
  [
    'auth: {token: {accessduration: 900000}}',
    ['auth.token.refreshoverlap: reaches back further than the lifetime of the access token'],
    'auth: {token: {accessduration: 900000, refreshoverlap: -899999}}',
  ],
  [
    'auth: {token: {generatekeys: false}}',
    ['auth.token.keys: is empty and no other source'],
    'auth: {token: {generatekeys: false}}\nkeywatcher: {enabled: true}',
  ],
  [
    'auth: {token: {keys: {key-2: a.pem}}}',
    ['auth.token.kid: is not the id of a key'],
    'auth: {token: {keys: {key-1: a.pem, key-2: b.pem}}}',
  ],
  [
    'auth: {token: {apitokens: {enabled: true}}}',
    ['auth.token.apitokens.keys: has no active key'],
    `auth: {token: {apitokens: {enabled: true, keys: {a: {secret: ${long}}}}}}`,
  ],
  [
    `auth: {token: {apitokens: {keys: {a: {secret: ${long}}, b: {secret: ${long}}}}}}`,
    ['auth.token.apitokens.keys: has 2 active keys'],
    `auth: {token: {apitokens: {keys: {a: {secret: ${long}}, b: {secret: ${long}, status: revoked}}}}}`,
  ],
  [
    'domain: example.com\nauth: {supportedproviders: [codehost]}',
    ['auth.providers.codehost.clientid: is missing', 'auth.providers.codehost.clientsecret: is missing'],
    'domain: example.com\nauth: {supportedproviders: [codehost], providers: {codehost: {clientid: a, clientsecret: b}}}',
  ],
  [
    'auth: {supportedproviders: [identity], providers: {identity: {clientid: a}}}',
    ['auth.providers.identity.clientsecret: is missing'],
    // Without an address of the application, the browser returns to the sign-in page of this server.
    'auth: {supportedproviders: [identity], providers: {identity: {clientid: a, clientsecret: b}}}',
  ],
  [
    'auth: {supportedproviders: [webauthn]}',
    [
      'auth.providers.webauthn.displayname: is missing',
      'auth.providers.webauthn.relyingpartyid: is missing',
      'auth.providers.webauthn.requestorigins: is empty',
    ],
    'domain: example.com\nauth: {supportedproviders: [webauthn], providers: {webauthn: {displayname: a}}}',
  ],
  [
    'domain: example.com\nauth: {providers: {webauthn: {enabled: true}}}',
    ['auth.providers.webauthn.displayname: is missing'],
    'auth: {providers: {webauthn: {maxdevices: 3}}}',
  ],
  [
    'domain: example.com\nauth: {supportedproviders: [webauthn], providers: {webauthn: {displayname: a, requestorigins: ["*"]}}}',
    ['auth.providers.webauthn.requestorigins: has *'],
    'auth: {providers: {webauthn: {requestorigins: ["*"]}}}',
  ],
  [
    'auth: {supportaccess: {enabled: true}}',
    ['email', 'subjectid', 'password', 'clientid', 'clientsecret', 'issuerurl', 'redirecturl', 'alloweddomain'].map(
      (key) => `auth.supportaccess.${key}: is missing`,
    ),
    'auth: {supportaccess: {enabled: true, email: a@b.example, subjectid: 01J0000000000000000000000A, password: 0123456789abcdef, clientid: a, clientsecret: b, issuerurl: https://i.example, redirecturl: https://a.example/cb, alloweddomain: b.example}}',
  ],
  [
    'authz: {credentials: {apitoken: a, clientid: b}}',
    ['authz.credentials.clientid: is set, and so is authz.credentials.apitoken'],
    'authz: {credentials: {apitoken: a}}',
  ],
  [
    'authz: {credentials: {clientid: a}}',
    ['authz.credentials.clientsecret: is missing', 'authz.credentials.issuer: is missing'],
    'authz: {credentials: {clientid: a, clientsecret: b, issuer: c}}',
  ],
  [
    'authz: {modelfile: a, modulefile: b}',
    ['authz.modulefile: is set, and so is authz.modelfile'],
    'authz: {modulefile: b}',
  ],
  [
    'authz: {parentcontextconditions: [{kind: task, name: a}, {kind: note, name: a}, {kind: task, name: b}]}',
    ['authz.parentcontextconditions: has several conditions for task'],
    'authz: {parentcontextconditions: [{kind: task, name: a}, {kind: note, name: a}]}',
  ],
  [
    'jobqueue: {queueconf: {Queues: {emial: {}}}}',
    ['jobqueue.queueconf.Queues: names the queue emial, which does not exist'],
    'jobqueue: {queueconf: {Queues: {email: {MaxWorkers: 3}, deliveries: {}}}}\nworkflows: {dispatch: {queuename: deliveries}}',
  ],
  [
    'workflows: {dispatch: {queuename: email}}',
    ['workflows.dispatch.queuename: is the name of another queue'],
    'workflows: {dispatch: {queuename: mine}}',
  ],
  [
    'jobqueue: {queueconf: {FetchCooldown: 5000}}',
    ['jobqueue.queueconf.FetchPollInterval: is shorter than'],
    'jobqueue: {queueconf: {FetchCooldown: 5000, FetchPollInterval: 5000}}',
  ],
  [
    'jobqueue: {queueconf: {RetryPolicy: {initialinterval: 200000}}}',
    ['jobqueue.queueconf.RetryPolicy.maximuminterval: is shorter'],
    'jobqueue: {queueconf: {RetryPolicy: {initialinterval: 100000}}}',
  ],
  [
    'jobqueue: {queueconf: {PeriodicJobs: [{name: a, workflow: runIt, schedule: 5000}, {name: a, workflow: runIt, schedule: "@daily"}]}}',
    ['jobqueue.queueconf.PeriodicJobs: has two schedules named a'],
    'jobqueue: {queueconf: {PeriodicJobs: [{name: a, workflow: runIt, schedule: 5000}, {name: b, workflow: runIt, schedule: "0 3 * * 1-5"}]}}',
  ],
  [
    'objectstorage: {providers: {disk: {enabled: true}}}',
    ['objectstorage.providers.disk.bucket: is missing'],
    'objectstorage: {providers: {disk: {enabled: true, bucket: files}, database: {enabled: true}}}',
  ],
  [
    'objectstorage: {providers: {edgestore: {enabled: true, bucket: b}}}',
    ['objectstorage.providers.edgestore.credentials.accountid: is missing'],
    'objectstorage: {devmode: true, providers: {edgestore: {enabled: true}}}',
  ],
  [
    'objectstorage: {providers: {bucketstore: {enabled: true, bucket: b, credentials: {accesskeyid: a}}}}',
    ['objectstorage.providers.bucketstore.credentials.secretaccesskey: is missing'],
    'objectstorage: {providers: {bucketstore: {enabled: true, bucket: b, credentials: {accesskeyid: a, secretaccesskey: b}}}}',
  ],
  [
    'objectstorage: {providers: {disk: {backup: {readfrombackup: true}}}}',
    ['objectstorage.providers.disk.backup.readfrombackup: is on, but there is no backup'],
    'objectstorage: {providers: {disk: {backup: {readfrombackup: true, enabled: true}}}}',
  ],
  [
    'objectstorage: {providers: {disk: {enabled: true, bucket: b, backup: {enabled: true, provider: disk}}}}',
    ['objectstorage.providers.disk.backup.provider: is the provider itself'],
    'objectstorage: {providers: {disk: {enabled: true, bucket: b, backup: {enabled: true}}}}',
  ],
  [
    'objectstorage: {providers: {disk: {enabled: true, bucket: b, backup: {enabled: true, provider: bucketstore}}}}',
    [
      'objectstorage.providers.bucketstore.bucket: is missing, but needed because objectstorage.providers.disk stores its copies there',
    ],
    'objectstorage: {providers: {disk: {enabled: true, bucket: b, backup: {enabled: true, provider: bucketstore}}, bucketstore: {bucket: c}}}',
  ],
  [
    'subscription: {paymentwebhookapiversion: v1, paymentwebhookdiscardapiversion: v1}',
    ['subscription.paymentwebhookdiscardapiversion: is the version that subscription.paymentwebhookapiversion accepts'],
    'subscription: {paymentwebhookapiversion: v2, paymentwebhookdiscardapiversion: v1}',
  ],
  [
    'subscription: {enabled: true, paymentwebhookapiversion: v2}',
    [
      'subscription.privatepaymentkey: is missing',
      'subscription.paymentbillingportalsuccessurl: is missing',
      'subscription.paymentcancellationreturnurl: is missing',
      'subscription.paymentwebhooksecrets: has no secret for the accepted version v2',
    ],
    'domain: example.com\nsubscription: {enabled: true, privatepaymentkey: k, paymentwebhookapiversion: v2, paymentwebhooksecrets: {v2: s}}',
  ],
  [
    'ormconfig: {billing: {requirepaymentmethod: true}}',
    [
      'ormconfig.billing.requirepaymentmethod: is on, but without subscription.enabled no organization can have a payment method',
    ],
    'domain: example.com\normconfig: {billing: {requirepaymentmethod: true}}\nsubscription: {enabled: true, privatepaymentkey: k}',
  ],
  [
    'integrations: {paymentreminder: {enabled: true}, organizationdelete: {enabled: true}}',
    ['paymentreminder', 'organizationdelete'].map(
      (job) =>
        `integrations.${job}.enabled: is on, but without subscription.enabled nobody could pay for an organization, and all would be deleted`,
    ),
    'domain: example.com\nintegrations: {paymentreminder: {enabled: true}, organizationdelete: {enabled: true}}\nsubscription: {enabled: true, privatepaymentkey: k}',
  ],
  [
    'domain: example.com\nsubscription: {enabled: true, privatepaymentkey: sk_live_1}\normconfig: {modules: {usesandbox: true}}',
    ['subscription.privatepaymentkey: is a live key, but ormconfig.modules.usesandbox is on'],
    'domain: example.com\nsubscription: {enabled: true, privatepaymentkey: sk_test_1}\normconfig: {modules: {usesandbox: true}}',
  ],
  [
    'integrations: {email: {provider: providera}}',
    ['integrations.email.fromemail: is missing'],
    'integrations: {email: {provider: providera, fromemail: "Core <no-reply@example.com>"}}',
  ],
  [
    'integrations: {email: {provider: providera, fromemail: a@b.example, testdir: ""}}',
    ['integrations.email.providera.apikey: is missing'],
    'integrations: {email: {provider: providerb, fromemail: a@b.example, testdir: "", providerb: {servertoken: t}}}',
  ],
  [
    'integrations: {chat: {clientid: a}}',
    ['integrations.chat.clientsecret: is missing', 'integrations.chat.redirecturl: is missing'],
    'domain: example.com\nintegrations: {chat: {clientid: a, clientsecret: b}}',
  ],
  [
    'integrations: {oidclocal: {enabled: true}}',
    ['clientid', 'clientsecret', 'discoveryurl', 'redirecturl'].map(
      (key) => `integrations.oidclocal.${key}: is missing`,
    ),
    'integrations: {oidclocal: {enabled: true, clientid: a, clientsecret: b, discoveryurl: http://localhost:1/x, redirecturl: http://localhost:2/y}}',
  ],
  [
    'integrations: {codehostapp: {appid: a}, cloudsecurityhub: {accesskeyid: a}}',
    [
      'integrations.codehostapp.privatekey: is missing',
      'integrations.codehostapp.appslug: is missing',
      'integrations.cloudsecurityhub.secretaccesskey: is missing',
    ],
    'integrations: {codehostapp: {appslug: a}}',
  ],
  [
    'edge: {enabled: true}',
    ['edge.apitoken: is missing', 'edge.accountid: is missing'],
    'edge: {enabled: true, apitoken: a, accountid: b}',
  ],
  [
    'shortlinks: {enabled: true}',
    ['shortlinks.endpointurl: is missing', 'shortlinks.clientid: is missing', 'shortlinks.clientsecret: is missing'],
    'shortlinks: {enabled: true, endpointurl: https://s.example}\nedge: {clientid: a, clientsecret: b}',
  ],
];

const startingWith = (text: string): RegExp => new RegExp(`^${text.replaceAll(/[.()[\]{}$]/gu, String.raw`\$&`)}`, 'u');

describe('requirements between fields', () => {
  test.each(cases)('%s', async (content, refusals, mended) => {
    const refused = (await sandbox.problems(content)).map(({ path, reason }) => `${path}: ${reason}`);
    expect(refused).toEqual(refusals.map((refusal) => expect.stringMatching(startingWith(refusal))));
    expect((await sandbox.problems(mended)).map(printProblem)).toEqual([]);
  });

  test('switches for tests are refused in production', async () => {
    const content =
      'jobqueue: {queueconf: {TestOnly: true, Test: {Time: "2030-01-31T12:00:00Z", DisableUniqueEnforcement: true}}}';
    const refused = await sandbox.problems(content, productionEnvironment);
    expect(refused.map(({ path, reason }) => `${path} ${reason}`)).toEqual(
      ['TestOnly', 'Test.DisableUniqueEnforcement', 'Test.Time'].map(
        (key) => `jobqueue.queueconf.${key} is for tests, but server.dev is off`,
      ),
    );
    expect(await sandbox.problems(content, leastEnvironment)).toEqual([]);
  });

  test('authentication cannot be off in production where other machines reach the server', async () => {
    const off = (listen: string, environment: Readonly<Record<string, string>> = productionEnvironment) =>
      sandbox.problems(`auth: {enabled: false}\nserver: {listen: "${listen}"}`, environment);
    for (const listen of [':17608', '0.0.0.0:17608', '127.0.0.1.example:17608', '[::]:17608'])
      expect((await off(listen)).map(({ path, reason }) => `${path} ${reason}`)).toEqual([
        `auth.enabled is off, but server.listen (${listen}) can be reached from other machines and server.dev is off`,
      ]);
    for (const listen of ['127.0.0.1:17608', '[::1]:17608', 'localhost:17608']) expect(await off(listen)).toEqual([]);
    expect(await off(':17608', leastEnvironment)).toEqual([]);
  });

  test('a mail provider needs its key in production even when testdir is set', async () => {
    const content = 'integrations: {email: {provider: providerb, fromemail: a@b.example, testdir: mails}}';
    expect((await sandbox.problems(content, productionEnvironment)).map(({ path }) => path)).toEqual([
      'integrations.email.providerb.servertoken',
    ]);
    expect(await sandbox.problems(content, leastEnvironment)).toEqual([]);
  });

  test('SkipJobKindValidation accepts any workflow name in PeriodicJobs', async () => {
    showsWithinConfig('jobqueue.queueconf.SkipJobKindValidation');
    const jobs = 'PeriodicJobs: [{name: a, workflow: "run it", schedule: 5000}]';
    const [problem] = await sandbox.problems(`jobqueue: {queueconf: {${jobs}}}`);
    expect(problem?.reason).toContain('whose name is not of the form verbNoun');
    expect(await sandbox.problems(`jobqueue: {queueconf: {SkipJobKindValidation: true, ${jobs}}}`)).toEqual([]);
  });

  test('links in mails lead to the issuer of tokens, which must be a URL then', async () => {
    const withIssuer = (issuer: string) => ({ ...leastEnvironment, CORE_AUTH_TOKEN_ISSUER: issuer });
    const { config } = await sandbox.load('server: {}', withIssuer('https://issuer.example/'));
    expect(publicApiUrl(config)).toBe('https://issuer.example');
    expect((await sandbox.problems('server: {}', withIssuer('core'))).map(({ path }) => path)).toEqual([
      'integrations.email.apiurl',
    ]);
    const withUrl = 'integrations: {email: {apiurl: "https://api.example/v"}}';
    const both = await sandbox.load(withUrl, withIssuer('core'));
    expect(publicApiUrl(both.config)).toBe('https://api.example/v');
  });

  test('drivername takes all names of the one driver and no other', async () => {
    showsWithinConfig('db.drivername');
    for (const name of ['postgres', 'pgx', 'postgresql'])
      expect(await sandbox.problems(`db: {drivername: ${name}}`)).toEqual([]);
    expect(await sandbox.problems('db: {drivername: sqlite}')).toHaveLength(1);
  });

  test('migrationprovider takes the one provider and no other', async () => {
    showsWithinConfig('db.migrationprovider');
    expect(await sandbox.problems('db: {migrationprovider: mikro-orm}')).toEqual([]);
    expect(await sandbox.problems('db: {migrationprovider: goose}')).toHaveLength(1);
  });

  test('objects of features that are off may be left out', async () => {
    expect(await sandbox.problems('server: {}', productionEnvironment)).toEqual([]);
  });
});
