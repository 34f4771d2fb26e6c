/** Rooms from which a room may import (docs/decisions/rooms.md). The architecture test and the tree in ARCHITECTURE.md use this table. */
// Long because it is one table, with a few lines for each room.

/** A folder with one purpose. It holds the files below its path that belong to no room with a longer path. */
export interface Room {
  /** From the root of the repository; `*` stands for one folder. */
  readonly path: string;
  readonly purpose: string;
  /** Other rooms whose files it may import, by path. */
  readonly imports: readonly string[];
  /** Other rooms of whose files it may import types only. */
  readonly typeImports?: readonly string[];
  /** Its code runs in the workflow sandbox, which has no Node modules. */
  readonly isSandboxed?: true;
}

const contracts = ['workflows/kit', 'workflows/*'];
const kit = (names: string) => names.split(' ').map((name) => `entities/kit/${name}`);
const wholeKit = kit('base model storage read access outbox due-work objects write behaviours unit csv');
const config = ['config/schema', 'config/objects', 'config/reading', 'config/live'];
const kinds = [
  'entities/presets',
  'entities/*',
  'entities/automation/approvals',
  'entities/automation/gates',
  'entities/automation/matching',
  'entities/automation/trials',
  'entities/integrations/connections',
  'entities/integrations/runs',
  'entities',
];
const entities = [...wholeKit, ...kinds];
// Statements are sent in entities/kit only, so `storage` is closed to the areas that serve requests, events and tuples.
const activityKit = kit('base model access outbox due-work objects write unit csv');
const relayKit = kit('base model access outbox due-work unit');
const apiKit = kit('base model read access objects write behaviours unit csv');
const activityImports = [
  ...config,
  ...activityKit,
  ...kinds,
  ...contracts,
  'activities/clients/*',
  'activities/clients/cel',
  'activities/clients/outbound',
  'activities/clients/integrations',
  'activities/mails',
  'activities/listeners',
  'activities/kit',
];
const relayImports = [...config, ...relayKit, ...kinds, ...contracts, 'activities/clients/*'];
const shared = [
  'api/auth',
  'api/http',
  'api/credentials',
  'api/people',
  'api/webhooks',
  'api/integrations',
  'api/actions/kit',
];
const peopleImports = [...config, ...apiKit, ...kinds, 'api/http', 'api/credentials'];
const servedImports = [...config, ...apiKit, ...kinds, 'runtime', ...shared];
const relay = ['relay/outbox', 'relay/changes', 'relay/due-work', 'relay/tuples', 'relay/authorization'];

