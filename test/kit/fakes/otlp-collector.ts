import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as the collector got it. */
export interface CollectedSpan {
  readonly name: string;
  /** `service.name` of the process that sent it. */
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the root of a trace. */
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** OpenTelemetry's: 0 unset, 1 ok, 2 error. */
  readonly status: number;
}

/** OTLP over HTTP with JSON (opentelemetry-proto, ExportTraceServiceRequest), as far as spans go. */
interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface WireSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly KeyValue[];
  readonly status?: { readonly code?: number };
}

/** An OpenTelemetry collector that keeps what it gets. */
export class OtlpCollector {
  readonly spans: CollectedSpan[] = [];
  /** Everything that was sent, as text. */
  received = '';
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url = '';
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST' || request.url !== '/v1/traces') {
        response.writeHead(404).end();
        return;
      }
      if (request.headers['content-type'] !== 'application/json') {
        response.writeHead(415).end();
        return;
      }
      const body = Buffer.concat(chunks).toString();
      this.received += body;
      this.spans.push(...spansOf(JSON.parse(body) as ExportRequest));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });

  static async start(): Promise<OtlpCollector> {
    const collector = new OtlpCollector();
    collector.#server.listen(0, '127.0.0.1');
    await once(collector.#server, 'listening');
    collector.url = `http://127.0.0.1:${(collector.#server.address() as AddressInfo).port}`;
    return collector;
  }

  /** Spans of one trace. */
  of(traceId: string): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

function spansOf({ resourceSpans }: ExportRequest): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        name: span.name,
        service: String(valuesOf(resource.attributes)['service.name']),
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        attributes: valuesOf(span.attributes),
        status: span.status?.code ?? 0,
      })),
    ),
  );
}

function valuesOf(attributes: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
