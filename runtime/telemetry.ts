import type { StatementObserver } from '#entities/kit/storage/transaction.ts';
import { startSpan } from '#entities/kit/base/trace.ts';

interface Telemetry {
  readonly isSending: boolean;
  /** Sends the spans that are still buffered. */
  close(): Promise<void>;
}

/**
 * Sends spans to an OpenTelemetry collector (OTLP over HTTP). Without an endpoint nothing is loaded and nothing is sent;
 * trace ids still go from request to event to workflow to activity.
 * @param service name shown in the trace
 * @param endpoint base URL of the collector (`OTEL_EXPORTER_OTLP_ENDPOINT`)
 */
export async function startTelemetry(service: string, endpoint: string | undefined): Promise<Telemetry> {
  if (!endpoint) return { isSending: false, close: async () => {} };
  const [{ NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
  const exporter = new OTLPTraceExporter({
    url: new URL('v1/traces', endpoint.endsWith('/') ? endpoint : `${endpoint}/`).href,
  });
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service }),
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 500 })],
  });
  // With the context of asynchronous work, so that spans know the one around them.
  provider.register();
  return { isSending: true, close: () => provider.shutdown() };
}

/** A span for every statement of a unit of work that belongs to a trace. @param databaseName `db.databasename` */
export function statementSpans(databaseName: string): StatementObserver {
  return {
    statement({ text, durationMs, isFailed, traceparent }) {
      if (traceparent === undefined) return;
      const span = startSpan(verbOf(text), {
        parent: traceparent,
        startedAt: Date.now() - durationMs,
        // Bound parameters are not part of the text, so it contains no values.
        attributes: {
          'db.system.name': 'postgresql',
          'db.namespace': databaseName,
          'db.query.text': text.slice(0, 2_000),
        },
      });
      span.end(isFailed ? 'failed' : undefined);
    },
  };
}

function verbOf(text: string): string {
  const [verb = 'statement'] = /[a-z]+/i.exec(text) ?? [];
  return `sql ${verb.toLowerCase()}`;
}
