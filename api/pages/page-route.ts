import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Config } from '#config/objects/root.ts';
import { defineRoute, type Route } from '../http/route.ts';
import type { Services } from '../http/services.ts';
import { pageDocument, pagePolicy, type PageContent } from './page-document.ts';

export const htmlType = 'text/html; charset=utf-8';

/** Whether a request comes from a browser that opens an address, and not from a program. */
export function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false;
}

/** A page as the answer of a route. */
export function pageAnswer(
  { config, clock }: Pick<Services, 'config' | 'clock'>,
  reply: FastifyReply,
  page: (config: Config, at: Date) => PageContent,
): string {
  const [current, at] = [config.current, clock.now()];
  void reply.type(htmlType).header('content-security-policy', pagePolicy(current, at));
  return pageDocument(current, at, page(current, at));
}

interface Page extends Pick<Route, 'url' | 'operationId' | 'summary' | 'description'> {
  readonly tag?: string;
  /** Content of the page with a configuration, at a time. It says nothing about who opens it. */
  readonly page: (config: Config, at: Date) => PageContent;
}

/** The route of a page. Opening a page changes nothing: mail scanners and browsers open links by themselves. */
export function pageRoute({ page, tag = 'Pages', ...route }: Page): Route {
  return defineRoute({
    ...route,
    method: 'GET',
    tag,
    access: 'anonymous',
    limitClass: 'static',
    answers: { 200: Type.String() },
    produces: htmlType,
    errors: [],
    handle: ({ services, reply }) => ({ status: 200, body: pageAnswer(services, reply, page) }),
  });
}
