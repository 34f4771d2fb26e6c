import { flag, object, text } from '../../schema/field.ts';
import { temporalUrl } from '../../schema/format.ts';
import { queueconf } from './queueconf.ts';

/** `jobqueue`, mapped to Temporal. */
export const jobqueue = object('Job queue, which is a Temporal namespace.', {
  connectionuri: text({
    description:
      'Address of the Temporal server, and the namespace. The API key and TLS are set with the variables `TEMPORAL_API_KEY` and `TEMPORAL_TLS_…`.',
    default: 'temporal://127.0.0.1:7233/default',
    format: temporalUrl,
    required: true,
    restart: true,
  }),
  runmigrations: flag({
    description:
      'Creates the namespace and its search attributes at start when they are missing. When off, the start fails and names what is missing.',
    default: true,
    restart: true,
  }),
  queueconf,
  metrics: object('Metrics of the job queue, served on server.metricsport.', {
    enablemetrics: flag({
      description: 'Exports the metrics of the Temporal client and of the worker.',
      restart: true,
    }),
    metricsdurationunit: text({
      description: 'Unit of durations in metrics: milliseconds (`ms`) or seconds (`s`).',
      values: ['ms', 's'],
      default: 'ms',
      restart: true,
    }),
    enablesemanticmetrics: flag({
      description: 'Adds metrics named by the semantic conventions of OpenTelemetry for messaging.',
      default: true,
      restart: true,
    }),
  }),
});
