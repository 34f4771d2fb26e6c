import type { InjectOptions } from 'fastify';
import { resolved, target, type DescribedApi } from '../http/described-api.ts';
import type { TestAnswer } from '../test-client.ts';

/** Codes with which any request can be refused before it reaches a route. */
const beforeRoutes: ReadonlySet<unknown> = new Set(['route_not_found', 'method_not_allowed', 'headers_too_large']);

/** Parts of a response that the description of its operation does not have: its status, or the code of a refusal. */
export function undescribed(
  document: DescribedApi,
  { path, described }: { readonly path: string; readonly described: object },
  request: Pick<InjectOptions, 'url'>,
  answer: TestAnswer,
): string | undefined {
  const [pathname = ''] = (typeof request.url === 'string' ? request.url : '').split('?');
  const ofOperation = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  // Another path belongs to another operation.
  if (!ofOperation.test(pathname) || beforeRoutes.has(answer.body?.code)) return undefined;
  const response = resolved(document, described).responses?.[String(answer.status)];
  if (!response) return `the status ${answer.status} is not described`;
  const schema = response.content?.['application/problem+json']?.schema;
  if (!schema || answer.body?.code === undefined) return undefined;
  const parts = (schema['allOf'] ?? []) as readonly object[];
  const codes = parts.flatMap((part) => {
    const { properties } = target(document, part) as { readonly properties?: { readonly code?: { enum?: string[] } } };
    return '$ref' in part ? [] : (properties?.code?.enum ?? []);
  });
  return codes.includes(answer.body.code) ? undefined : `${answer.status} is not described with ${answer.body.code}`;
}
