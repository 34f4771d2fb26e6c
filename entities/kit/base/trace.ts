import {
  context as activeContext,
  isSpanContextValid,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import { randomTextPooled } from './secrets/random-pool.ts';

/** A span of work in a trace. Without a configured collector it records nothing, but still passes its ids on. */
export interface WorkSpan {
  /** W3C Trace Context header value of this span, which its child spans name as their parent. */
  readonly traceparent: string;
  readonly traceId: string;
  set(attributes: Attributes): void;
  /** Ends the span. @param failure what went wrong, if anything */
  end(failure?: unknown): void;
}

interface SpanOptions {
  /** `traceparent` of the parent span; a malformed one starts a new trace. */
  readonly parent?: string | undefined;
  readonly attributes?: Attributes;
  /** Milliseconds of the epoch; default now. */
  readonly startedAt?: number;
}

export function startSpan(name: string, { parent, attributes, startedAt }: SpanOptions = {}): WorkSpan {
  const tracer = currentTracer();
  if (!tracer) return unrecordedSpan(parent);
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

function areSpansRecorded(): boolean {
  return currentTracer() !== undefined;
}

/**
 * Runs work as part of a span: spans that it begins with `inSpan`, and statements of its unit of work, are below this one. While no
 * spans are recorded it only runs the work.
 */
export function continuing<T>(traceparent: string | undefined, work: () => T): T {
  if (traceparent === undefined || !areSpansRecorded()) return work();
  return activeContext.with(contextOf(traceparent), work);
}

/** `traceparent` of the span that the current work is part of; undefined outside of one, and while no spans are recorded. */
export function currentTraceparent(): string | undefined {
  const current = trace.getSpanContext(activeContext.active());
  if (!current) return undefined;
  return `00-${current.traceId}-${current.spanId}-${current.traceFlags.toString(16).padStart(2, '0')}`;
}

/** Runs work in a span of its own below the current one. Outside of a span it only runs the work: what no request caused has no trace. */
export function inSpan<T>(name: string, attributes: Attributes, work: () => T | Promise<T>): T | Promise<T> {
  const parent = currentTraceparent();
  if (parent === undefined) return work();
  return recorded(startSpan(name, { parent, attributes }), work);
}

async function recorded<T>(span: WorkSpan, work: () => T | Promise<T>): Promise<T> {
  try {
    const result = await continuing(span.traceparent, work);
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** Undefined while no tracer provider is registered. */
function currentTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider ? provider.getDelegateTracer('core') : provider.getTracer('core');
}

const ignore = () => {};

/** Only ids: nothing records the span, and a request pays nothing for it. */
function unrecordedSpan(parent: string | undefined): WorkSpan {
  const { traceId, spanId, flags } = newIds(parsed(parent));
  return { traceId, traceparent: `00-${traceId}-${spanId}-${flags}`, set: ignore, end: ignore };
}

const pattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The trace a `traceparent` belongs to; undefined for none, and for a malformed one. */
export function traceIdOf(traceparent: string | null | undefined): string | undefined {
  return parsed(traceparent ?? undefined)?.traceId;
}

interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: string;
}

function parsed(traceparent: string | undefined): SpanIds | undefined {
  if (traceparent === undefined) return undefined;
  const [, traceId, spanId, flags] = pattern.exec(traceparent) ?? [];
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

/** OpenTelemetry returns the ids of the parent span for a span that it does not record; a span id is generated then. */
function idsOf(context: SpanContext, parent: string | undefined): SpanIds {
  const given = parsed(parent);
  if (isSpanContextValid(context) && context.spanId !== given?.spanId) {
    return {
      traceId: context.traceId,
      spanId: context.spanId,
      flags: context.traceFlags.toString(16).padStart(2, '0'),
    };
  }
  return newIds(given);
}

/** Ids of a span of this trace, or of a new one. */
function newIds(given: SpanIds | undefined): SpanIds {
  return {
    traceId: given?.traceId ?? randomTextPooled(16, 'hex'),
    spanId: randomTextPooled(8, 'hex'),
    flags: given?.flags ?? '00',
  };
}
