import { errorCatalogue, statusOf, type ErrorCode } from '#entities/kit/base/errors.ts';

/** The reference page of all error codes. */
export function printErrors(): string {
  const rows = (Object.keys(errorCatalogue) as ErrorCode[]).map(
    (code) => `| \`${code}\` | ${statusOf(code)} | ${errorCatalogue[code].title} |`,
  );
  return [
    '# Errors',
    '',
    'REST returns the code in `code` of the problem document, GraphQL in `extensions.code`, a workflow failure in `type`.',
    'Clients should depend on codes only: messages can change. Printed from `entities/kit/base/errors.ts` by `npm run derive`.',
    '',
    '| Code | HTTP status | Meaning |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
