import { duration, flag, integer, object, text } from '../schema/field.ts';
import { shortName } from '../schema/format.ts';

const cel = object('Limits and options for expressions of the Common Expression Language (CEL).', {
  timeout: duration({
    description: 'Maximum duration of one evaluation.',
    default: 100,
    minimum: 5,
    maximum: 60_000,
  }),
  costlimit: integer({
    description: 'Maximum cost of one evaluation.',
    unit: 'cost units',
    default: 1_000_000,
    minimum: 1,
    maximum: 1_000_000_000,
  }),
  interruptcheckfrequency: integer({
    description: 'Number of steps of a comprehension after which timeout and costlimit are checked.',
    unit: 'steps',
    default: 100,
    minimum: 1,
    maximum: 1_000_000,
  }),
  parserrecursionlimit: integer({
    description: 'Maximum nesting depth of an expression.',
    unit: 'levels',
    default: 250,
    minimum: 1,
    maximum: 1000,
  }),
  parserexpressionsizelimit: integer({
    description: 'Maximum length of an expression.',
    unit: 'characters',
    default: 100_000,
    minimum: 1,
    maximum: 1_000_000,
  }),
  comprehensionnestinglimit: integer({
    description: 'Maximum nesting depth of comprehensions (`all`, `exists`, `map`, `filter`). 0 allows none.',
    unit: 'levels',
    default: 4,
    minimum: 0,
    maximum: 20,
  }),
  extendedvalidations: flag({
    description:
      'Checks literals (durations, timestamps, regular expressions, lists of mixed types) when an expression is saved.',
    default: true,
  }),
  optionaltypes: flag({ description: 'Allows optional values such as `a.?b` and `optional.of()`.' }),
  identifierescapesyntax: flag({ description: 'Allows identifiers in backticks.', default: true }),
  crosstypenumericcomparisons: flag({ description: 'Allows comparisons between int, uint and double.' }),
  macrocalltracking: flag({ description: 'Keeps macro calls in the parsed expression, for error messages.' }),
  evaloptimize: flag({
    description: 'Evaluates constant parts of an expression once, when it is compiled.',
    default: true,
  }),
  trackstate: flag({
    description: 'Stores the value of each subexpression with the workflow instance, for debugging.',
  }),
});

/** `workflows`. */
export const workflows = object('Workflow definitions of organizations, and delivery of events.', {
  enabled: flag({
    description:
      'Evaluates workflow definitions when records change. When off, no workflow of a definition is started.',
  }),
  cel,
  dispatch: object('Delivery of events to listeners.', {
    enabled: flag({
      description: 'Delivers events. When off, events stay in their outbox rows until delivery is turned on again.',
      default: true,
    }),
    workercount: integer({
      description:
        'Maximum number of deliveries that one worker process runs at the same time, when jobqueue.queueconf.Queues has no entry for the queue.',
      unit: 'activities',
      default: 10,
      minimum: 1,
      maximum: 10_000,
      restart: true,
    }),
    maxretries: integer({
      description:
        'Number of attempts of one delivery. After that, the delivery continues as a workflow of its own, which an operator can inspect and retry in the Temporal UI.',
      unit: 'attempts',
      default: 5,
      minimum: 1,
      maximum: 1000,
    }),
    failonenqueueerror: flag({
      description:
        'A request fails and its transaction is rolled back when its event rows cannot be written. When off, the failure is logged and the request continues without events.',
      default: true,
    }),
    queuename: text({
      description: 'Name of the task queue for event delivery, without the prefix jobqueue.queueconf.Schema.',
      default: 'events',
      format: shortName,
      required: true,
      restart: true,
    }),
  }),
  webhookallowprivateaddresses: flag({
    description:
      'Allows messages to endpoints, and integrations, to call private, loopback and link-local addresses. Leave it off in production.',
  }),
});
