import { cachecontrol } from './cachecontrol.ts';
import { cors } from './cors.ts';
import { csrfprotection } from './csrfprotection.ts';
import { duration, flag, integer, object, text } from '../../schema/field.ts';
import { domainName, listenAddress, listenAddressOrSocket, secretName } from '../../schema/format.ts';
import { mime } from './mime.ts';
import { secure } from './secure.ts';
import { tls } from './tls.ts';

/** `server`. */
export const server = object('HTTP server settings.', {
  dev: flag({
    description:
      'Development mode: serves GraphiQL, answers introspection, shows error details, sets the session cookie without the `__Host-` prefix, and generates missing secrets into the local state folder. Never turn it on in production.',
    restart: true,
  }),
  listen: text({
    description:
      'Address on which the HTTP server listens. `:port` means every interface; port 0 takes a free port. `unix:/path` is a Unix socket, for a reverse proxy on the same machine; its clients have the address 127.0.0.1 unless ratelimit.headers names a header with their address.',
    default: ':17608',
    format: listenAddressOrSocket,
    required: true,
    restart: true,
  }),
  metricsport: text({
    description:
      'Address on which `/metrics` is served for Prometheus, written like listen. When empty, metrics are not served.',
    default: ':17609',
    format: listenAddress,
    restart: true,
  }),
  shutdowngraceperiod: duration({
    description:
      'Time that running requests have after a stop signal. Then their connections are closed. It is also the time for which the API waits for PostgreSQL at its start.',
    default: 10_000,
    minimum: 100,
    maximum: 600_000,
  }),
  readtimeout: duration({
    description: 'Maximum time to read a whole request including its body. Then the response is 408.',
    default: 15_000,
    minimum: 100,
    maximum: 3_600_000,
  }),
  writetimeout: duration({
    description:
      'Maximum time from the end of the request headers to the end of the response. It is also the deadline of every call to PostgreSQL, OpenFGA and other services that the request makes. An upload has it from the last progress of its storage.',
    default: 15_000,
    minimum: 100,
    maximum: 3_600_000,
  }),
  idletimeout: duration({
    description: 'Maximum time that a keep-alive connection waits for its next request.',
    default: 30_000,
    minimum: 100,
    maximum: 3_600_000,
  }),
  readheadertimeout: duration({
    description: 'Maximum time to read the request headers. Then the response is 408.',
    default: 2000,
    minimum: 100,
    maximum: 600_000,
  }),
  tls,
  cors,
  secure,
  cachecontrol,
  mime,
  graphpool: object('Concurrency of GraphQL operations.', {
    maxworkers: integer({
      description:
        'Maximum number of GraphQL operations of this process whose resolvers run at the same time. The resolvers of one operation share one database connection. Further operations are queued, and organizations alternate; beyond ten times this number, operations are rejected with 503.',
      unit: 'operations',
      default: 100,
      minimum: 1,
      maximum: 10_000,
    }),
  }),
  enablegraphextensions: flag({
    description:
      'Adds `extensions` to the results of GraphQL operations: request id, cost (and `server.complexitylimit`), time waited and spent, number of SQL statements of a query. Results with errors always carry the code and the request id in each error instead.',
    default: true,
  }),
  enablegraphsubscriptions: flag({
    description:
      'Serves GraphQL subscriptions over WebSockets and server-sent events, and records each change for them. When off, subscriptions are rejected. All API and worker processes must have the same value, because changes of a process where it is off are not sent. The deletion of a record is sent only while db.enablehistory is on.',
    restart: true,
  }),
  complexitylimit: integer({
    description:
      'Maximum number of record fields that one GraphQL operation may select, counted over all levels of nesting. An operation that selects more is rejected. `node` and `nodes` count the fields of the kind with the most; all kinds together may have ten times this number.',
    unit: 'fields',
    default: 100,
    minimum: 1,
    maximum: 1_000_000,
  }),
  maxresultlimit: integer({
    description: 'Maximum number of records in one page: the upper limit of `first` and `last`, in GraphQL and REST.',
    unit: 'results',
    default: 100,
    minimum: 1,
    maximum: 10_000,
  }),
  csrfprotection,
  secretmanager: text({
    description:
      'Name of the secret in Google Cloud Secret Manager that holds the PEM key for signing JWTs: `projects/PROJECT/secrets/NAME`, or `NAME` in the project of the credentials, which are those of the environment (application default credentials). The newest version signs, and the one before verifies while it is enabled; the key ids are `NAME-VERSION`. A version that is added later starts to sign once it is older than auth.token.jwkscachettl. While the secret manager cannot be reached, a start waits up to server.shutdowngraceperiod, and a running server keeps its keys. When empty, the keys come from auth.token.keys, keywatcher or auth.token.generatekeys.',
    restart: true,
    format: secretName,
  }),
  defaulttrustcenterdomain: text({
    description: 'Domain of trust centers without a custom domain.',
    format: domainName,
  }),
  trustcentercnametarget: text({
    description: 'CNAME target for the custom domains of trust centers.',
    format: domainName,
  }),
  trustcenterpreviewzoneid: text({
    description: 'Id of the DNS zone at the edge platform that holds the preview domains of trust centers.',
  }),
  notificationlookbackdays: integer({
    description:
      'Number of days for which the inbox (`GET /v1/notifications/inbox`), and the start of the subscription `notificationAdded`, contain notifications that were already read. Unread notifications are always contained.',
    unit: 'days',
    default: 30,
    minimum: 0,
    maximum: 3650,
  }),
});
