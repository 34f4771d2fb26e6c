import {
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
} from '@opentelemetry/api';
import { randomBytesPooled } from './random-pool.ts';

/** A span of work in a trace. Without a configured collector it records nothing, but still passes its ids on. */
export interface WorkSpan {
  /** W3C Trace Context header value of this span, which its child spans name as their parent. */
  readonly traceparent: string;
  readonly traceId: string;
  set(attributes: Attributes): void;
  /** Ends the span. @param failure what went wrong, if anything */
  end(failure?: unknown): void;
}

export interface SpanOptions {
  /** `traceparent` of the parent span; a malformed one starts a new trace. */
  readonly parent?: string | undefined;
  readonly attributes?: Attributes;
  /** Milliseconds of the epoch; default now. */
  readonly startedAt?: number;
}

export function startSpan(name: string, { parent, attributes, startedAt }: SpanOptions = {}): WorkSpan {
  const tracer = trace.getTracer('core');
  const span = tracer.startSpan(
    name,
    { ...(attributes ? { attributes } : {}), ...(startedAt === undefined ? {} : { startTime: startedAt }) },
    contextOf(parent),
  );
  const ids = idsOf(span.spanContext(), parent);
  return {
    traceId: ids.traceId,
    traceparent: `00-${ids.traceId}-${ids.spanId}-${ids.flags}`,
    set: (more) => {
      span.setAttributes(more);
    },
    end: (failure) => {
      if (failure !== undefined) {
        span.setStatus({
          code: SpanStatusCode.ERROR,
          message: failure instanceof Error ? failure.name : 'failed',
        });
      }
      span.end();
    },
  };
}

const pattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The trace a `traceparent` belongs to; undefined for none, and for a malformed one. */
export function traceIdOf(traceparent: string | null | undefined): string | undefined {
  return parsed(traceparent ?? undefined)?.traceId;
}

function parsed(traceparent: string | undefined): { traceId: string; spanId: string; flags: string } | undefined {
  const [, traceId, spanId, flags] = pattern.exec(traceparent ?? '') ?? [];
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, flags };
}

function contextOf(traceparent: string | undefined): Context {
  const ids = parsed(traceparent);
  if (!ids) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: ids.traceId,
    spanId: ids.spanId,
    traceFlags: Number.parseInt(ids.flags, 16),
    isRemote: true,
  });
}

/** Without a tracer provider, OpenTelemetry returns the ids of the parent span; a span id is generated then. */
function idsOf(context: { traceId: string; spanId: string; traceFlags: number }, parent: string | undefined) {
  const given = parsed(parent);
  if (isSpanContextValid(context) && context.spanId !== given?.spanId) {
    return {
      traceId: context.traceId,
      spanId: context.spanId,
      flags: context.traceFlags.toString(16).padStart(2, '0'),
    };
  }
  return {
    traceId: given?.traceId ?? randomBytesPooled(16).toString('hex'),
    spanId: randomBytesPooled(8).toString('hex'),
    flags: given?.flags ?? '00',
  };
}