/** Rooms of one area stand in the order in which they may import each other: only those above. */
export const rooms: readonly Room[] = [
  { path: 'config/schema', purpose: 'types of fields, formats, problems', imports: [] },
  {
    path: 'config/objects',
    purpose: 'one file for each object, with its rules',
    imports: ['config/schema', ...kit('base')],
  },
  {
    path: 'config/reading',
    purpose: 'checked configuration from file and environment',
    imports: ['config/schema', 'config/objects', ...kit('base')],
  },
  {
    path: 'config/live',
    purpose: 'running configuration: reload, differences, subscriptions',
    imports: ['config/schema', 'config/objects', 'config/reading'],
  },
  { path: 'entities/kit/base', purpose: 'ids, clock, errors, keys', imports: [] },
  { path: 'entities/kit/model', purpose: 'definition of a kind: fields, policy, grants', imports: kit('base') },
  {
    path: 'entities/kit/storage',
    purpose: 'PostgreSQL: schema, connections, transactions',
    imports: kit('base model'),
  },
  {
    path: 'entities/kit/read',
    purpose: 'compiles selections, filters and rules into one statement',
    imports: kit('base model storage'),
  },
  {
    path: 'entities/kit/access',
    purpose: 'state of the caller; decisions about single records; locks of sign-in',
    imports: kit('base model storage read'),
  },
  {
    path: 'entities/kit/outbox',
    purpose: 'rows for work after the commit: events, deliveries, desired tuples',
    imports: kit('base model storage read access'),
  },
  { path: 'entities/kit/due-work', purpose: 'claims rows that are due', imports: kit('base storage outbox') },
  {
    path: 'entities/kit/objects',
    purpose: 'rows of stored objects, uploads and copies',
    imports: kit('base model storage read access outbox due-work'),
  },
  {
    path: 'entities/kit/write',
    purpose: 'changes with history, events and desired tuples',
    imports: kit('base model storage read access outbox objects'),
  },
  {
    path: 'entities/kit/behaviours',
    purpose: 'rules of few kinds',
    imports: kit('base model storage read access outbox write'),
  },
  {
    path: 'entities/kit/unit',
    purpose: 'unit of work, data client, database',
    imports: kit('base model storage read access outbox objects write behaviours'),
  },
  { path: 'entities/kit/csv', purpose: 'CSV documents', imports: kit('base model read write unit') },
  { path: 'entities/presets', purpose: 'parts that several kinds share', imports: kit('base model') },
  {
    path: 'entities/*',
    purpose: 'kinds of one area, one file each; SQL in `…-rows.ts`',
    imports: [...kit('base model storage access outbox due-work behaviours'), 'entities/presets'],
  },
  {
    path: 'entities/automation/approvals',
    purpose: 'who decides about changes, and what follows from decisions',
    imports: [...kit('base model access write unit'), 'entities/presets', 'entities/*'],
  },
  {
    path: 'entities/automation/matching',
    purpose: 'which workflows a change starts',
    imports: [...kit('base model outbox unit'), 'entities/*', 'entities/automation/approvals'],
  },
  {
    path: 'entities/automation/gates',
    purpose: 'holds changes until they are approved',
    imports: [
      ...kit('base model write unit'),
      'entities/presets',
      'entities/*',
      'entities/automation/approvals',
      'entities/automation/matching',
    ],
  },
  {
    path: 'entities/automation/trials',
    purpose: 'trials',
    imports: [
      ...kit('base model unit'),
      'entities/*',
      'entities/automation/approvals',
      'entities/automation/matching',
      'entities/automation/gates',
    ],
  },
  {
    path: 'entities/integrations/connections',
    purpose: 'how integrations are connected',
    imports: [...kit('base model access write unit'), 'entities/*'],
  },
  {
    path: 'entities/integrations/runs',
    purpose: 'runs of integrations',
    imports: [...kit('base model write unit'), 'entities/*'],
  },
  { path: 'entities', purpose: 'list of areas', imports: [...kit('base model outbox due-work'), 'entities/*'] },
  { path: 'workflows/kit', purpose: 'contracts, queues, interceptors', imports: [], isSandboxed: true },
  {
    path: 'workflows/*',
    purpose: 'workflows of one area with their contracts',
    imports: ['workflows/kit'],
    typeImports: ['activities/events', 'activities/backfills', 'activities/removals', 'activities/*'],
    isSandboxed: true,
  },
  {
    path: 'activities/clients/outbound',
    purpose: 'requests to servers that customers name',
    imports: ['config/objects', ...kit('base')],
  },
  {
    path: 'activities/clients/*',
    purpose: 'one folder for each outside system',
    imports: [...config, ...activityKit, ...contracts, 'activities/clients/outbound'],
    typeImports: ['entities/*'],
  },
  {
    path: 'activities/clients/integrations',
    purpose: 'systems that organizations connect',
    imports: [...config, ...activityKit, ...kinds, ...contracts, 'activities/clients/*', 'activities/clients/outbound'],
  },
  {
    path: 'activities/clients/cel',
    purpose: 'expressions',
    imports: kit('base'),
    typeImports: ['config/objects'],
  },
  {
    path: 'activities/mails',
    purpose: 'mails, one file each',
    imports: [...activityKit, ...kinds, ...contracts, 'activities/clients/*'],
  },
  {
    path: 'activities/listeners',
    purpose: 'reactions to events',
    imports: [
      ...config,
      ...activityKit,
      ...kinds,
      ...contracts,
      'activities/clients/*',
      'activities/clients/integrations',
      'activities/mails',
    ],
  },
  {
    path: 'activities/kit',
    purpose: 'dependencies of all activities',
    imports: [
      ...config,
      ...activityKit,
      ...kinds,
      ...contracts,
      'activities/clients/*',
      'activities/clients/cel',
      'activities/clients/integrations',
      'activities/listeners',
    ],
  },
  { path: 'activities/events', purpose: 'delivers events to listeners', imports: activityImports },
  {
    path: 'activities/sweeps',
    purpose: 'repeated work on many records',
    imports: [...activityImports, 'activities/events', 'activities/*'],
  },
  {
    path: 'activities/removals',
    purpose: 'steps of removals',
    imports: [...activityImports, 'activities/events', 'activities/*'],
  },
  {
    path: 'activities/backfills',
    purpose: 'one-time work',
    imports: activityImports,
  },
  {
    path: 'activities/*',
    purpose: 'activities of one area, each idempotent',
    imports: [...activityImports, 'activities/events'],
  },
  { path: 'relay/outbox', purpose: 'starts workflows of events', imports: relayImports },
  { path: 'relay/changes', purpose: 'committed changes, for subscribers', imports: [...relayImports, 'relay/outbox'] },
  { path: 'relay/due-work', purpose: 'starts due workflows', imports: relayImports },
  { path: 'relay/tuples', purpose: 'writes desired tuples to OpenFGA', imports: relayImports },
  {
    path: 'relay/authorization',
    purpose: 'checks rights in cache or OpenFGA',
    imports: [...relayImports, 'relay/tuples'],
  },
  {
    path: 'runtime',
    purpose: 'services that API, worker and tools share',
    imports: [
      ...config,
      ...entities,
      ...contracts,
      'activities/clients/*',
      'activities/clients/cel',
      'activities/clients/integrations',
      'activities/mails',
      'activities/listeners',
      ...relay,
    ],
  },
  { path: 'migrations', purpose: 'changes of the database schema', imports: [...config, ...entities] },
  {
    path: 'api/auth',
    purpose: 'passwords, passkeys, providers, access tokens, signing keys',
    imports: [...config, ...kit('base'), 'activities/clients/*', 'activities/clients/outbound', 'runtime'],
  },
  {
    path: 'api/http',
    purpose: 'plugins, route definitions, error responses',
    imports: [...config, ...apiKit, 'runtime', ...relay, 'api/auth'],
  },
  {
    path: 'api/pages',
    purpose: 'layout, style and scripts of pages',
    imports: [...config, ...kit('base'), 'activities/clients/*', 'api/http'],
  },
  {
    path: 'api/credentials',
    purpose: 'for REST and GraphQL: tokens of programs, proofs',
    imports: [...config, ...apiKit, ...kinds, 'api/auth', 'api/http'],
  },
  { path: 'api/people', purpose: 'for REST and GraphQL: members, owners, saved views', imports: peopleImports },
  {
    path: 'api/webhooks',
    purpose: 'for REST and GraphQL: deliveries, endpoints, messages',
    imports: [...peopleImports, ...kit('outbox'), 'activities/clients/*', 'activities/clients/outbound'],
  },
  {
    path: 'api/integrations',
    purpose: 'for REST and GraphQL: connecting other systems',
    imports: [...peopleImports, 'api/auth', 'activities/clients/integrations'],
  },
  {
    path: 'api/actions/kit',
    purpose: 'declaration of actions',
    imports: [...kit('base model access write'), 'api/http', 'api/credentials'],
  },
  {
    path: 'api/actions/*',
    purpose: 'actions of one area, for REST and GraphQL',
    imports: [
      ...peopleImports,
      'runtime',
      'api/people',
      'api/webhooks',
      'api/integrations',
      'api/actions/kit',
      'activities/clients/integrations',
    ],
  },
  {
    path: 'api/subscriptions',
    purpose: 'subscriptions to changes of records',
    imports: [...config, ...kit('base model outbox'), 'relay/changes', 'runtime', 'api/http'],
  },
  {
    path: 'api/rest',
    purpose: 'routes: derived of kinds and actions, protocols, pages',
    imports: [
      ...servedImports,
      'activities/clients/*',
      'activities/clients/integrations',
      'api/actions/*',
      'api/pages',
    ],
  },
  {
    path: 'api/graphql',
    purpose: 'derived schema, its server',
    imports: [...servedImports, ...kit('outbox'), 'api/subscriptions'],
  },
  {
    path: 'api',
    purpose: 'HTTP process: entry point, list of plugins, OpenAPI',
    imports: [
      ...config,
      ...apiKit,
      ...kinds,
      'migrations',
      'runtime',
      ...relay,
      'activities/clients/*',
      ...shared,
      'api/rest',
      'api/graphql',
    ],
  },
  {
    path: 'worker/codec',
    purpose: 'decrypts payloads for the Temporal UI',
    imports: [...config, ...kit('base model'), 'activities/clients/*', 'runtime'],
  },
  {
    path: 'worker',
    purpose: 'worker process: queues, schedules, interceptors, bundle',
    imports: [
      ...config,
      ...kit('base model'),
      ...kinds,
      ...contracts,
      'migrations',
      'runtime',
      ...relay,
      'activities/clients/*',
      'activities/listeners',
      'activities/kit',
      'activities/events',
      'activities/sweeps',
      'activities/backfills',
      'activities/*',
      'worker/codec',
    ],
  },
  {
    path: 'tools/commands',
    purpose: 'commands for operators',
    imports: [
      ...config,
      ...entities,
      ...contracts,
      'activities/*',
      'activities/clients/*',
      'activities/sweeps',
      'activities/backfills',
      'runtime',
    ],
  },
  {
    path: 'tools/generators',
    purpose: 'files that `npm run derive` prints; import table',
    imports: [
      'config/schema',
      'config/objects',
      ...kit('base model'),
      ...kinds,
      'activities/clients/*',
      'activities/mails',
      'activities/listeners',
      'api/http',
      'api/rest',
      'api/graphql',
      'api',
    ],
  },
];

