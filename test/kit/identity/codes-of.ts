import type { TestAnswer } from '../test-client.ts';

/** The error codes of a response, of REST or GraphQL; its status for one without an error. */
export function codesOf({ status, body }: TestAnswer): readonly (string | number)[] {
  const errors: { extensions: { code: string } }[] | undefined = body?.errors;
  if (errors) return errors.map(({ extensions }) => extensions.code);
  return [body?.code ?? status];
}
