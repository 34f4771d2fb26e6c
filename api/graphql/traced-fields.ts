import { inSpan } from '#entities/kit/base/trace.ts';
import type { FieldMap } from './passthrough-field.ts';

/** Root fields, each of which is a span of the trace of its request. Fields below them only pass on what these have read. */
export function tracedFields(fields: FieldMap): FieldMap {
  return Object.fromEntries(
    Object.entries(fields).map(([name, config]) => {
      const { resolve } = config;
      if (!resolve) return [name, config];
      const traced: typeof resolve = (source, args, context, info) =>
        inFieldSpan(name, () => resolve(source, args, context, info));
      return [name, { ...config, resolve: traced }];
    }),
  );
}

/** Runs what one root field does in its span. */
export function inFieldSpan<T>(name: string, work: () => T | Promise<T>): T | Promise<T> {
  return inSpan(`field ${name}`, { 'graphql.field.name': name }, work);
}
