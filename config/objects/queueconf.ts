import { any, duration, empty, flag, integer, list, map, object, text, textOrInteger } from '../schema/field.ts';
import { cron, instant, namePrefix, shortName } from '../schema/format.ts';

/**
 * The activity queues of the worker. Event delivery has its own name, `workflows.dispatch.queuename`. Keys of
 * `jobqueue.queueconf.Queues` must be one of these.
 */
export const activityQueues = [
  'maintenance',
  'email',
  'webhooks',
  'storage',
  'workflows',
  'organizations',
  'integrations',
  'exports',
] as const;

/** Names of the interceptors that `Hooks`, `Middleware`, `Plugins` and their relatives may switch on. */
const interceptorNames = ['logging', 'metrics'] as const;

const hour = 3_600_000;
const day = 24 * hour;

function interceptors(description: string) {
  return list({
    description: `${description} \`logging\` logs start, duration and outcome; \`metrics\` counts and measures them.`,
    items: text({ description: 'Name of an interceptor.', values: interceptorNames }),
    restart: true,
  });
}

function retention(what: string, value: number) {
  return duration({
    description: `How long a ${what} workflow stays visible. Temporal has one retention per namespace: the longest of the three is set at start when jobqueue.runmigrations is on.`,
    default: value,
    minimum: hour,
    maximum: 365 * day,
    restart: true,
  });
}

const periodicJobs = list({
  description:
    'Additional Temporal Schedules. They are created, changed and deleted at worker start to match this list.',
  items: object('One schedule.', {
    name: text({ description: 'Id of the schedule; must be unique.', format: shortName, required: true }),
    workflow: text({ description: 'Name of the workflow to start.', required: true, maxLength: 200 }),
    schedule: textOrInteger({
      description: 'When to start it: a cron expression in UTC, or an interval in milliseconds.',
      required: true,
      text: text({ description: 'A cron expression in UTC.', format: cron }),
      integer: duration({ description: 'An interval.', default: hour, minimum: 1000, maximum: 365 * day }),
    }),
    input: any({ description: 'Argument of the workflow.' }),
  }),
  restart: true,
});

const retryPolicy = object('Pauses between the attempts of an activity, by default.', {
  initialinterval: duration({
    description: 'Pause after the first failed attempt.',
    default: 1000,
    minimum: 10,
    maximum: day,
    restart: true,
  }),
  backoffcoefficient: integer({
    description: 'Each further pause is this many times longer.',
    unit: 'times',
    default: 2,
    minimum: 1,
    maximum: 100,
    restart: true,
  }),
  maximuminterval: duration({
    description: 'Longest pause.',
    default: 100_000,
    minimum: 1000,
    maximum: 30 * day,
    restart: true,
  }),
});

const noTables = 'No effect here: the queue keeps no tables of its own in PostgreSQL.';

