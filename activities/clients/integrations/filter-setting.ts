import { Type } from 'typebox';

/** Setting by which an organization leaves records out. */
export const filterExpr = Type.Optional(
  Type.String({
    maxLength: 2_000,
    examples: ['kind != "directoryAccount" || payload.department == "Finance"'],
    description: 'Expression (CEL) over `payload`, `kind` and `variant`; records for which it is false stay out.',
  }),
);
