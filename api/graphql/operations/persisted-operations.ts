import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { AppError } from '#entities/kit/base/errors.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import { asGraphqlError, asRequestError } from '../graphql-errors.ts';

/** Maximum number of documents that a process keeps, and of their characters together. */
const limits = { max: 1_000, maxSize: 5_000_000 };

interface PersistedQuery {
  readonly version?: unknown;
  readonly sha256Hash?: unknown;
}

/** The extension of a request that names a document by its hash; undefined without one. */
export function persistedQueryOf(extensions: unknown): PersistedQuery | undefined {
  const given = (extensions as { readonly persistedQuery?: unknown } | null | undefined)?.persistedQuery;
  return typeof given === 'object' && given !== null ? given : undefined;
}

/**
 * Automatic persisted queries (Apollo's protocol, version 1): a request may leave out its document and send the SHA-256 hash of it.
 * A process that does not know the hash answers with PERSISTED_QUERY_NOT_FOUND; the client then sends the document along, once. Only
 * documents that could be executed are kept, by the hash that was computed here, so nobody can put another document under a hash.
 */
export function persistedOperations(): Plugin<GraphqlContext> {
  const documents = new LRUCache<string, string>({ ...limits, sizeCalculation: (text) => text.length });
  /** Documents of requests that are not executed yet. */
  const arriving = new WeakMap<FastifyRequest, { readonly hash: string; readonly query: string }>();
  return {
    onParams({ params, setParams, context }) {
      const given = persistedQueryOf(params.extensions);
      if (!given) return;
      const hash = checkedHash(given);
      const { query } = params;
      if (query === undefined || query === null || query === '') {
        const known = documents.get(hash);
        if (known === undefined) throw notFound();
        setParams({ ...params, query: known });
        return;
      }
      if (createHash('sha256').update(query).digest('hex') !== hash)
        throw wrong('sha256Hash', 'is not the SHA-256 hash of the query');
      arriving.set(requestOf(context), { hash, query });
    },
    onExecute({ args }) {
      const document = arriving.get(requestOf(args.contextValue));
      if (document) documents.set(document.hash, document.query);
    },
  };
}

/** Yoga passes the context without its type. */
function requestOf(context: unknown): FastifyRequest {
  return (context as GraphqlContext).fastify.request;
}

/** @throws GraphQLError for an AppError invalid_input */
function checkedHash({ version, sha256Hash }: PersistedQuery): string {
  if (version !== 1) throw wrong('version', 'must be 1');
  if (typeof sha256Hash !== 'string' || !/^[0-9a-f]{64}$/.test(sha256Hash))
    throw wrong('sha256Hash', 'must be a SHA-256 hash, as 64 hexadecimal digits in lower case');
  return sha256Hash;
}

function wrong(name: string, message: string): GraphQLError {
  return asRequestError(asGraphqlError(inputError([{ path: `/extensions/persistedQuery/${name}`, message }])));
}

/** Clients recognize it by its message or by its code, whatever the status. */
function notFound(): GraphQLError {
  return new GraphQLError('PersistedQueryNotFound', {
    originalError: new AppError('persisted_query_not_found', 'PersistedQueryNotFound'),
    extensions: { http: { status: 200 } },
  });
}