/** `jobqueue.queueconf` (specification: Job queue), key by key mapped to Temporal and to the relay of event rows. */
export const queueconf = object('Workers, retries and schedules of the job queue.', {
  AdvisoryLockPrefix: integer({
    description: 'No effect here: Temporal holds its own locks.',
    unit: 'number of a lock space',
    default: 0,
    minimum: 0,
    maximum: 4_294_967_295,
    noEffect: true,
  }),
  CancelledJobRetentionPeriod: retention('cancelled', day),
  CompletedJobRetentionPeriod: retention('completed', day),
  DiscardedJobRetentionPeriod: retention('failed', 7 * day),
  FetchCooldown: duration({
    description:
      'Shortest pause after a look for waiting event rows that found none; a look that found some is followed by the next at once.',
    default: 100,
    minimum: 1,
    maximum: 60_000,
  }),
  FetchPollInterval: duration({
    description:
      'Longest pause before the relay looks for waiting event rows although nothing woke it. Not shorter than FetchCooldown.',
    default: 1000,
    minimum: 1,
    maximum: 600_000,
  }),
  JobCleanerTimeout: duration({
    description: 'Longest run of the job that removes old event, delivery and idempotency rows.',
    default: 30_000,
    minimum: 1000,
    maximum: hour,
    restart: true,
  }),
  JobStuckThreshold: duration({
    description:
      'A running activity that gives no sign of life for this long counts as lost and is tried again (heartbeat timeout).',
    default: 10_000,
    minimum: 1000,
    maximum: hour,
    restart: true,
  }),
  JobTimeout: duration({
    description: 'Longest single attempt of an activity that sets no limit of its own (start-to-close timeout).',
    default: 60_000,
    minimum: 1000,
    maximum: day,
    restart: true,
  }),
  MaxAttempts: integer({
    description: 'Attempts of an activity that sets no number of its own.',
    unit: 'attempts',
    default: 25,
    minimum: 1,
    maximum: 10_000,
    restart: true,
  }),
  ReindexerTimeout: duration({
    description: noTables,
    default: 60_000,
    minimum: 1000,
    maximum: day,
    noEffect: true,
  }),
  RescueStuckJobsAfter: duration({
    description: 'Age after which the sweep starts a batch of events again whose delivery did not finish.',
    default: 30_000,
    minimum: 1000,
    maximum: day,
  }),
  SoftStopTimeout: duration({
    description: 'How long a stopping worker lets running activities finish before it cancels them.',
    default: 10_000,
    minimum: 100,
    maximum: hour,
    restart: true,
  }),
  ID: text({
    description: 'Identity of the worker in the Temporal UI. Empty: host name and process id.',
    maxLength: 100,
    restart: true,
  }),
  Schema: text({
    description:
      'Prefix of task queues, workflow ids and schedule ids, which isolates several installations in one Temporal namespace.',
    default: 'core',
    format: namePrefix,
    required: true,
    restart: true,
  }),
  PollOnly: flag({
    description:
      'The relay only polls and opens no listening connection, for databases behind a pooler that has no NOTIFY.',
    restart: true,
  }),
  SkipJobKindValidation: flag({
    description: 'Accepts workflow names in PeriodicJobs that are not of the form `verbNoun`.',
    restart: true,
  }),
  SkipUnknownJobCheck: flag({
    description:
      'Accepts workflows in PeriodicJobs that this release does not have, for example when another worker serves them.',
    restart: true,
  }),
  TestOnly: flag({
    description: 'Schedules are created paused and started by the tests. Refused unless server.dev is on.',
    restart: true,
  }),
  ReindexerIndexNames: list({
    description: noTables,
    items: text({ description: 'Name of an index.', maxLength: 100 }),
    noEffect: true,
  }),
  Queues: map({
    description: `Activity queues by name: ${activityQueues.join(', ')} and workflows.dispatch.queuename. A queue that is not named has 10 workers, the event queue workflows.dispatch.workercount.`,
    keyLabel: 'queue',
    keyFormat: shortName,
    values: object('One queue.', {
      FetchCooldown: duration({
        description:
          'Replaces queueconf.FetchCooldown for the event queue. No effect on the others, which Temporal feeds.',
        default: 0,
        minimum: 1,
        maximum: 60_000,
        special: [{ value: 0, meaning: 'as queueconf says' }],
      }),
      FetchPollInterval: duration({
        description:
          'Replaces queueconf.FetchPollInterval for the event queue. No effect on the others, which Temporal feeds.',
        default: 0,
        minimum: 1,
        maximum: 600_000,
        special: [{ value: 0, meaning: 'as queueconf says' }],
      }),
      MaxWorkers: integer({
        description: 'Activities of this queue that one worker process runs at the same time.',
        unit: 'activities',
        default: 10,
        minimum: 1,
        maximum: 10_000,
      }),
    }),
    restart: true,
  }),
  Test: object('Switches for tests. Refused unless server.dev is on.', {
    DisableUniqueEnforcement: flag({
      description: 'Workflow ids get a random suffix, so that the same work can be started twice.',
      restart: true,
    }),
    Time: text({
      description: 'Instant that sweeps take as "now" (RFC 3339). Empty: the clock.',
      format: instant,
      restart: true,
    }),
  }),
  JobInsertMiddleware: interceptors('Interceptors around every start of a workflow.'),
  Hooks: interceptors('Interceptors told of the begin and end of every activity, after the middleware.'),
  Middleware: interceptors('Interceptors around every start of a workflow and around every activity.'),
  Plugins: interceptors('Interceptors added to client and worker as a whole, before all others.'),
  PeriodicJobs: periodicJobs,
  WorkerMiddleware: interceptors('Interceptors around every activity.'),
  Logger: empty({
    description: 'No effect here: all parts log through the one logger of the process.',
    noEffect: true,
  }),
  Workers: empty({ description: 'No effect here: workers are part of the release.', noEffect: true }),
  ErrorHandler: any({
    description: 'No effect here: failures are kept with the workflow and shown in the Temporal UI.',
    noEffect: true,
  }),
  JobStuckHandler: any({
    description: 'No effect here: Temporal retries a lost activity by itself, see JobStuckThreshold.',
    noEffect: true,
  }),
  ReindexerSchedule: any({ description: noTables, noEffect: true }),
  RetryPolicy: retryPolicy,
});
