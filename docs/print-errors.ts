import { errorCatalogue, statusOf, type ErrorCode } from '#entities/kit/base/errors.ts';

/** The reference page of all error codes. */
export function printErrors(): string {
  const rows = (Object.keys(errorCatalogue) as ErrorCode[]).map(
    (code) => `| \`${code}\` | ${statusOf(code)} | ${errorCatalogue[code].title} |`,
  );
  return [
    '# Errors',
    '',
    'One catalogue for REST (`code` of the problem document), GraphQL (`extensions.code`) and workflow failures (`type`).',
    'Branch on the code; texts may change. Printed by `npm run derive`.',
    '',
    '| Code | HTTP status | Meaning |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
