import { flag, object, text } from '../schema/field.ts';
import { temporalUrl } from '../schema/format.ts';
import { queueconf } from './queueconf.ts';

/** `jobqueue` (specification: Job queue), mapped to Temporal. */
export const jobqueue = object('Job queue settings. The queue is a Temporal namespace.', {
  connectionuri: text({
    description:
      'Address of the Temporal server and the namespace. API key and TLS come from the variables TEMPORAL_API_KEY and TEMPORAL_TLS_….',
    default: 'temporal://127.0.0.1:7233/default',
    format: temporalUrl,
    required: true,
    restart: true,
  }),
  runmigrations: flag({
    description:
      'Creates the namespace and its search attributes at start when they are missing; off: start says what is missing.',
    default: true,
    restart: true,
  }),
  queueconf,
  metrics: object('Metrics of the queue, on server.metricsport.', {
    enablemetrics: flag({ description: 'Exports metrics of client and worker.', restart: true }),
    metricsdurationunit: text({
      description: 'Unit of exported durations: milliseconds or seconds.',
      values: ['ms', 's'],
      default: 'ms',
      restart: true,
    }),
    enablesemanticmetrics: flag({
      description: 'Adds metrics named by the OpenTelemetry messaging conventions.',
      default: true,
      restart: true,
    }),
  }),
});
