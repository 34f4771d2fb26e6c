import { cachecontrol } from './cachecontrol.ts';
import { cors } from './cors.ts';
import { csrfprotection } from './csrfprotection.ts';
import { duration, flag, integer, object, text } from '../schema/field.ts';
import { domainName, listenAddress } from '../schema/format.ts';
import { mime } from './mime.ts';
import { secure } from './secure.ts';
import { tls } from './tls.ts';

/** `server` (specification: Server; Limits). */
export const server = object('HTTP server settings.', {
  dev: flag({
    description:
      'Development mode: GraphiQL, readable errors, session cookie without the `__Host-` prefix, missing secrets generated into the local state folder. Never on in production.',
    restart: true,
  }),
  listen: text({
    description: 'Address of the HTTP server. `:port` listens on every interface; port 0 takes a free one.',
    default: ':17608',
    format: listenAddress,
    required: true,
    restart: true,
  }),
  metricsport: text({
    description: 'Address of `/metrics` for Prometheus, in the same forms as listen. Empty: no metrics endpoint.',
    default: ':17609',
    format: listenAddress,
    restart: true,
  }),
  shutdowngraceperiod: duration({
    description: 'How long requests in flight may take after a stop signal before they are cut off.',
    default: 10_000,
    minimum: 100,
    maximum: 600_000,
  }),
  readtimeout: duration({
    description: 'Longest time to read an entire request including its body; then 408.',
    default: 15_000,
    minimum: 100,
    maximum: 3_600_000,
  }),
  writetimeout: duration({
    description:
      'Longest time from the end of the request headers to the end of the answer; also the deadline handed to every client.',
    default: 15_000,
    minimum: 100,
    maximum: 3_600_000,
  }),
  idletimeout: duration({
    description: 'How long a keep-alive connection may wait for its next request.',
    default: 30_000,
    minimum: 100,
    maximum: 3_600_000,
  }),
  readheadertimeout: duration({
    description: 'Longest time to read the request headers; then 408.',
    default: 2000,
    minimum: 100,
    maximum: 600_000,
  }),
  tls,
  cors,
  secure,
  cachecontrol,
  mime,
  graphpool: object('Worker pool of GraphQL resolvers.', {
    maxworkers: integer({
      description: 'How many resolvers of all GraphQL requests of this process may work at the same time; more wait.',
      unit: 'resolvers',
      default: 100,
      minimum: 1,
      maximum: 10_000,
    }),
  }),
  enablegraphextensions: flag({
    description: 'Adds `extensions` to GraphQL answers (cost and timing of the query). Error codes are always there.',
    default: true,
  }),
  enablegraphsubscriptions: flag({
    description: 'GraphQL subscriptions over websockets and server-sent events; off: they are refused.',
    restart: true,
  }),
  complexitylimit: integer({
    description:
      'Most fields of records that one GraphQL operation may select, at all its depths together; one that selects more is refused.',
    unit: 'fields',
    default: 100,
    minimum: 1,
    maximum: 1_000_000,
  }),
  maxresultlimit: integer({
    description: 'Most results of one query: caps `first` and `last` of GraphQL and the page size of REST lists.',
    unit: 'results',
    default: 100,
    minimum: 1,
    maximum: 10_000,
  }),
  csrfprotection,
  secretmanager: text({
    description:
      'Name of the cloud secret-manager secret with the PEM key that signs JWTs. Empty: keys come from auth.token.keys, keywatcher or generatekeys.',
    restart: true,
  }),
  defaulttrustcenterdomain: text({
    description: 'Domain of trust centers that have no domain of their own.',
    format: domainName,
  }),
  trustcentercnametarget: text({
    description: 'CNAME target that customers point their own trust center domain to.',
    format: domainName,
  }),
  trustcenterpreviewzoneid: text({
    description: 'Zone id at the edge platform that holds the records of trust center preview domains.',
  }),
  notificationlookbackdays: integer({
    description:
      'Already-read notifications of this many days come with the start of a notification subscription; unread ones always come.',
    unit: 'days',
    default: 30,
    minimum: 0,
    maximum: 3650,
  }),
});
