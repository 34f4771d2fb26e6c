import { any, duration, empty, flag, integer, list, map, object, text, textOrInteger } from '../../schema/field.ts';
import { cron, instant, namePrefix, shortName } from '../../schema/format.ts';

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
  'automation',
] as const;

/** Names of the interceptors that `Hooks`, `Middleware`, `Plugins` and their relatives may switch on. */
const interceptorNames = ['logging', 'metrics'] as const;

const hour = 3_600_000;
const day = 24 * hour;

function interceptors(description: string) {
  return list({
    description: `${description} \`logging\` logs start, duration and outcome; \`metrics\` exports counts and durations.`,
    items: text({ description: 'Name of an interceptor.', values: interceptorNames }),
    restart: true,
  });
}

function retention(what: string, value: number) {
  return duration({
    description: `Time for which a ${what} workflow stays visible in Temporal. Temporal has one retention period per namespace: the longest of the three periods is set at start while jobqueue.runmigrations is on.`,
    default: value,
    minimum: hour,
    maximum: 365 * day,
    restart: true,
  });
}

const periodicJobs = list({
  description:
    'Additional Temporal Schedules. The worker creates, changes and deletes schedules to match this list, at its start and when the configuration is reloaded.',
  items: object('One schedule.', {
    name: text({ description: 'Id of the schedule. It must be unique.', format: shortName, required: true }),
    workflow: text({ description: 'Name of the workflow that the schedule starts.', required: true, maxLength: 200 }),
    schedule: textOrInteger({
      description: 'When the workflow starts: a cron expression in UTC, or an interval in milliseconds.',
      required: true,
      text: text({ description: 'A cron expression in UTC.', format: cron }),
      integer: duration({
        description: 'Interval between two starts.',
        default: hour,
        minimum: 1000,
        maximum: 365 * day,
      }),
    }),
    input: any({ description: 'Argument of the workflow. When omitted, the workflow gets no argument.' }),
  }),
});

const retryPolicy = object('Pauses between the attempts of an activity that sets none of its own.', {
  initialinterval: duration({
    description: 'Pause after the first failed attempt.',
    default: 1000,
    minimum: 10,
    maximum: day,
    restart: true,
  }),
  backoffcoefficient: integer({
    description: 'Factor by which each further pause is longer than the one before.',
    unit: 'factor',
    default: 2,
    minimum: 1,
    maximum: 100,
    restart: true,
  }),
  maximuminterval: duration({
    description: 'Maximum pause between two attempts.',
    default: 100_000,
    minimum: 1000,
    maximum: 30 * day,
    restart: true,
  }),
});

