import { duration, flag, integer, object, text } from '../schema/field.ts';
import { shortName } from '../schema/format.ts';

const cel = object('Limits and options of the expression engine (CEL).', {
  timeout: duration({
    description: 'Longest evaluation of one expression.',
    default: 100,
    minimum: 5,
    maximum: 60_000,
  }),
  costlimit: integer({
    description: 'Largest cost of one evaluation.',
    unit: 'points of cost',
    default: 1_000_000,
    minimum: 1,
    maximum: 1_000_000_000,
  }),
  interruptcheckfrequency: integer({
    description: 'Looks at timeout and costlimit once in this many steps of a comprehension.',
    unit: 'steps',
    default: 100,
    minimum: 1,
    maximum: 1_000_000,
  }),
  parserrecursionlimit: integer({
    description: 'Deepest nesting of an expression.',
    unit: 'levels',
    default: 250,
    minimum: 1,
    maximum: 1000,
  }),
  parserexpressionsizelimit: integer({
    description: 'Longest expression.',
    unit: 'characters',
    default: 100_000,
    minimum: 1,
    maximum: 1_000_000,
  }),
  comprehensionnestinglimit: integer({
    description: 'Deepest nesting of comprehensions (all, exists, map, filter). 0 allows none.',
    unit: 'levels',
    default: 4,
    minimum: 0,
    maximum: 20,
  }),
  extendedvalidations: flag({
    description: 'Checks literals (durations, timestamps, patterns, mixed lists) already when an expression is saved.',
    default: true,
  }),
  optionaltypes: flag({ description: 'Allows optional values: `a.?b`, `optional.of()`.' }),
  identifierescapesyntax: flag({ description: 'Allows identifiers in backquotes.', default: true }),
  crosstypenumericcomparisons: flag({ description: 'Allows comparing int, uint and double with each other.' }),
  macrocalltracking: flag({ description: 'Keeps the macro calls in the parsed expression, for error messages.' }),
  evaloptimize: flag({ description: 'Computes constant parts once, when an expression is compiled.', default: true }),
  trackstate: flag({
    description: 'Records the value of each part of an expression with the workflow instance, for debugging.',
  }),
});

/** `workflows` (specification: Workflows). */
export const workflows = object('Workflow engine settings.', {
  enabled: flag({ description: 'Evaluates workflow definitions when records change; off: none is started.' }),
  cel,
  dispatch: object('Delivery of events to their listeners.', {
    enabled: flag({
      description: 'Delivers events; off: they wait in their rows until it is on again.',
      default: true,
    }),
    workercount: integer({
      description:
        'Event deliveries that one worker process runs at the same time, when jobqueue.queueconf.Queues does not name the queue.',
      unit: 'activities',
      default: 10,
      minimum: 1,
      maximum: 10_000,
      restart: true,
    }),
    maxretries: integer({
      description:
        'Attempts of one event delivery before it becomes a workflow of its own, which an operator can see, mend and retry.',
      unit: 'attempts',
      default: 5,
      minimum: 1,
      maximum: 1000,
    }),
    failonenqueueerror: flag({
      description:
        'A request fails and is rolled back when its event rows cannot be written; off: the failure is logged and the request goes on without them.',
      default: true,
    }),
    queuename: text({
      description: 'Activity queue of event delivery.',
      default: 'events',
      format: shortName,
      required: true,
      restart: true,
    }),
  }),
  webhookallowprivateaddresses: flag({
    description:
      'Outbound webhooks and integrations may call private, loopback and link-local addresses. Leave off in production.',
  }),
});
