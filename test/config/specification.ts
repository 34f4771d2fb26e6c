/**
 * The fields that a configuration must have, by object, written down apart from `config/`, so that a test finds a misspelt or
 * forgotten key. Further fields are not listed here. Objects are the keys; fields are separated by spaces.
 */
export const specification: Readonly<Record<string, string>> = {
  '': 'domain refreshinterval',
  server:
    'dev listen metricsport shutdowngraceperiod readtimeout writetimeout idletimeout readheadertimeout enablegraphextensions enablegraphsubscriptions complexitylimit maxresultlimit secretmanager defaulttrustcenterdomain trustcentercnametarget trustcenterpreviewzoneid notificationlookbackdays',
  'server.tls': 'enabled certfile certkey autocert',
  'server.cors': 'enabled prefixes alloworigins cookieinsecure',
  'server.secure':
    'enabled xssprotection contenttypenosniff xframeoptions hstspreloadenabled hstsmaxage contentsecuritypolicy referrerpolicy cspreportonly',
  'server.cachecontrol': 'enabled nocacheheaders etagheaders',
  'server.mime': 'enabled mimetypesfile defaultcontenttype',
  'server.graphpool': 'maxworkers',
  'server.csrfprotection': 'enabled header cookie secure samesite cookiehttponly cookiedomain cookiepath',
  ormconfig: 'entitytypes maxpoolsize maxschemaimportsize questionnaireproducturl',
  'ormconfig.summarizer': 'type maximumsentences',
  'ormconfig.summarizer.llm': 'provider',
  'ormconfig.summarizer.llm.llma': 'betaheader legacytextcompletion baseurl model apikey',
  'ormconfig.summarizer.llm.llmb': 'model apikey accountid serverurl',
  'ormconfig.summarizer.llm.llmc': 'model apikey url organizationid',
  'ormconfig.modules': 'enabled usesandbox devmode',
  'ormconfig.emailvalidation': 'enabled enableautoupdatedisposable enablegravatarcheck enablesmtpcheck blockeddomains',
  'ormconfig.emailvalidation.allowedemailtypes': 'disposable free role',
  'ormconfig.billing': 'requirepaymentmethod bypassemaildomains',
  'ormconfig.notifications': 'consoleurl',
  auth: 'enabled supportedproviders',
  'auth.token':
    'kid audience refreshaudience issuer accessduration refreshduration refreshoverlap jwksendpoint keys generatekeys jwkscachettl assessmentaccessduration trustcenterndarequestaccessduration',
  'auth.token.cache': 'enabled blacklistprefix',
  'auth.token.cache.config':
    'enabled address name username password db dialtimeout readtimeout writetimeout maxretries minidleconns maxidleconns maxactiveconns',
  'auth.token.apitokens': 'enabled envprefix keys secretsize delimiter prefix',
  'auth.providers': 'redirecturl',
  'auth.providers.codehost': 'clientid clientsecret clientendpoint scopes redirecturl',
  'auth.providers.identity': 'clientid clientsecret clientendpoint scopes redirecturl',
  'auth.providers.webauthn':
    'enabled displayname relyingpartyid requestorigins maxdevices enforcetimeout timeout debug',
  'auth.supportaccess':
    'enabled email displayname subjectid password clientid clientsecret issuerurl discoveryendpoint redirecturl alloweddomain',
  authz:
    'enabled storename hosturl storeid modelid createnewmodel modelfile modulefile maxbatchwritesize enableparentcontext parentcontextskipkinds parentcontextconditions',
  'authz.credentials': 'apitoken clientid clientsecret audience issuer scopes',
  db: 'debug databasename drivername multiwrite primarydbsource secondarydbsource cachettl runmigrations migrationprovider enablehistory maxconnections maxidleconnections',
  jobqueue: 'connectionuri runmigrations',
  'jobqueue.metrics': 'enablemetrics metricsdurationunit enablesemanticmetrics',
  'jobqueue.queueconf':
    'AdvisoryLockPrefix CancelledJobRetentionPeriod CompletedJobRetentionPeriod DiscardedJobRetentionPeriod FetchCooldown FetchPollInterval JobCleanerTimeout JobStuckThreshold JobTimeout MaxAttempts ReindexerTimeout RescueStuckJobsAfter SoftStopTimeout ID Schema PollOnly SkipJobKindValidation SkipUnknownJobCheck TestOnly ReindexerIndexNames Queues JobInsertMiddleware Hooks Middleware Plugins PeriodicJobs WorkerMiddleware Logger Workers ErrorHandler JobStuckHandler ReindexerSchedule',
  'jobqueue.queueconf.Test': 'DisableUniqueEnforcement Time',
  // Its form was free to choose.
  'jobqueue.queueconf.RetryPolicy': 'initialinterval backoffcoefficient maximuminterval',
  cache:
    'enabled address name username password db dialtimeout readtimeout writetimeout maxretries minidleconns maxidleconns maxactiveconns',
  sessions: 'signingkey encryptionkey domain maxage secure httponly samesite',
  totp: 'enabled codelength issuer cache secret recoverycodecount recoverycodelength',
  ratelimit:
    'enabled options headers forwardedindexfrombehind includepath includemethod keyprefix denystatus denymessage sendretryafterheader dryrun',
  ratelimitunmatched:
    'enabled options headers forwardedindexfrombehind includepath includemethod keyprefix denystatus denymessage sendretryafterheader dryrun',
  objectstorage: 'enabled keys maxsizemb maxmemorymb devmode',
  'objectstorage.providers.bucketstore': 'enabled ensureavailable bucket baseurl proxypresignenabled region endpoint',
  'objectstorage.providers.bucketstore.backup': 'enabled provider readfrombackup region',
  'objectstorage.providers.bucketstore.credentials': 'accesskeyid secretaccesskey',
  'objectstorage.providers.edgestore': 'enabled ensureavailable bucket baseurl proxypresignenabled endpoint',
  'objectstorage.providers.edgestore.backup': 'enabled provider readfrombackup region',
  'objectstorage.providers.edgestore.credentials': 'accesskeyid secretaccesskey accountid',
  'objectstorage.providers.cloudstore': 'enabled ensureavailable bucket baseurl proxypresignenabled endpoint projectid',
  'objectstorage.providers.cloudstore.backup': 'enabled provider readfrombackup region',
  'objectstorage.providers.disk': 'enabled ensureavailable bucket baseurl proxypresignenabled endpoint',
  'objectstorage.providers.disk.backup': 'enabled provider readfrombackup region',
  'objectstorage.providers.database': 'enabled ensureavailable bucket baseurl',
  'objectstorage.providers.database.backup': 'enabled provider readfrombackup region',
  subscription:
    'enabled privatepaymentkey paymentwebhooksecret paymentwebhooksecrets paymentwebhookurl paymentbillingportalsuccessurl paymentcancellationreturnurl paymentwebhookevents paymentwebhookapiversion paymentwebhookdiscardapiversion',
  keywatcher: 'enabled keydir',
  integrations: 'consoleintegrationpath',
  'integrations.cloudsecurityhub': 'accesskeyid secretaccesskey arn',
  'integrations.edgeruntime': 'apitoken accountid',
  'integrations.edgeruntime.domainscan': 'bulkscan nonvendorcategories deniedvendornames scanttl',
  'integrations.codehostapp': 'appid privatekey webhooksecret appslug',
  'integrations.chat': 'clientid clientsecret redirecturl appid',
  'integrations.chatruntime': 'webhookURL botToken defaultChannel',
  'integrations.clouddrive': 'clientid clientsecret redirecturl',
  'integrations.officesuite': 'clientid clientsecret redirecturl',
  'integrations.directoryservice': 'clientid clientsecret redirecturl defaulttenant applicationid',
  'integrations.teamchat': 'clientid clientsecret redirecturl applicationid',
  'integrations.personaldrive': 'clientid clientsecret redirecturl contentmode applicationid',
  'integrations.oidclocal': 'enabled clientid clientsecret discoveryurl redirecturl',
  'integrations.email':
    'testdir provider fromemail supportemail questionnaireemail rooturl producturl docsurl apiurl CompanyName CompanyAddress Corporation LogoURL HeaderLogoURL Copyright TroubleText TermsURL PrivacyURL UnsubscribeURL HeaderText CardStyle BodyBackgroundColor CardBackgroundColor HeroBackgroundColor ButtonColor ButtonTextColor HeadingColor TextColor FooterTextColor AccentBorderColor Tagline',
  'integrations.email.providera': 'apikey webhooksecret',
  'integrations.email.providerb': 'servertoken messagestream trackopens tracklinks webhooksecret',
  'integrations.paymentreminder': 'paymentmethodinterval deletiondays enabled dryrun',
  'integrations.organizationdelete': 'maxdeletesperrun enabled',
  'integrations.integrationlifecycle': 'enabled dryrun maxperrun',
  workflows: 'enabled webhookallowprivateaddresses',
  'workflows.cel':
    'timeout costlimit interruptcheckfrequency parserrecursionlimit parserexpressionsizelimit comprehensionnestinglimit extendedvalidations optionaltypes identifierescapesyntax crosstypenumericcomparisons macrocalltracking evaloptimize trackstate',
  'workflows.dispatch': 'enabled workercount maxretries failonenqueueerror queuename',
  edge: 'enabled apitoken accountid clientid clientsecret',
  shortlinks: 'enabled clientid clientsecret endpointurl linkttl',
  backfill: 'enabled',
};

/** Defaults that must not change. */
export const statedDefaults: Readonly<Record<string, unknown>> = {
  'server.secure.xssprotection': '1; mode=block',
  'server.secure.contenttypenosniff': 'nosniff',
  'server.secure.xframeoptions': 'SAMEORIGIN',
  'server.secure.hstspreloadenabled': false,
  'server.secure.hstsmaxage': 31_536_000,
  'server.secure.contentsecuritypolicy': "default-src 'self'",
  'server.secure.referrerpolicy': 'same-origin',
  'server.secure.cspreportonly': false,
  'server.csrfprotection.header': 'X-Csrf-Token',
  'server.csrfprotection.cookiedomain': '',
  'server.csrfprotection.cookiepath': '/',
  'integrations.paymentreminder.paymentmethodinterval': 30,
  'integrations.paymentreminder.deletiondays': 7,
  'integrations.paymentreminder.enabled': false,
  'integrations.paymentreminder.dryrun': true,
  'integrations.organizationdelete.maxdeletesperrun': 25,
  'integrations.integrationlifecycle.enabled': true,
  'integrations.integrationlifecycle.dryrun': true,
  'integrations.integrationlifecycle.maxperrun': 100,
  'integrations.email.providerb.messagestream': 'outbound',
};
