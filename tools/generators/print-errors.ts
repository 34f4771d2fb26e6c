import { errorCatalogue, type ErrorCode } from '#entities/kit/base/error-catalogue.ts';
import { statusOf } from '#entities/kit/base/errors.ts';

export function printErrors(): string {
  const rows = (Object.keys(errorCatalogue) as ErrorCode[]).map((code) => {
    const { title, cause, remedy } = errorCatalogue[code];
    return `| \`${code}\` | ${statusOf(code)} | ${title} | ${cause} | ${remedy} |`;
  });
  return [
    '# Errors',
    '',
    'REST returns the code in `code` of the problem document, GraphQL in `extensions.code`, a workflow failure in `type`.',
    'Clients should depend on codes only: messages can change. Printed from `entities/kit/base/error-catalogue.ts` by `npm run derive`.',
    '',
    '| Code | HTTP status | Meaning | Cause | Remedy |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