/** Packages that belong to one layer or stand for one outside system, and the rooms that may import them. Types are free. */
export const packageHomes: Readonly<Record<string, readonly string[]>> = {
  '@temporalio/workflow': ['workflows/kit', 'workflows/*'],
  '@temporalio/worker': ['worker'],
  '@temporalio/client': ['activities/clients/*', 'worker'],
  '@aws-sdk/client-s3': ['activities/clients/*'],
  '@aws-sdk/s3-request-presigner': ['activities/clients/*'],
  '@google-cloud/storage': ['activities/clients/*'],
  'file-type': ['activities/clients/*'],
  '@fastify/busboy': ['api/http'],
  '@openfga/sdk': ['activities/clients/*'],
  '@openfga/syntax-transformer': ['activities/clients/*'],
  'acme-client': ['activities/clients/*'],
  stripe: ['activities/clients/*'],
  '@octokit/app': ['activities/clients/integrations'],
  '@octokit/webhooks-methods': ['activities/clients/integrations'],
  '@slack/web-api': ['activities/clients/integrations'],
  '@googleapis/admin': ['activities/clients/integrations'],
  'cel-js': ['activities/clients/cel'],
  re2js: ['activities/clients/cel'],
  ioredis: ['activities/clients/*'],
  mjml: ['tools/generators'],
  nodemailer: ['activities/clients/*'],
  fastify: ['api', 'api/http', 'api/rest', 'api/graphql', 'tools/generators'],
  'graphql-yoga': ['api/graphql'],
  'graphql-ws': ['api/graphql'],
  ws: ['api/graphql'],
  graphql: ['api/graphql', 'tools/generators'],
  jose: ['api/auth', 'entities/kit/base'],
  otplib: ['api/auth'],
  qrcode: ['api/auth'],
  'openid-client': ['api/auth', 'activities/clients/integrations'],
  '@simplewebauthn/server': ['api/auth'],
  '@mikro-orm/core': [...wholeKit, 'migrations'],
  '@mikro-orm/postgresql': [...wholeKit, 'migrations'],
  '@mikro-orm/migrations': ['migrations'],
  pg: [...wholeKit, 'migrations', ...relay],
  kysely: wholeKit,
  'csv-parse': ['entities/kit/csv'],
};

/** Files that import others by names that they find in a folder. */
export const importsByName: readonly string[] = ['migrations/index.ts', 'entities/kit/base/source-modules.ts'];

/** The room of a file; undefined for files outside the table. @param file from the root of the repository */
export function roomOf(file: string): Room | undefined {
  const matching = rooms.filter(({ path }) => pathPattern(path).test(file));
  return matching.toSorted((one, other) => specificity(other) - specificity(one))[0];
}

function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('*', '[^/]+')}/`);
}

/** Longer paths win, and names win over `*`. */
function specificity({ path }: Room): number {
  return path.split('/').length * 10 + (path.includes('*') ? 0 : 1);
}