/** `jobqueue.queueconf`, key by key mapped to Temporal and to the relay of event rows. */
export const queueconf = object('Workers, retries and schedules of the job queue.', {
  AdvisoryLockPrefix: integer({
    description: 'No effect: the queue takes no locks in PostgreSQL; Temporal has its own.',
    unit: 'lock space',
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
      'Minimum pause after a poll of the outbox that found no events. After a poll that found events, the next one follows immediately.',
    default: 100,
    minimum: 1,
    maximum: 60_000,
  }),
  FetchPollInterval: duration({
    description:
      'Maximum pause between two polls of the outbox when no notification arrives. Must not be shorter than FetchCooldown.',
    default: 1000,
    minimum: 1,
    maximum: 600_000,
  }),
  JobCleanerTimeout: duration({
    description: 'Maximum duration of the job that removes old event, delivery and idempotency rows.',
    default: 30_000,
    minimum: 1000,
    maximum: hour,
  }),
  JobStuckThreshold: duration({
    description:
      'Heartbeat timeout: a running activity without a heartbeat for this time is treated as lost and is retried.',
    default: 10_000,
    minimum: 1000,
    maximum: hour,
    restart: true,
  }),
  JobTimeout: duration({
    description:
      'Start-to-close timeout of activities that set none of their own: the maximum duration of one attempt.',
    default: 60_000,
    minimum: 1000,
    maximum: day,
    restart: true,
  }),
  MaxAttempts: integer({
    description: 'Maximum number of attempts of activities that set none of their own.',
    unit: 'attempts',
    default: 25,
    minimum: 1,
    maximum: 10_000,
    restart: true,
  }),
  ReindexerTimeout: duration({
    description: 'Maximum duration of the rebuilding of one index.',
    default: 60_000,
    minimum: 1000,
    maximum: day,
  }),
  RescueStuckJobsAfter: duration({
    description: 'Age after which the sweep starts the delivery of an unfinished batch of events again.',
    default: 30_000,
    minimum: 1000,
    maximum: day,
  }),
  SoftStopTimeout: duration({
    description: 'Time that a stopping worker gives running activities to finish. Then it cancels them.',
    default: 10_000,
    minimum: 100,
    maximum: hour,
    restart: true,
  }),
  ID: text({
    description: 'Identity of the worker in the Temporal UI. When empty, it is made of host name and process id.',
    maxLength: 100,
    restart: true,
  }),
  Schema: text({
    description:
      'Prefix of task queues, workflow ids and schedule ids. Installations with different prefixes can share one Temporal namespace.',
    default: 'core',
    format: namePrefix,
    required: true,
    restart: true,
  }),
  PollOnly: flag({
    description:
      'The relay only polls the outbox and opens no `LISTEN` connection. Use it for databases behind a connection pooler that does not support `NOTIFY`.',
    restart: true,
  }),
  SkipJobKindValidation: flag({
    description: 'Accepts workflow names in PeriodicJobs that are not of the form `verbNoun`.',
    restart: true,
  }),
  SkipUnknownJobCheck: flag({
    description:
      'Accepts workflows in PeriodicJobs that this release does not have, for example because another worker runs them.',
    restart: true,
  }),
  TestOnly: flag({
    description: 'Creates schedules paused, so that tests can trigger them. Rejected unless server.dev is on.',
  }),
  ReindexerIndexNames: list({
    description:
      'Indexes of partitioned tables (events, event_deliveries, history, record_changes) that are rebuilt in the partitions of days that have passed. Other indexes are left alone. While an index is rebuilt, writes to its partition wait, and so do reads that are not limited to other days.',
    items: text({ description: 'Name of an index, such as `events_record`.', maxLength: 100 }),
  }),
  Queues: map({
    description: `Settings of task queues by name: ${activityQueues.join(', ')} and workflows.dispatch.queuename. A queue without an entry runs 10 activities at the same time; the event queue runs workflows.dispatch.workercount, and \`webhooks\` runs 100, one for each endpoint with messages.`,
    keyLabel: 'queue',
    keyFormat: shortName,
    values: object('One queue.', {
      FetchCooldown: duration({
        description:
          'Replaces queueconf.FetchCooldown for the event queue. No effect on other queues, which do not poll the outbox.',
        default: 0,
        minimum: 1,
        maximum: 60_000,
        special: [{ value: 0, meaning: 'the value of queueconf' }],
      }),
      FetchPollInterval: duration({
        description:
          'Replaces queueconf.FetchPollInterval for the event queue. No effect on other queues, which do not poll the outbox.',
        default: 0,
        minimum: 1,
        maximum: 600_000,
        special: [{ value: 0, meaning: 'the value of queueconf' }],
      }),
      MaxWorkers: integer({
        description: 'Maximum number of activities of this queue that one worker process runs at the same time.',
        unit: 'activities',
        default: 10,
        minimum: 1,
        maximum: 10_000,
      }),
    }),
    restart: true,
  }),
  Test: object('Settings for tests. Rejected unless server.dev is on.', {
    DisableUniqueEnforcement: flag({
      description: 'Adds a random suffix to workflow ids, so that the same work can be started twice.',
      restart: true,
    }),
    Time: text({
      description: 'Instant that sweeps use as the current time (RFC 3339). When empty, sweeps use the clock.',
      format: instant,
    }),
  }),
  JobInsertMiddleware: interceptors('Interceptors around every start of a workflow.'),
  Hooks: interceptors('Interceptors that are called at the start and end of every activity, inside the middleware.'),
  Middleware: interceptors('Interceptors around every start of a workflow and around every activity.'),
  Plugins: interceptors('Interceptors around every start of a workflow and every activity, outside all others.'),
  PeriodicJobs: periodicJobs,
  WorkerMiddleware: interceptors('Interceptors around every activity.'),
  Logger: empty({
    description: 'No effect: all parts use the logger of the process.',
    noEffect: true,
  }),
  Workers: empty({ description: 'No effect: the workers are part of the release.', noEffect: true }),
  ErrorHandler: text({
    description:
      'Handler that is called when an activity has failed for good: `log` writes a line to the log, `chat` sends a message to the chat of the operator (integrations.chatruntime), once an hour for each workflow type. When empty, nothing is called.',
    values: ['', 'log', 'chat'],
  }),
  JobStuckHandler: any({
    description: 'No effect: Temporal retries a lost activity by itself, see JobStuckThreshold.',
    noEffect: true,
  }),
  ReindexerSchedule: text({
    description:
      'When the indexes of ReindexerIndexNames are rebuilt: a cron expression in UTC. When empty, only `npm run sweep -- reindex-partitions` rebuilds them.',
    format: cron,
  }),
  RetryPolicy: retryPolicy,
});
