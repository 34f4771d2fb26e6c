import type { ExpressionEnvironment } from '#entities/automation/document/expressions.ts';

/** Variables of filters and mappings: the record as the other system sends it, its kind, and the variant of its mapping. */
export const filterEnvironment: ExpressionEnvironment = {
  variables: { payload: 'dyn', kind: 'string', variant: 'string' },
  objects: {},
};
